"""Claims about intervals of scores: what other seeds would have changed."""

import numpy as np
import pytest
from scipy.stats import t

from unbraid.selection import Evidence, estimate_spread, rank_models


def test_the_spread_is_that_of_the_formula():
    agreement, others = np.array([0.2, 0.5, 0.8]), np.array([0.1, 0.2, 0.0])
    influence = 2 * 2 / 1 * np.array([-0.3, 0.0, 0.3]) + np.array([0.0, 0.1, -0.1])
    share = 0.5 / 0.6
    prior = share * 0.2 + (1 - share) * 0.05
    squares = (influence**2).sum() + 4 * prior**2
    found = estimate_spread(agreement, others)
    assert found.degrees == 6
    assert found.of_mean == pytest.approx(np.sqrt(squares / 6 / 3))
    assert found.of_model == pytest.approx(np.sqrt(squares / 6 / 4 / 2))
    assert found.reach(2.0, 0.95) == pytest.approx(2.0 * t.ppf(0.975, 6))


def test_two_seeds_have_the_prior_only_and_four_count_the_median():
    two = estimate_spread(np.array([0.5, 0.5]), np.zeros(2))
    assert two.degrees == 4
    assert two.of_mean == pytest.approx(0.2 / np.sqrt(2))
    four = estimate_spread(np.full(4, 0.5), np.zeros(4))
    squares = 4 * 0.2**2 / 7
    assert four.of_model == pytest.approx(np.sqrt(2 * squares / 4 / 3))


def pairs_of(quality, accidents):
    """Agreement of seeds: what each one is worth, and what two share by accident."""
    pairs = (quality[:, None] + quality) / 2 + accidents
    np.fill_diagonal(pairs, np.nan)
    return pairs


@pytest.mark.parametrize("n_runs", [3, 5])
def test_intervals_hold_the_score_among_many_seeds(n_runs):
    generator = np.random.default_rng(n_runs)
    n_many, held = 40, []
    for _ in range(200):
        level, spread = generator.uniform(0.4, 0.7), generator.uniform(0.1, 0.3)
        quality = level + spread * generator.standard_normal(n_many)
        noise = 0.05 * generator.standard_normal((n_many, n_many))
        pairs = np.clip(pairs_of(quality, (noise + noise.T) / 2), 0, 1)

        def score(n, pairs=pairs):
            evidence = Evidence(
                names=tuple(map(str, range(n))),
                specifications=("a",) * n,
                udr_pairs=pairs[:n, :n],
                active_latents=np.full(n, 4),
                chance_mean={"a": 0.3},
            )
            return rank_models(evidence).specifications[0]

        low, high = score(n_runs).interval
        held.append(low <= score(n_many).score <= high)
    assert 0.9 <= np.mean(held) <= 0.995


@pytest.mark.parametrize("sizes", [(0, 0), (2, 3)])
def test_parts_that_do_not_fit_are_refused(sizes):
    with pytest.raises(ValueError, match="estimate_spread needs both parts"):
        estimate_spread(*map(np.ones, sizes))
