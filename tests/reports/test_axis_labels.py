"""Every figure says what its axes are."""

import numpy as np
import pytest
from study_tables import study_table

import unbraid
from unbraid import reports
from unbraid.evolution import Lineage, Member, find_intervals
from unbraid.models import KernelAugmented
from unbraid.reports import (
    ManifoldSpectrum,
    cumulative_distances,
    distance_matrices,
    factor_latent_matrices,
    factor_traversals,
    latent_scatter,
    latent_traversals,
    prior_samples,
    rank_settings,
    reconstructions,
    score_by_strength,
    training_curves,
)
from unbraid.representation import encode
from unbraid.selection import (
    measure_evidence,
    rank_models,
    unsupervised_disentanglement_ranking,
)
from unbraid.studies.analysis import (
    metric_agreement,
    total_correlation_by_strength,
    variance_explained,
)
from unbraid.training import score_curves

PICTURES = {"draw_reconstructions", "draw_prior_samples"}
"""Figures that show images in no order, whose horizontal axis means nothing."""


def table():
    def score(data, method, rank, seed):
        return 0.1 * rank + 0.01 * seed + (0.5 if method == "factor_vae" else 0.0)

    names = ("mig", "gaussian_total_correlation", "sampled_gaussian_total_correlation")
    return study_table({f"score.{name}": score for name in names})


def lineage():
    rates = {"training.learning_rate": 0.01}
    members = [
        Member(
            index=0, hyperparameters=rates, parent=parent, seeds=(0,), steps=9, score=s
        )
        for parent, s in ((None, 0.1), (0, 0.4))
    ]
    return Lineage(tuple((member,) for member in members))


def draw_all(run, squares):
    """Return an example of every figure by the name of its function."""
    model = run.model
    codes = encode(model, squares, progress=False)
    variance = variance_explained(table())
    pairs = unsupervised_disentanglement_ranking([codes.codes, codes.codes[:, ::-1]])
    steps = find_intervals(np.repeat(np.arange(4.0), 50) + np.linspace(0, 1e-3, 200))
    embedding = np.random.default_rng(0).random((2, 3, 5, 2))
    spectrum = ManifoldSpectrum(np.array([0.001, 0.5, 0.51]), 1, 0.5, "a product")
    ranking = rank_models(measure_evidence(["a", "b"], ["c", "c"], [codes, codes]))
    curves = score_curves([{"step": 10, "mig": 0.2}, {"step": 20, "mig": 0.1}])
    arguments = {
        "draw_agreement": (pairs,),
        "draw_cumulative_distances": (cumulative_distances(squares),),
        "draw_distance_matrices": (distance_matrices(squares),),
        "draw_factor_latent_matrices": (factor_latent_matrices(codes),),
        "draw_factor_traversals": ([factor_traversals(squares)],),
        "draw_hyperparameters": (lineage(),),
        "draw_joint_embedding": (embedding,),
        "draw_kernels": ({"box": KernelAugmented(radius=3)},),
        "draw_latent_scatter": (latent_scatter(codes),),
        "draw_latent_steps": (steps,),
        "draw_latent_traversals": (latent_traversals(model, squares),),
        "draw_lineage": (lineage(),),
        "draw_loss_learning": (np.linspace(0.0, 1.0, 50),),
        "draw_manifold_spectrum": (spectrum,),
        "draw_prior_samples": (prior_samples(model),),
        "draw_rank_correlation": (metric_agreement(table()).pooled,),
        "draw_ranking": (rank_settings(table(), "score.mig"),),
        "draw_reconstructions": (reconstructions(model, squares),),
        "draw_score_by_strength": (score_by_strength(table(), "score.mig"),),
        "draw_score_curves": ({"seed 0": [curves["mig"]]},),
        "draw_score_parts": (ranking.models,),
        "draw_scores_by_method": (variance,),
        "draw_total_correlation": (total_correlation_by_strength(table()),),
        "draw_trace_embedding": (embedding[0],),
        "draw_training_curves": (training_curves(run.history),),
        "draw_variance_explained": (variance,),
    }
    figures = {
        name: getattr(reports, name)(*given) for name, given in arguments.items()
    }
    quick = {"metrics": "mig,active_units", "intervals": False, "progress": False}
    figures["Scorecard.plot"] = unbraid.evaluate(codes, **quick).plot()
    both = {"a": codes.codes, "b": codes.codes[:, ::-1]}
    compared = unbraid.compare(both, codes.factors, **quick)
    figures["Comparison.plot"] = compared.plot()
    return figures


@pytest.fixture(scope="module")
def figures(trained, squares):
    return draw_all(trained, squares)


def has_words(axis):
    """Whether the ticks of an axis are names, which need no label."""
    texts = [label.get_text() for label in axis.get_ticklabels()]
    return any(any(letter.isalpha() for letter in text) for text in texts)


def is_labeled(axes, which, figure):
    """Whether an axis, its figure, or a panel in the same row or column says it."""
    if {"x": figure.get_supxlabel(), "y": figure.get_supylabel()}[which]:
        return True
    start = {"x": "x0", "y": "y0"}[which]
    place = getattr(axes.get_position(), start)
    beside = [
        getattr(other, f"{which}axis")
        for other in figure.axes
        if abs(getattr(other.get_position(), start) - place) < 0.02
    ]
    return any(axis.get_label_text() or has_words(axis) for axis in beside)


def test_the_list_has_every_function_that_draws(figures):
    names = {name for name in reports.__all__ if name.startswith("draw_")}
    assert names == {name for name in figures if name.startswith("draw_")}


def unlabeled(name, figure):
    """Yield the axes of a figure that have neither a label nor names at their ticks."""
    figure.draw_without_rendering()  # places panels and writes ticks
    for axes in figure.axes:
        if not axes.axison or not axes.get_visible():
            continue
        labeled = {which: is_labeled(axes, which, figure) for which in "xy"}
        if getattr(axes, "_colorbar", None) is not None:
            labeled = {"color": labeled["x"] or labeled["y"]}
        if name in PICTURES:
            labeled = {"y": labeled["y"] or not axes.get_yticks().size}
        yield from (
            (name, which) for which, is_known in labeled.items() if not is_known
        )


def test_every_axis_of_every_figure_has_a_label(figures):
    missing = [axis for item in figures.items() for axis in unlabeled(*item)]
    assert missing == []


def test_the_check_notices_an_axis_without_a_label(figures):
    figure = figures["draw_cumulative_distances"]
    label = figure.axes[0].get_xlabel()
    figure.axes[0].set_xlabel("")
    assert list(unlabeled("", figure)) == [("", "x")]
    figure.axes[0].set_xlabel(label)
    assert list(unlabeled("", figure)) == []
