import math

import numpy as np
import pytest
from plain_images import PlainImages

from unbraid.data import (
    FactorSpace,
    Relabeled,
    Subset,
    XYSquares,
    add_label_noise,
    keep_labels,
)
from unbraid.foundation import numpy_generator
from unbraid.testing import check_dataset

# Table 2 of Holtz, Mishne and Cloninger: p of shape, scale, orientation, position.
TABLE_2 = {1: (0.05, 0.1, 0.05, 0.05), 2: (0.1, 0.2, 0.1, 0.1), 3: (0.3,) * 4}

SQUARES = XYSquares()
SPACE = FactorSpace(
    ("shape", "scale", "angle", "x", "azimuth", "Size"),
    (4, 6, 10, 8, 9, 5),
    ("categorical", "ordinal", "cyclic", "ordinal", "ordinal", "ordinal"),
)
# Which column of the table each factor uses.
USES = (0, 1, 2, 3, 2, 1)
SPRITES = Relabeled(
    SQUARES, SPACE.sample(len(SQUARES), generator=numpy_generator(0, "test")), SPACE
)
TRUE = SPRITES.factors(range(len(SPRITES)))


def normal_below(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def chances(value: int, size: int, kind: str, p: float) -> np.ndarray:
    """Probability of each noisy label, from the rule as it is written."""
    expected = np.zeros(size)
    if kind == "categorical":
        expected[value] += 1 - p
        return expected + p / size
    deviation = p * (size - 1)
    for moved in range(-100, 100):
        mass = normal_below((moved + 0.5 - value) / deviation) - normal_below(
            (moved - 0.5 - value) / deviation
        )
        landed = moved % size if kind == "cyclic" else min(max(moved, 0), size - 1)
        expected[landed] += mass
    return expected


@pytest.mark.parametrize("level", [1, 2, 3])
def test_noise_models_follow_table_2(level):
    noisy = add_label_noise(SPRITES, level).factors(range(len(SPRITES)))
    for column, size in enumerate(SPACE.sizes):
        p = TABLE_2[level][USES[column]]
        for value in range(size):
            labels = noisy[TRUE[:, column] == value, column]
            seen = np.bincount(labels, minlength=size)
            chance = chances(value, size, SPACE.kinds[column], p)
            expected = len(labels) * chance
            error = np.sqrt(expected * (1 - chance))
            # Where fewer than ten are expected, errors are not Gaussian.
            common = expected >= 10
            assert (np.abs(seen - expected)[common] <= 4 * error[common]).all()
            assert seen[~common].sum() <= 10 * size


def test_noise_changes_labels_only_and_keeps_the_factors():
    noisy = add_label_noise(SPRITES, 3)
    check_dataset(noisy)
    assert noisy.factor_space == SPACE
    assert not add_label_noise(SQUARES, 3).is_grid
    rows = [0, 99, 5]
    np.testing.assert_array_equal(noisy.images(rows), SQUARES.images(rows))


def test_noise_is_a_function_of_seed_and_row():
    rows = np.arange(1000)
    noisy = add_label_noise(SPRITES, 2, seed=5)
    fewer = add_label_noise(Subset(SPRITES, rows), 2, seed=5)
    other = add_label_noise(SPRITES, 2, seed=6)
    np.testing.assert_array_equal(noisy.factors(rows), fewer.factors(rows))
    assert noisy.fingerprint() == add_label_noise(SPRITES, 2, seed=5).fingerprint()
    assert (noisy.factors(rows) != other.factors(rows)).any(axis=0).all()


def test_noise_of_a_factor_does_not_depend_on_that_of_another():
    rows = range(1000)
    one = add_label_noise(SPRITES, {"x": 0.2}).factors(rows)
    two = add_label_noise(SPRITES, {"shape": 0.5, 3: 0.2}).factors(rows)
    np.testing.assert_array_equal(one[:, 3], two[:, 3])
    np.testing.assert_array_equal(np.delete(one, 3, 1), np.delete(TRUE[rows], 3, 1))


def test_no_noise_leaves_every_label_right():
    noisy = add_label_noise(SPRITES, dict.fromkeys(SPACE.names, 0.0))
    np.testing.assert_array_equal(noisy.factors(range(len(SPRITES))), TRUE)


def test_certain_categorical_noise_is_uniform():
    noisy = add_label_noise(SPRITES, {"shape": 1.0}).factors(range(len(SPRITES)))
    counts = np.bincount(noisy[:, 0], minlength=4)
    error = math.sqrt(len(SPRITES) * 0.25 * 0.75)
    assert (np.abs(counts - len(SPRITES) / 4) <= 4 * error).all()


def test_labels_outside_a_space_get_noise_and_missing_ones_stay_missing():
    n = 5000
    columns = {"t": "continuous", "grade": "ordinal", "kind": "categorical"}
    generator = numpy_generator(1, "test")
    table = np.stack(
        [
            generator.uniform(-3, 7, n),
            generator.choice([1.0, 2.0, 5.0], n),
            generator.choice([4.0, 9.0], n),
        ],
        axis=1,
    )
    table[generator.random(table.shape) < 0.1] = np.nan
    labeled = Relabeled(Subset(SQUARES, range(n)), table, columns)
    noisy = add_label_noise(labeled, 3).factors(range(n))
    np.testing.assert_array_equal(np.isnan(noisy), np.isnan(table))
    assert (noisy != table)[~np.isnan(table)].mean() > 0.3
    low, high = np.nanmin(table[:, 0]), np.nanmax(table[:, 0])
    assert np.nanmin(noisy[:, 0]) == low
    assert np.nanmax(noisy[:, 0]) == high
    inside = (noisy[:, 0] > low) & (noisy[:, 0] < high)
    middle = inside & (np.abs(table[:, 0] - 2) < 0.5)
    moved = (noisy - table)[middle, 0]
    # Gaussian of deviation 0.3 on a range of 10, cut at about 5 on either side.
    assert 2.0 < moved.std() < 3.0
    assert set(noisy[~np.isnan(noisy[:, 1]), 1]) == {1.0, 2.0, 5.0}
    assert set(noisy[~np.isnan(noisy[:, 2]), 2]) == {4.0, 9.0}


def test_a_factor_without_any_label_stays_without():
    table = np.full((4, 1), np.nan)
    view = Relabeled(Subset(SQUARES, range(4)), table, {"t": "ordinal"})
    assert np.isnan(add_label_noise(view, 1).factors(range(4))).all()


def test_labels_are_known_in_n_rows():
    view = keep_labels(SPRITES, n=1000, seed=3)
    check_dataset(view)
    labels = view.factors(range(len(view)))
    known = ~np.isnan(labels).any(axis=1)
    assert known.sum() == 1000
    assert np.isnan(labels[~known]).all()
    np.testing.assert_array_equal(labels[known], TRUE[known])
    assert view.factor_names == SPACE.names
    assert view.factor_kinds == SPACE.kinds
    assert view.factor_space is None


def test_fewer_known_rows_are_among_more():
    def known(n: int, seed: int) -> set[int]:
        labels = keep_labels(SPRITES, n=n, seed=seed).factors(range(len(SPRITES)))
        return set(np.flatnonzero(~np.isnan(labels[:, 0])))

    assert known(100, 0) < known(1000, 0)
    assert known(100, 0) != known(100, 1)


def test_known_rows_are_spread_evenly():
    labels = keep_labels(SPRITES, n=10_000).factors(range(len(SPRITES)))
    known = np.flatnonzero(~np.isnan(labels[:, 0]))
    error = len(SPRITES) / math.sqrt(12 * 10_000)
    assert abs(known.mean() - len(SPRITES) / 2) < 4 * error


def test_unknown_factors_are_dropped_and_the_rest_stays_discrete():
    view = keep_labels(SPRITES, factors=["x", 0])
    check_dataset(view)
    assert view.factor_space == FactorSpace(
        ("x", "shape"), (8, 4), ("ordinal", "categorical")
    )
    np.testing.assert_array_equal(view.factors([7]), TRUE[[7]][:, [3, 0]])


def test_keeping_every_label_keeps_the_factor_space():
    view = keep_labels(SQUARES, n=len(SQUARES))
    assert view.is_grid
    assert view.factor_space == SQUARES.factor_space


def test_forgetting_twice_and_adding_noise_compose():
    view = keep_labels(add_label_noise(SPRITES, 1), n=50, factors=["x"])
    again = add_label_noise(keep_labels(view, factors=["x"]), {"x": 0.5})
    known = ~np.isnan(again.factors(range(len(SPRITES))))
    assert known.sum() == 50


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: add_label_noise(PlainImages(), 1), "Labels are required"),
        (lambda: keep_labels(PlainImages(), n=2), "Labels are required"),
        (lambda: add_label_noise(SPRITES, 4), "level must be 1, 2 or 3"),
        (lambda: add_label_noise(SPRITES, {"q": 0.1}), "'q'"),
        (
            lambda: add_label_noise(SPRITES, {"x": 1.5}),
            "p must be between 0 and 1, got 1.5",
        ),
        (
            lambda: add_label_noise(SPRITES, {"x": math.nan}),
            "p must be a finite number",
        ),
        (lambda: keep_labels(SPRITES, n=0), "n must be between 1 and 262144"),
        (lambda: keep_labels(SPRITES, n=262145), "got 262145"),
        (lambda: keep_labels(SPRITES, factors=[]), "at least one"),
        (lambda: keep_labels(SPRITES, factors=["x", 3]), "factors must be different"),
        (lambda: keep_labels(SPRITES, factors=["q"]), "'q'"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
