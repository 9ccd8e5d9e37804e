"""Claims about the figure of scores and the table of single choices."""

import json

import numpy as np
import pytest

from unbraid.reports import draw_score_parts
from unbraid.reports.pages._choice_blocks import choice_blocks
from unbraid.selection import Evidence, Ranked, rank_models


@pytest.fixture(scope="module")
def ranking():
    pairs = np.full((4, 4), np.nan)
    pairs[0, 1] = pairs[1, 0] = 0.9
    pairs[2, 3] = pairs[3, 2] = 0.7
    found = rank_models(
        Evidence(
            names=("a1", "a2", "b1", "b2"),
            specifications=("a", "a", "b", "b"),
            udr_pairs=pairs,
            active_latents=np.full(4, 3),
            chance={"a": 0.4, "b": 0.4},
            chance_mean={"a": 0.3, "b": 0.3},
            contrast=np.array([0.9, 0.8, 0.1, 0.2]),
            elbo=np.array([-4.0, -3.0, -2.0, -1.0]),
        )
    )
    return json.loads(json.dumps(found.to_plain()))


def test_bars_end_at_the_scores_and_the_choice_is_bold(ranking):
    models = [Ranked(**model) for model in ranking["models"]]
    axes = draw_score_parts(models, chosen=ranking["chosen"]).axes[0]
    ends = np.max(
        [[bar.get_x() + bar.get_width() for bar in part] for part in axes.containers],
        axis=0,
    )
    np.testing.assert_allclose(ends, [model.score for model in models])
    labels = axes.get_yticklabels()
    bold = [each.get_text() for each in labels if each.get_weight() == "bold"]
    assert bold == [ranking["chosen"]]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "independent effects on the image" in legend


def test_the_table_names_the_model_of_each_score(ranking):
    figure, table = choice_blocks(ranking)
    assert list(figure.data["model"]) == [model["name"] for model in ranking["models"]]
    sums = figure.data[list(ranking["models"][0]["parts"])].sum(axis=1)
    np.testing.assert_allclose(sums, figure.data["score"])
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["ELBO"][0] == "b2"
    assert rows["independent effects on the image"][0] == "b1"
    for name, rank, same in rows.values():
        assert ranking["models"][int(rank) - 1]["name"] == name
        assert same == ("yes" if name == ranking["chosen"] else "no")


def test_many_models_are_cut_in_the_figure_only():
    models = [
        Ranked(str(k), "a", 0.5, (0.4, 0.6), 0, True, {"elbo": 0.5}) for k in range(50)
    ]
    figure = draw_score_parts(models, most=5)
    assert len(figure.axes[0].containers[0]) == 5


def test_rankings_of_earlier_versions_have_no_parts(ranking):
    for model in (old := json.loads(json.dumps(ranking)))["models"]:
        del model["parts"]
    del old["alone"]
    assert choice_blocks(old) == ()


@pytest.mark.parametrize("models", [(), (Ranked("a", "a", 0.5, (0.4, 0.6), 0, True),)])
def test_a_figure_without_parts_is_refused(models):
    with pytest.raises(ValueError, match="draw_score_parts needs models with the"):
        draw_score_parts(models)
