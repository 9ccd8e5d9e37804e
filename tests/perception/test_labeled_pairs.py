"""Distances of labels, in grids and in tables with gaps."""

import itertools
import math

import numpy as np
import pytest

from unbraid.data import LabeledImages, Subset, XYSquares
from unbraid.perception import labeled_rows

SQUARES = XYSquares(image_size=8, square_size=2, n_squares=2, rgb=False)


def images_of(factors, **options):
    images = np.zeros((len(factors), 8, 8), np.uint8)
    return LabeledImages(images, factors, **options)


def literal(labels):
    """The mean over common factors, times their number, pair by pair."""
    columns = [
        [value for value in column if not math.isnan(value)] for column in labels.T
    ]
    spans = [max(column) - min(column) for column in columns]
    found = []
    for first, second in itertools.combinations(labels.tolist(), 2):
        parts = [
            abs(a - b) / span
            for a, b, span in zip(first, second, spans, strict=True)
            if not math.isnan(a) and not math.isnan(b)
        ]
        found.append(len(spans) * sum(parts) / len(parts) if parts else math.nan)
    return found


def test_a_table_without_gaps_has_the_distances_of_the_grid():
    rows = np.random.Generator(np.random.PCG64(0)).integers(256, size=(3, 9))
    grid = labeled_rows("test", SQUARES)
    table = labeled_rows("test", Subset(SQUARES, np.arange(256)))
    shuffled = labeled_rows("test", Subset(SQUARES, np.arange(256)[::-1]))
    expected = grid.distances(rows).numpy()
    for found in (table.distances(rows), shuffled.distances(255 - rows)):
        np.testing.assert_array_equal(found.numpy(), expected)


def test_missing_labels_leave_out_their_factor():
    nan = math.nan
    labels = np.array(
        [[0, 0.5, 2], [1, nan, 4], [nan, 2.5, 0], [3, 1.0, nan], [nan, nan, 3.0]]
    )
    table = labeled_rows("test", images_of(labels, factor_kinds=["continuous"] * 3))
    found = table.distances(np.arange(5)[None]).numpy()
    np.testing.assert_allclose(found, literal(labels), atol=1e-11)
    assert np.isnan(found).sum() == 1  # rows 3 and 4 have no factor in common


def test_rows_without_labels_are_never_drawn():
    labels = np.array([[0.0, 1.0], [np.nan, np.nan], [1.0, np.nan], [2.0, 3.0]])
    table = labeled_rows("test", images_of(labels))
    rows = table.draw(50, np.random.Generator(np.random.PCG64(0)))
    assert rows.shape == (1, 50)
    assert set(rows[0].tolist()) == {0, 2, 3}


def test_traversals_of_a_table_differ_in_one_factor():
    some = np.random.Generator(np.random.PCG64(1)).permutation(256)[:150]
    data = Subset(SQUARES, some)
    table = labeled_rows("test", data)
    generator = np.random.Generator(np.random.PCG64(0))
    for _ in range(20):
        rows = table.draw_traversals(generator)
        assert rows.shape[0] == 8
        assert 3 <= rows.shape[1] <= 8
        factors = data.factors(rows.reshape(-1)).reshape(*rows.shape, -1)
        varies = (factors != factors[:, :1]).any(axis=1)
        assert (varies.sum(axis=1) == 1).all()
        assert (np.ptp(rows, axis=1) > 0).all()


def test_the_share_along_factors_falls_back_if_there_are_none():
    alone = images_of([[0, 0], [1, 1], [2, 2], [3, 0]])
    table = labeled_rows("test", alone)
    assert table.choose_share(None) == 0.0
    assert labeled_rows("test", SQUARES).choose_share(None) == 0.5
    with pytest.raises(ValueError, match="three values or more"):
        table.choose_share(0.5)


def test_labels_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="test needs a factor with two values"):
        labeled_rows("test", images_of([[1.0, np.nan], [1.0, 3.0]]))
