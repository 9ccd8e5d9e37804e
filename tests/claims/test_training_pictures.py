"""Claims on figures 1, 3 and 4b to 4d of Holtz et al. (2022), on results by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from unbraid.data import open_dataset
from unbraid.studies import study_from_plain
from unbraid_claims import CLAIMS, study_of
from unbraid_claims.claims.holtz_figure_1 import nearest_errors
from unbraid_claims.claims.holtz_figure_3 import (
    explained_by_other_runs,
    read_positions,
)
from unbraid_claims.claims.holtz_figure_4bd import relative_gain

RNG = np.random.default_rng(0)


class Samples:
    """Distances of samples at four betas, made by hand."""

    preset = "mini"

    def __init__(self, distances):
        self._distances = distances

    def cached(self, name, compute):
        black = np.zeros((2, 1, 4, 4), int).tolist()
        return [
            {
                "beta": beta,
                "seed": seed,
                "distance": distance + 0.001 * seed,
                "samples": [] if seed else black,
            }
            for beta, distance in self._distances.items()
            for seed in range(3)
        ]


@pytest.mark.parametrize(
    ("distances", "verdict"),
    [
        ((0.5, 0.1, 0.2, 0.6), "holds"),
        ((0.05, 0.1, 0.2, 0.6), "does not hold"),
        ((0.5, 0.1, 0.2, 0.05), "does not hold"),
        ((0.1, 0.1, 0.1, 0.1), "cannot be told"),
    ],
)
def test_samples_may_be_best_between_the_extremes_or_not(distances, verdict):
    betas = (0.025, 0.25, 2.5, 25.0)
    measured = CLAIMS["holtz-figure-1"].measure(
        Samples(dict(zip(betas, distances, strict=True)))
    )
    assert measured.verdict == verdict
    assert len(measured.figure.axes) == 4


def test_distances_to_the_nearest_image_are_those_of_all_pairs():
    samples, images = RNG.random((7, 12)), RNG.random((30, 12))
    expected = [((image - images) ** 2).mean(axis=1).min() for image in samples]
    np.testing.assert_allclose(nearest_errors(samples, images), expected)
    np.testing.assert_allclose(nearest_errors(images[:3], images), 0, atol=1e-12)


def test_positions_count_only_if_runs_agree_on_them():
    values = RNG.random(60)
    course = np.column_stack([values, np.sin(values)])
    alike = np.stack([course + 0.01 * RNG.normal(size=(60, 2)) for _ in range(4)])
    share, (low, high) = explained_by_other_runs(alike, values)
    assert 0.9 < low <= share <= high <= 1
    # Each run is in order, but in an order of its own.
    apart = np.stack([course[RNG.permutation(60)] for _ in range(4)])
    share, (low, high) = explained_by_other_runs(apart, values)
    assert high < 0.1


def test_an_image_does_not_explain_itself():
    # The same noise in all runs: only the image itself is near.
    noise = np.repeat(RNG.normal(size=(1, 60, 2)), 3, axis=0)
    assert explained_by_other_runs(noise, RNG.random(60))[0] < 0.1


def test_colors_are_x_plus_64_y():
    study = study_from_plain(study_of("latent-numbers", "mini"))
    cell = SimpleNamespace(spec=study.runs()[0])
    dataset = open_dataset(cell.spec.data)
    factors = dataset.factors(np.arange(len(dataset)))
    names = dataset.factor_names
    x, y = (factors[:, names.index(f"position_{name}")] for name in "xy")
    corner = np.flatnonzero((x == x.max()) & (y == 0))[:1]
    both = np.flatnonzero((x == x.max()) & (y == y.max()))[:1]
    rows = np.concatenate([np.flatnonzero((x == 0) & (y == 0))[:1], corner, both])
    found = read_positions(cell, SimpleNamespace(rows=rows))
    assert found.tolist() == [0.0, 63.0, 63.0 + 64 * 63.0]


def test_runs_may_be_more_alike_with_few_latents_or_not():
    def score(value, n_runs=6):
        pairs = value * (1 + 0.1 * RNG.normal(size=(n_runs, n_runs)))
        pairs = (pairs + pairs.T) / 2
        np.fill_diagonal(pairs, 0)
        mean = pairs[np.triu_indices(n_runs, 1)].mean()
        return SimpleNamespace(pairs=pairs, score=mean)

    gain, (low, high) = relative_gain(score(0.3), score(0.1))
    assert 1 < low < gain < high < 3
    gain, (low, high) = relative_gain(score(0.1), score(0.3))
    assert high < 0
    gain, (low, high) = relative_gain(score(0.2), score(0.2))
    assert low < 0 < high
