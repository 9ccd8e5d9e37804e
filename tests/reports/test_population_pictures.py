import numpy as np
import pytest
from miniature_population import PLAIN, population

from unbraid.evolution import Lineage, Member, Reduced, find_intervals
from unbraid.execution import InlineExecutor
from unbraid.reports import (
    draw_hyperparameters,
    draw_latent_steps,
    draw_lineage,
    lineage_table,
    write_report,
)
from unbraid.studies import run_study, study_from_plain


def member(index, parent, score, beta):
    return Member(
        index=index,
        hyperparameters={"objective.beta": beta, "training.learning_rate": 0.01},
        parent=parent,
        seeds=(index,),
        steps=10,
        score=score,
        failure="" if score is not None else "it diverged",
    )


LINEAGE = Lineage(
    (
        (
            member(0, None, 0.1, 1.0),
            member(1, None, 0.4, 2.0),
            member(2, None, None, 8),
        ),
        (member(0, 1, 0.5, 4.0), member(1, 1, 0.3, 2.0), member(2, 1, 0.2, 1.0)),
    )
)


def test_table_of_a_lineage_has_a_row_for_every_member():
    table = lineage_table(LINEAGE)
    assert len(table) == 6
    assert table["parent"].isna().sum() == 3
    assert table["failure"].tolist().count("it diverged") == 1


def test_the_way_to_the_winner_is_drawn_apart():
    axes = draw_lineage(LINEAGE).axes[0]
    red = [line for line in axes.lines if line.get_linewidth() == 2]
    assert [list(line.get_ydata()) for line in red] == [[1, 0]]


def test_every_hyperparameter_has_a_panel_and_so_have_the_scores():
    figure = draw_hyperparameters(LINEAGE)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["beta", "learning_rate", "score"]
    assert figure.axes[0].get_yscale() == "log"


def test_a_lineage_of_one_member_can_be_drawn():
    alone = Lineage(((member(0, None, 0.5, 1.0),),))
    assert draw_lineage(alone).axes
    assert draw_hyperparameters(alone).axes


@pytest.mark.parametrize("n_labels", [1, 200, 50_000])
def test_steps_of_a_latent_can_be_drawn_with_any_number_of_labels(n_labels):
    values = np.repeat(np.arange(4.0), n_labels)
    values += np.linspace(0, 0.001, len(values))
    steps = find_intervals(values)
    chosen = Reduced(steps.intervals[:1], np.arange(3))
    figure = draw_latent_steps(steps, chosen)
    assert len(figure.axes[1].lines[1].get_xdata()) == len(steps.peaks)
    assert len(figure.axes[0].lines[0].get_xdata()) < 10_000


@pytest.mark.parametrize("method", ["unsupervised", "recursive"])
def test_a_report_shows_how_its_best_model_was_bred(tmp_path, method):
    more = {"final": {"size": 2, "generations": 2, "images": 100}}
    more |= {"recursion": {"active": 0.01, "least_agreement": 0.0, "leaf_runs": 1}}
    own = population(method, generations=2, size=2, evolution=more)["evolution"]
    plain = {key: value for key, value in PLAIN.items() if key != "seed"}
    study = study_from_plain({**plain, "evolution": own})
    end = run_study(study, tmp_path / "study", executor=InlineExecutor())
    assert end.done == 1
    text = write_report(tmp_path / "study").read_text()
    assert "Population" in text
    assert "Lineage" in text
    assert "Hyperparameters over the generations" in text
    assert ("What root learned" in text) == (method == "recursive")
    assert "not drawn" not in text
