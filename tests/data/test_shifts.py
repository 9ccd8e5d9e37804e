import math

import numpy as np
import pytest
from plain_images import PlainImages

from unbraid.data import (
    FactorSpace,
    Relabeled,
    Reweighted,
    Subset,
    XYSquares,
    correlate,
    hold_out,
    keep_labels,
)
from unbraid.testing import check_dataset

SQUARES = XYSquares(n_squares=2, image_size=32)  # four factors of four values


@pytest.mark.parametrize("inverse", [False, True])
def test_weights_follow_the_formula_row_by_row(inverse):
    view = correlate(SQUARES, "x_R", "y_G", width=0.3, inverse=inverse)
    check_dataset(view)
    assert view.is_grid
    for row in range(len(SQUARES)):
        x, _, _, y = SQUARES.factors([row])[0]
        c_1, c_2 = x / 3, y / 3
        c_2 = 1 - c_2 if inverse else c_2
        expected = math.exp(-((c_1 - c_2) ** 2) / (2 * 0.3**2))
        assert view.weights[row] == pytest.approx(expected, rel=1e-12)


def test_factors_of_different_sizes_are_scaled_to_the_same_range():
    table = FactorSpace(("a", "b"), (2, 8)).factors(np.arange(16))
    squares = XYSquares(n_squares=1, image_size=32)
    view = Relabeled(squares, table, FactorSpace(("a", "b"), (2, 8)))
    weights = correlate(view, "a", "b").weights.reshape(2, 8)
    assert weights[0, 0] == weights[1, 7] == 1
    np.testing.assert_allclose(weights[0], weights[1, ::-1])


def test_correlations_multiply_with_weights_that_are_there():
    one = correlate(SQUARES, "x_R", "y_R", width=0.5)
    two = correlate(one, "x_G", "y_G", width=0.5)
    alone = correlate(SQUARES, "x_G", "y_G", width=0.5)
    np.testing.assert_allclose(two.weights, one.weights * alone.weights)


@pytest.mark.parametrize(("inverse", "sign"), [(False, 1), (True, -1)])
def test_narrow_lines_make_factors_nearly_equal(inverse, sign):
    view = correlate(SQUARES, 0, 1, width=0.1, inverse=inverse)
    factors = SQUARES.factors(range(len(SQUARES)))
    covariance = np.cov(factors[:, :2].T, aweights=view.weights)
    correlation = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    assert sign * correlation > 0.95


def test_a_continuous_factor_is_scaled_by_the_range_it_has():
    table = np.stack([np.linspace(-5, 5, 256), np.arange(256) % 4], axis=1)
    view = Relabeled(SQUARES, table, {"t": "continuous", "x": "ordinal"})
    weights = correlate(view, "t", "x", width=1).weights
    c_1, c_2 = np.linspace(0, 1, 256), (np.arange(256) % 4) / 3
    np.testing.assert_allclose(weights, np.exp(-((c_1 - c_2) ** 2) / 2))


def test_held_out_rows_are_those_where_every_condition_holds():
    train, test = hold_out(SQUARES, {"x_R": [1, 2], 3: range(2)})
    check_dataset(train)
    check_dataset(test)
    held_out = []
    for row in range(len(SQUARES)):
        x, _, _, y = SQUARES.factors([row])[0]
        if x in (1, 2) and y in (0, 1):
            held_out.append(row)
    np.testing.assert_array_equal(test.rows, held_out)
    assert sorted([*train.rows, *test.rows]) == list(range(len(SQUARES)))


def test_holding_out_keeps_weights():
    train, test = hold_out(correlate(SQUARES, 0, 1), {"x_G": [0]})
    np.testing.assert_array_equal(
        train.weights, correlate(SQUARES, 0, 1).weights[train.rows]
    )
    assert test.weights is not None


def test_a_row_without_the_label_is_not_held_out():
    view = keep_labels(SQUARES, n=100)
    train, test = hold_out(view, {"x_R": [0, 1, 2, 3]})
    assert (len(train), len(test)) == (156, 100)


EVEN = Relabeled(SQUARES, np.zeros((256, 2)), {"a": "ordinal", "b": "ordinal"})
CONSTANT = Relabeled(SQUARES, np.zeros((256, 2), int), FactorSpace(("a", "b"), (1, 2)))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: correlate(SQUARES, "x_R", "z"), "'z'"),
        (lambda: correlate(SQUARES, "x_R", 4), "no factor 4"),
        (lambda: correlate(SQUARES, "x_R", 0), "must be different factors"),
        (lambda: correlate(SQUARES, 0, 1, width=0), "width must be positive"),
        (
            lambda: correlate(SQUARES, 0, 1, width=math.nan),
            "width must be a finite number",
        ),
        (lambda: correlate(EVEN, "a", "b"), "'a' must vary"),
        (lambda: correlate(CONSTANT, "b", "a"), "'a' must vary"),
        (lambda: correlate(keep_labels(SQUARES, n=9), 0, 1), "247 rows have none"),
        (lambda: correlate(PlainImages(), 0, 1), "Labels are required"),
        (lambda: hold_out(PlainImages(), {"x_R": [0]}), "Labels are required"),
        (lambda: hold_out(SQUARES, {}), "conditions must not be empty"),
        (lambda: hold_out(SQUARES, {"z": [0]}), "'z'"),
        (lambda: hold_out(SQUARES, {"x_R": [4]}), "between 0 and 3, got 4"),
        (lambda: hold_out(SQUARES, {"x_R": []}), "but 0 meet them"),
        (lambda: hold_out(SQUARES, {"x_R": range(4)}), "but 256 meet them"),
        (
            lambda: hold_out(
                Reweighted(SQUARES, np.arange(256) < 64), {"x_R": range(1, 4)}
            ),
            "positive weight",
        ),
        (lambda: correlate(Subset(SQUARES, [0]), "x_R", "q"), "'q'"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
