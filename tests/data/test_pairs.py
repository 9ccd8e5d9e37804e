import itertools
import math

import numpy as np
import pytest

from unbraid.data import (
    FactorSpace,
    Pairs,
    Relabeled,
    Subset,
    XYSquares,
    correlate,
    keep_labels,
)
from unbraid.foundation import numpy_generator

N = 40_000
IMAGES = XYSquares()
SIZES = (2, 3, 1, 4)
SPACE = FactorSpace(("a", "b", "constant", "c"), SIZES)
GRID = Relabeled(
    Subset(IMAGES, range(SPACE.size)), SPACE.factors(np.arange(SPACE.size)), SPACE
)
VARYING = (0, 1, 3)


def table_of(factors, space):
    factors = np.asarray(factors)
    return Relabeled(Subset(IMAGES, range(len(factors))), factors, space)


def rule(k_range, name):
    """Chance of every set of changed factors, as the rules are written."""
    low, high = k_range
    chances = {}
    for k in range(low, high + 1):
        numbers = [k] if name == "uniform" else [1, k]
        for number in numbers:
            sets = list(itertools.combinations(VARYING, number))
            for chosen in sets:
                share = 1 / (high - low + 1) / len(numbers) / len(sets)
                chances[chosen] = chances.get(chosen, 0) + share
    return chances


def row_chances(factors, anchor, k_range, name):
    """Chance of every row to accompany one anchor, by looking at all of them."""
    fitting = {}
    for chosen in rule(k_range, name):
        fitting[chosen] = []
        for row, values in enumerate(factors):
            differs = [i for i in VARYING if values[i] != factors[anchor][i]]
            if name == "uniform" and tuple(differs) == chosen:
                fitting[chosen].append(row)
            if name != "uniform" and set(differs) <= set(chosen):
                fitting[chosen].append(row)
    possible = sum(c for s, c in rule(k_range, name).items() if fitting[s])
    chances = np.zeros(len(factors))
    for chosen, chance in rule(k_range, name).items():
        for row in fitting[chosen]:
            chances[row] += chance / possible / len(fitting[chosen])
    return chances


def assert_draws(dataset, sampler, anchor, chances, *, seed=0):
    rows = sampler.companions(
        dataset, np.full(N, anchor), generator=numpy_generator(seed, "test")
    )
    seen = np.bincount(rows[:, 0], minlength=len(dataset)) / N
    error = np.sqrt(chances * (1 - chances) / N)
    assert chances.sum() == pytest.approx(1)
    assert (np.abs(seen - chances) <= 4 * error + 1e-9).all()


RULES = [
    (Pairs(), (1, 3)),
    (Pairs(n_changed=1), (1, 1)),
    (Pairs(n_changed=3), (3, 3)),
    (Pairs(n_changed=(2, 3)), (2, 3)),
    (Pairs(rule="disentanglement_lib"), (1, 2)),
    (Pairs(n_changed=3, rule="disentanglement_lib"), (3, 3)),
    (Pairs(n_changed=(2, 3), rule="disentanglement_lib"), (2, 3)),
]


@pytest.mark.parametrize(("sampler", "k_range"), RULES)
def test_a_grid_gives_every_row_with_the_chance_of_the_rule(sampler, k_range):
    assert GRID.is_grid
    factors = SPACE.factors(np.arange(SPACE.size))
    chances = row_chances(factors, 13, k_range, sampler.rule)
    assert_draws(GRID, sampler, 13, chances)


def incomplete_tables():
    generator = numpy_generator(7, "test")
    shuffled = SPACE.factors(generator.permutation(SPACE.size))
    yield "two thirds", shuffled[:16]
    yield "a third", shuffled[:8]
    yield "repeats", shuffled[generator.integers(0, 12, size=60)]
    yield "all, shuffled", shuffled


