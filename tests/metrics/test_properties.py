"""What holds for every metric on any table: ranges, seeds, and what must not matter."""

import numpy as np
import pytest
from every_metric import (
    GRID,
    METRICS,
    assert_in_range,
    few_trees,
    noisy_codes,
    scores_of,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unbraid.metrics import is_higher_better

__all__ = ["few_trees"]  # a fixture that works by being here

few = settings(derandomize=True, max_examples=8, deadline=None, database=None)

# These look at latents one by one or at all of them alike, by formulas alone. Others
# draw rows, or learn from them, and where two latents tie the first one wins.
BY_FORMULA = [
    "mig",
    "sap",
    "modularity",
    "irs",
    "mig_sup",
    "jemmig",
    "dcimig",
    "distance_correlation",
    "linearity",
    "axis_orientation",
    "axis_alignment",
    "equivariance",
    "block_diagonality",
    "gaussian_total_correlation",
    "gaussian_wasserstein",
    "pairwise_information",
    "active_units",
]
MAY_REFUSE = [
    "clustering",
    "distance_correlation",
    "efficiency",
    "unfairness",
    "strong_downstream",
    "linearity",
    "axis_orientation",
    "axis_alignment",
    "equivariance",
    "block_diagonality",
    "gaussian_total_correlation",
    "analogies",
]
ROWS_IN_ANY_ORDER = [name for name in BY_FORMULA if name != "sap"]
BLIND_TO_SCALE = [
    "mig",
    "modularity",
    "irs",
    "mig_sup",
    "jemmig",
    "dcimig",
    "distance_correlation",
    "linearity",
    "axis_orientation",
    "axis_alignment",
    "equivariance",
    "block_diagonality",
    "gaussian_total_correlation",
    "pairwise_information",
    "dci",
    "explicitness",
    "infom",
    "infoc",
    "infoe",
    "dci_es",
    "analogies",
]


@st.composite
def tables(draw):
    """A grid of two or three factors, or most of its rows, and codes of any quality."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    factors = np.indices(sizes).reshape(len(sizes), -1).T
    kept = generator.permutation(len(factors))
    if draw(st.booleans()):
        kept = np.sort(kept[: max(4, len(kept) - 2)])
    factors = factors[kept]
    factors = factors[:, np.ptp(factors, axis=0) > 0]
    n_latents = draw(st.integers(2, 5))
    mixing = generator.standard_normal((factors.shape[1], n_latents))
    mixing *= generator.random(mixing.shape) < draw(st.sampled_from([0.3, 1.0]))
    noise = draw(st.sampled_from([0.01, 1.0]))
    codes = factors @ mixing + noise * generator.standard_normal((len(kept), n_latents))
    return codes, factors


def scores_if_any(name, *table, **options):
    """The scores of a metric; leaves out tables that are too small for it."""
    try:
        return scores_of(name, *table, **options)
    except ValueError:
        # They can lack rewards, values to test on, complete traversals, or rows.
        assume(name not in MAY_REFUSE)
        raise


def assert_same(one, other, within=1e-7):
    for key, score in one.items():
        assert score == pytest.approx(other[key], abs=within, nan_ok=True)


@pytest.mark.parametrize("name", METRICS)
@given(table=tables(), seed=st.integers(0, 2**63))
@few
def test_scores_stay_in_range_and_the_same_seed_gives_the_same(name, table, seed):
    options = {"seed": seed} if METRICS[name].is_random else {}
    first, second = (scores_if_any(name, *table, **options) for _ in range(2))
    for key, score in first.items():
        assert_in_range(score)
        np.testing.assert_equal(float(score), float(second[key]))
        assert dict(score.details) == pytest.approx(second[key].details, nan_ok=True)


@pytest.mark.parametrize("name", BY_FORMULA)
@given(table=tables(), seed=st.integers(0, 100))
@few
def test_order_and_sign_of_latents_do_not_matter(name, table, seed):
    codes, factors = table
    generator = np.random.default_rng(seed)
    signs = generator.choice([-1.0, 1.0], codes.shape[1])
    other = generator.permutation((signs * codes).T).T
    assert_same(
        scores_if_any(name, codes, factors), scores_if_any(name, other, factors)
    )


@pytest.mark.parametrize("name", ROWS_IN_ANY_ORDER)
@given(table=tables(), seed=st.integers(0, 100))
@few
def test_order_of_rows_does_not_matter(name, table, seed):
    codes, factors = table
    order = np.random.default_rng(seed).permutation(len(codes))
    shuffled = scores_if_any(name, codes[order], factors[order])
    assert_same(scores_if_any(name, codes, factors), shuffled)


@pytest.mark.parametrize("name", BLIND_TO_SCALE)
@given(table=tables(), scale=st.sampled_from([2.0**-20, 8.0, 2.0**30]))
@few
def test_scale_of_all_latents_does_not_matter(name, table, scale):
    codes, factors = table
    scaled = scores_if_any(name, scale * codes, factors)
    assert_same(scores_if_any(name, codes, factors), scaled)


@pytest.mark.parametrize(
    "name", [name for name, metric in METRICS.items() if metric.uses_factors]
)
@given(table=tables(), offset=st.integers(-5, 5), step=st.integers(2, 5))
@few
def test_how_the_values_of_a_factor_are_numbered_does_not_matter(
    name, table, offset, step
):
    codes, factors = table
    try:
        plain = scores_if_any(name, codes, factors)
    except ValueError:
        assume(name not in MAY_REFUSE)
        raise
    assert_same(plain, scores_if_any(name, codes, offset + step * factors))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in BY_FORMULA
        # Which draws pairs for each factor by itself if the grid is not complete.
        if METRICS[name].uses_factors and name != "distance_correlation"
    ],
)
@given(table=tables())
@few
def test_order_of_factors_permutes_what_each_contributes(name, table):
    codes, factors = table
    plain, turned = (
        scores_if_any(name, codes, table) for table in (factors, factors[:, ::-1])
    )
    assert_same(plain, turned)
    for key, score in plain.items():
        parts = list(score.per_factor.values())
        assert list(turned[key].per_factor.values()) == pytest.approx(parts[::-1])


@pytest.mark.parametrize("name", METRICS)
def test_the_direction_of_a_score_is_found_by_its_name(name):
    higher = METRICS[name].higher_is_better
    for score in scores_of(name, noisy_codes(), GRID):
        assert is_higher_better(score) == is_higher_better(f"{score}[n=1]") == higher
