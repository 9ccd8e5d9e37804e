"""The shipped suite for metrics: what is built in passes, what is broken is named."""

import dataclasses
import functools

import numpy as np
import pytest
from every_metric import QUICK, few_trees

from unbraid.metrics import METRICS, Metric, Score, read_inputs
from unbraid.testing import check_metric

__all__ = ["few_trees"]  # a fixture that works by being here

IDEAL = {
    **dict.fromkeys(
        (
            "beta_vae_score",
            "factor_vae_score",
            "mig",
            "modularity",
            "irs",
            "mig_sup",
            "jemmig",
            "dcimig",
            "infom",
            "infoc",
            "distance_correlation",
            "latent_data_correlation",
            "linearity",
            "axis_orientation",
            "axis_alignment",
            "equivariance",
            "block_diagonality",
            "analogies",
        ),
        1.0,
    ),
    **dict.fromkeys(
        (
            "gaussian_total_correlation",
            "gaussian_wasserstein",
            "pairwise_information",
        ),
        0.0,
    ),
    "active_units": 3.0,
}
BLIND = {
    **dict.fromkeys(
        (
            "mig",
            "modularity",
            "irs",
            "mig_sup",
            "jemmig",
            "dcimig",
            "distance_correlation",
            "latent_data_correlation",
            "linearity",
            "axis_orientation",
            "axis_alignment",
            "equivariance",
            "block_diagonality",
            "analogies",
            "gaussian_total_correlation",
            "pairwise_information",
        ),
        ("order", "sign", "scale"),
    ),
    "gaussian_wasserstein": ("order", "sign"),
    "active_units": ("order", "sign"),
}
# Codes that tell nothing are read as easily, and from as few labels, as they can be;
# and the quick walks are over before anything was learned. Predictions from shuffled
# rows are independent of every sensitive factor, and so are those of a perfect table.
NO_BETTER_THAN_CHANCE = ("dci_es", "efficiency", "clustering", "unfairness")


@pytest.mark.parametrize("name", METRICS.built_in)
def test_every_metric_conforms(name):
    metric = METRICS[name]
    quick = functools.partial(metric.function, **QUICK.get(name, {}))
    check_metric(
        dataclasses.replace(metric, function=quick),
        ideal=IDEAL.get(name),
        blind_to=BLIND.get(name, ()),
        beats_chance=name not in NO_BETTER_THAN_CHANCE,
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mig", {"estimator": "posterior"}),
        ("sap", {"score": "r2"}),
        ("dci", {"variant": "logistic"}),
        ("gaussian_total_correlation", {"posterior": "exact"}),
    ],
)
def test_metrics_with_options_conform(name, options):
    check_metric(METRICS[name].with_options(name, options))


def correct(codes, factors):
    """Mean absolute correlation of each factor with the latent of its own number."""
    codes, factors = read_inputs("correct", codes, factors)
    codes = codes + 1e-12 * np.arange(len(codes))[:, None]  # so that none is constant
    n = min(codes.shape[1], factors.n_factors)
    both = np.corrcoef(codes[:, :n].T, np.nan_to_num(factors.values[:, :n]).T)
    return Score(np.abs(np.diag(both[:n, n:])).mean(), name="correct")


def broken(change):
    """A metric that keeps every promise but one."""

    def function(codes, factors):
        return change(correct(codes, factors), codes, factors)

    return Metric(function, seconds=0.1)


def shrinks_codes(score, codes, factors):
    codes *= 0.5
    return score


def warns(score, codes, factors):
    np.log(np.zeros(1))
    return score


def by_first_row(score, codes, factors):
    return Score(codes[0, 0], name="correct")


def by_size(score, codes, factors):
    return Score(score, name=f"correct_{len(codes)}")


CALLS = iter(range(1000))


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (lambda score, *_: float(score), "valid table: .* must return a Score"),
        (lambda score, *_: Score(score, name=""), "must have names, all different"),
        (lambda score, *_: Score(np.nan, name="n"), "of a valid table must be finite"),
        (lambda score, *_: Score(next(CALLS), name="n"), "the same seed must give"),
        (
            lambda score, *_: Score(-score, name="n"),
            "must score better than a shuffled",
        ),
        (lambda score, *_: Score(0.7, name="n"), "must score better than a shuffled"),
        (
            lambda score, *_: score.replace(per_factor={"other": 1.0}),
            "must have the names of factors",
        ),
        (
            lambda score, *_: score.replace(matrix=np.zeros((2, 2))),
            "must have a row for each",
        ),
        (shrinks_codes, "must not be changed"),
        (warns, "must not warn"),
        (by_first_row, "another order of rows must give the same"),
        (by_size, "must have the same scores in the same order"),
    ],
)
def test_the_suite_names_the_broken_promise(change, promise):
    with pytest.raises(AssertionError, match=promise):
        check_metric(broken(change))


def test_the_suite_passes_what_keeps_every_promise():
    check_metric(Metric(correct, seconds=0.1), ideal=1.0, blind_to=("sign", "scale"))


def test_a_promise_of_blindness_is_held_to():
    with pytest.raises(AssertionError, match="another order of latents must give"):
        check_metric(Metric(correct, seconds=0.1), blind_to=("order",))


def test_a_promised_level_is_held_to():
    with pytest.raises(AssertionError, match="of a perfect representation must be 1.0"):
        check_metric(METRICS["sap"], ideal=1.0)


def test_what_is_malformed_must_be_refused_in_a_sentence():
    def lenient(codes, factors):
        codes = np.nan_to_num(np.asarray(codes, dtype=np.float64), posinf=0.0)
        return correct(codes, factors)

    with pytest.raises(AssertionError, match="NaN must raise ValueError"):
        check_metric(Metric(lenient, seconds=0.1))

    def shouting(codes, factors):
        if not np.isfinite(np.asarray(codes, dtype=np.float64)).all():
            raise ValueError("no")
        return correct(codes, factors)

    with pytest.raises(AssertionError, match="NaN must raise an error of one sentence"):
        check_metric(Metric(shouting, seconds=0.1))