@pytest.mark.parametrize(("sampler", "k_range"), RULES)
@pytest.mark.parametrize(
    "factors", [pytest.param(t, id=n) for n, t in incomplete_tables()]
)
def test_a_table_gives_every_existing_row_with_the_chance_of_the_rule(
    sampler, k_range, factors
):
    table = table_of(factors, SPACE)
    assert not table.is_grid
    chances = row_chances(factors, 5, k_range, sampler.rule)
    assert_draws(table, sampler, 5, chances)


@pytest.mark.parametrize(("sampler", "k_range"), RULES)
def test_a_table_that_is_sparse_in_its_space_follows_the_same_rule(sampler, k_range):
    wide = FactorSpace(SPACE.names, (20, 30, 1, 40))
    factors = SPACE.factors(numpy_generator(7, "test").permutation(SPACE.size))[:16]
    chances = row_chances(factors, 5, k_range, sampler.rule)
    assert_draws(table_of(factors, wide), sampler, 5, chances)


@pytest.mark.parametrize("n_changed", [None, 1, 2, 5, (3, 4)])
@pytest.mark.parametrize("kept", [1.0, 0.3])
def test_as_many_factors_change_as_was_asked(n_changed, kept):
    rows = np.flatnonzero(numpy_generator(0, "test").random(len(IMAGES)) < kept)
    dataset = IMAGES if kept == 1 else Subset(IMAGES, rows)
    anchors = numpy_generator(1, "test").integers(0, len(dataset), size=6000)
    partners = Pairs(n_changed=n_changed).companions(
        dataset, anchors, generator=numpy_generator(2, "test")
    )
    differs = dataset.factors(partners[:, 0]) != dataset.factors(anchors)
    low, high = {None: (1, 6), (3, 4): (3, 4)}.get(n_changed, (n_changed, n_changed))
    counts = np.bincount(differs.sum(axis=1), minlength=7)
    assert counts[low : high + 1].sum() == 6000
    share = 1 / (high - low + 1)
    error = math.sqrt(6000 * share * (1 - share))
    assert (np.abs(counts[low : high + 1] - 6000 * share) <= 4 * error).all()
    each = differs.mean(axis=0)
    expected = (low + high) / 12
    assert (np.abs(each - expected) <= 4 * 0.5 / math.sqrt(6000)).all()


def test_weights_do_not_matter_for_partners():
    anchors = np.arange(100)
    plain, weighted = (
        Pairs().companions(dataset, anchors, generator=numpy_generator(0))
        for dataset in (IMAGES, correlate(IMAGES, 0, 1))
    )
    np.testing.assert_array_equal(plain, weighted)


def test_rare_partners_in_a_large_group_are_as_likely_as_their_set():
    factors = [[0, j] for j in range(100)] + [[1, 7], [1, 8]]
    table = table_of(factors, FactorSpace(("a", "b"), (2, 100)))
    partners = Pairs().companions(
        table, np.full(N, 3), generator=numpy_generator(0, "test")
    )
    # Nothing differs from row 3 in a alone; b alone has half the chance of both.
    error = math.sqrt(2 / 3 * 1 / 3 / N)
    assert abs((partners >= 100).mean() - 2 / 3) <= 4 * error
    assert abs((partners == 101).mean() - 1 / 3) <= 4 * error


def test_an_anchor_without_a_partner_gets_the_closest_number_of_changes():
    space = FactorSpace(("a", "b", "c", "d"), (5, 5, 5, 5))
    factors = [[0, 0, 0, 0], [1, 1, 0, 0], [2, 2, 0, 0], [3, 3, 3, 3]]
    table = table_of(factors, space)

    def partners_of(row, n_changed):
        draw = Pairs(n_changed=n_changed).bind(table)
        return set(draw(np.full(200, row), generator=numpy_generator(0))[:, 0])

    assert partners_of(0, 1) == {1, 2}
    assert partners_of(0, 3) == {1, 2, 3}
    assert partners_of(3, 1) == {0, 1, 2}
    assert partners_of(0, (3, 4)) == {3}


