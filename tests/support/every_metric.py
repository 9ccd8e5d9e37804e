"""Every metric of the catalogue on small tables, with options that make it quick."""

import math

import numpy as np
import pytest

from unbraid.metrics import METRICS, Score
from unbraid.metrics._boosting import Growth
from unbraid.metrics.downstream import _learner

QUICK = {
    "beta_vae_score": {"n_train": 100, "n_test": 50, "n_pairs": 8},
    "factor_vae_score": {"n_train": 100, "n_test": 50, "group_size": 8},
    "dci_es": {"waves": (0, 4, 8)},
    "downstream": {"sizes": (15,)},
    "efficiency": {"few": 5, "many": 15},
    "reduced_downstream": {"n_removed": 1},
    "strong_downstream": {"n_experiments": 1},
    "clustering": {"max_steps": 30, "n_runs": 1},
}

SCORES_BEYOND_ONE = {
    "active_units": 100.0,
    "clustering_sample_efficiency": 30.0,
    "gaussian_total_correlation": math.inf,
    "gaussian_wasserstein": math.inf,
    "pairwise_information": math.log(20),
    "statistical_efficiency": math.inf,
}
"""The largest value of scores that do not end at 1."""

GRID = np.stack(np.meshgrid([0, 1], [0, 1, 2], [0, 1, 2, 3]), axis=-1).reshape(-1, 3)


@pytest.fixture(autouse=True, scope="module")
def few_trees():
    """Metrics that learn from few rows as hundreds of trees do so from five rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_learner, "PUBLISHED", Growth(5, 0.5))
        yield


def noisy_codes(seed=0):
    """Four codes of the grid: its three factors with some noise, and noise."""
    noise = np.random.default_rng(seed).standard_normal((len(GRID), 4))
    return np.column_stack([GRID, np.zeros(len(GRID))]) + [0.2, 0.2, 0.2, 1.0] * noise


def scores_of(name, codes, factors, **options):
    """All scores that a metric of the catalogue gives, by name."""
    metric = METRICS[name]
    given = (codes, factors) if metric.uses_factors else (codes,)
    if "distance" in metric.inputs:
        # Observations that are as far apart as their rows.
        options["distance"] = lambda first, second: np.abs(first - second)
    result = metric.function(*given, **{**QUICK.get(name, {}), **options})
    parts = [result] if isinstance(result, Score) else vars(result).values()
    return {part.name: part for part in parts if isinstance(part, Score)}


def assert_in_range(score):
    """A number in the range of the score, or none and a reason."""
    if not math.isfinite(score):
        assert score.note
        return
    assert -1e-12 <= score <= SCORES_BEYOND_ONE.get(score.name, 1.0) + 1e-12
