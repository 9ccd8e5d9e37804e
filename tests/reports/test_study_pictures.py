"""Claims about pictures of studies and rankings, and about names in figures."""

import warnings

import numpy as np
import pytest
from study_tables import study_table

from unbraid.reports import (
    draw_agreement,
    draw_rank_correlation,
    draw_ranking,
    draw_score_by_strength,
    draw_scores_by_method,
    draw_total_correlation,
    draw_variance_explained,
    rank_settings,
    score_by_strength,
)
from unbraid.reports.figures._drawing import label_of, mosaic
from unbraid.selection import unsupervised_disentanglement_ranking
from unbraid.studies.analysis import (
    metric_agreement,
    total_correlation_by_strength,
    variance_explained,
)

HOSTILE = "<script>alert('x')</script> \"$a_b^ \u202eevil \U0001fae0 \x00"


@pytest.fixture
def table():
    def score(data, method, rank, seed):
        return 0.1 * rank + 0.01 * seed + (0.5 if method == "factor_vae" else 0.0)

    return study_table(
        {
            "score.mig": score,
            "score.sap": lambda *of: 1 - score(*of),
            "score.gaussian_total_correlation": score,
            "score.sampled_gaussian_total_correlation": score,
        }
    )


def test_settings_are_in_order_of_their_mean_and_clear_gaps_part_groups(table):
    places = rank_settings(table, "score.mig")
    assert [place.name for place in places[:2]] == ["factor_vae 100", "factor_vae 40"]
    assert [place.group for place in places] == [0, 1, 2, 3, 4, 5]
    assert places[0].score == pytest.approx(0.5 + 0.2 + 0.015)
    low, high = places[0].interval
    assert low < places[0].score < high
    assert places[0].n_runs == 4


def test_settings_that_differ_by_luck_are_one_group(table):
    table["score.mig"] = 0.1 * table["seed"]
    assert {place.group for place in rank_settings(table, "score.mig")} == {0}


def test_the_lowest_may_be_the_best(table):
    places = rank_settings(table, "score.mig", higher_is_better=False)
    assert places[0].name == "beta_vae 1"
    assert places[0].group < places[-1].group


def test_runs_that_are_not_done_have_no_place(table):
    table.loc[table["objective.name"] == "beta_vae", "status"] = "failed"
    assert len(rank_settings(table, "score.mig")) == 3


def test_every_place_is_drawn_up_to_the_most(table):
    places = rank_settings(table, "score.mig")
    assert len(draw_ranking(places).axes[0].get_yticks()) == 6
    assert len(draw_ranking(places, most=2).axes[0].get_yticks()) == 2


def test_scores_by_strength_have_a_point_per_run_and_a_panel_per_method(table):
    found = score_by_strength(table, "score.mig")
    assert len(found) == len(table)
    figure = draw_score_by_strength(found, score="mig")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "beta_vae",
        "factor_vae",
    ]
    assert len(figure.axes[0].lines[0].get_xdata()) == 12


def test_shares_of_the_variance_are_bars_that_add_up_to_one(table):
    figure = draw_variance_explained(variance_explained(table))
    widths = [[bar.get_width() for bar in bars] for bars in figure.axes[0].containers]
    np.testing.assert_allclose(np.sum(widths, axis=0), 1.0)


def test_other_pictures_of_a_study_have_their_panels(table):
    assert len(draw_scores_by_method(variance_explained(table)).axes) == 2
    found = total_correlation_by_strength(table)
    assert len(draw_total_correlation(found).axes) == 2


def test_rank_correlations_are_written_in_percent(table):
    figure = draw_rank_correlation(metric_agreement(table).pooled, title="metrics")
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "100",
        "-100",
        "-100",
        "100",
    ]


def test_agreement_puts_models_of_a_group_together():
    codes = np.random.default_rng(0).normal(size=(200, 3))
    models = {"a1": codes, "b1": codes[:, :2], "a2": -codes}
    scores = unsupervised_disentanglement_ranking(models)
    figure = draw_agreement(scores, groups=["a", "b", "a"])
    shown = np.asarray(figure.axes[0].images[0].get_array())
    np.testing.assert_array_equal(shown[0], scores.pairs[0, [0, 2, 1]])
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["a", "b"]
    with pytest.raises(ValueError, match=r"shape \(n_models, n_models\)"):
        draw_agreement(np.zeros((2, 3)))


def test_any_name_can_be_drawn(table, tmp_path):
    table["objective.name"] = HOSTILE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw_score_by_strength(score_by_strength(table, "score.mig"))
        figure.savefig(tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "<script" not in text


def test_names_lose_what_cannot_be_drawn_and_nothing_else():
    assert label_of("beta_vae 4") == "beta_vae 4"
    assert label_of("Größe") == "Größe"
    assert label_of("a\u202eb\x00c") == "abc"
    assert label_of("\U0001fae0!") == "\u25a1!"
    assert len(label_of("x" * 1_000)) == 36


def test_figures_show_themselves_in_a_notebook():
    figure = draw_agreement(np.eye(2))
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_mosaic_is_transparent_where_there_is_no_image():
    image = np.full((1, 4, 4), 7, np.uint8)
    canvas, centres = mosaic([[image, image], [None, image]])
    assert canvas.shape == (10, 10, 4)
    assert centres == [2.0, 8.0]
    assert (canvas[:4, :4] == [7, 7, 7, 255]).all()
    assert (canvas[6:, :4, 3] == 0).all()
    assert (canvas[4:6, :, 3] == 0).all()


def test_agreement_is_labelled_with_names_and_ranks_are_drawn_by_the_seed(table):
    figure = draw_agreement(np.eye(2), names=["first", "second"])
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["first", "second"]
    intervals = [
        [place.interval for place in rank_settings(table, "score.mig", seed=seed)]
        for seed in (1, 1, 2)
    ]
    assert intervals[0] == intervals[1]
    assert intervals[0] != intervals[2]