def test_more_factors_than_can_be_indexed_are_searched_all_the_same():
    n_factors = 20  # two to the twenty sets
    generator = numpy_generator(0, "test")
    factors = generator.integers(0, 2, size=(100, n_factors))
    factors[1] = factors[0]
    factors[1, 4] ^= 1
    space = FactorSpace(tuple(f"f{i}" for i in range(n_factors)), (2,) * n_factors)
    table = table_of(factors, space)
    partners = Pairs(n_changed=1).companions(
        table, np.zeros(50, dtype=np.int64), generator=generator
    )
    assert (partners == 1).all()
    partners = Pairs().companions(table, np.arange(100), generator=generator)
    assert (factors[partners[:, 0]] != factors).any(axis=1).all()


def test_values_drawn_from_the_whole_range_may_stay_in_any_table():
    n_factors = 20
    factors = np.zeros((100, n_factors), dtype=np.int64)
    factors[1, 4] = 1
    factors[2:] = 1  # out of reach: at most 19 factors change
    space = FactorSpace(tuple(f"f{i}" for i in range(n_factors)), (2,) * n_factors)
    partners = Pairs(rule="disentanglement_lib").companions(
        table_of(factors, space),
        np.zeros(5000, dtype=np.int64),
        generator=numpy_generator(0, "test"),
    )
    # The changed factors, 1 of 20 or 10 of 20 on average, hold the fourth; row 0 or 1.
    chance = (1 / 20 + 10 / 20) / 2 / 2
    error = math.sqrt(chance * (1 - chance) / 5000)
    assert set(partners[:, 0]) == {0, 1}
    assert abs((partners == 1).mean() - chance) <= 4 * error


def test_a_huge_dense_table_needs_no_index():
    space = FactorSpace(tuple("abcdefghijklmno"), (2,) * 15)
    factors = space.factors(np.arange(space.size))[::-1]
    table = table_of(factors, space)
    anchors = numpy_generator(0, "test").integers(0, len(table), size=500)
    partners = Pairs().companions(table, anchors, generator=numpy_generator(1, "test"))
    n_changed = (factors[partners[:, 0]] != factors[anchors]).sum(axis=1)
    assert set(n_changed) == set(range(1, 16))


def test_factors_that_are_not_known_do_not_matter():
    known = keep_labels(IMAGES, factors=["x_R", "y_B"])
    anchors = np.arange(0, len(IMAGES), 1000)
    partners = Pairs(n_changed=1).companions(
        known, anchors, generator=numpy_generator(0)
    )
    differs = IMAGES.factors(partners[:, 0]) != IMAGES.factors(anchors)
    assert (differs[:, [0, 5]].sum(axis=1) == 1).all()
    assert (differs[:, 1:5].mean(axis=0) > 0.8).all()


def test_equal_labels_everywhere_are_an_error():
    table = table_of([[1, 1]] * 5, FactorSpace(("a", "b"), (2, 2)))
    draw = Pairs().bind(table)
    with pytest.raises(ValueError, match="differs from row 3"):
        draw(np.array([3]), generator=numpy_generator(0))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Pairs(n_changed=0), "at least 1"),
        (lambda: Pairs(n_changed=(2, 1)), "range"),
        (lambda: Pairs(n_changed=(1, 2, 3)), "range"),
        (lambda: Pairs(n_changed=1.5), "at least 1"),
        (lambda: Pairs(rule="other"), "other"),
        (lambda: Pairs(n_changed=4).bind(GRID), "between 1 and 3, got 4"),
        (lambda: Pairs(n_changed=(1, 4)).bind(GRID), "between 1 and 3, got 4"),
        (
            lambda: Pairs().bind(table_of([[0]], FactorSpace(("a",), (1,)))),
            "no factor with more than one value",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
