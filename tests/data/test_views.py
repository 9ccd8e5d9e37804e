import numpy as np
import pytest

from unbraid.data import FactorSpace, Relabeled, Reweighted, Subset, XYSquares
from unbraid.testing import check_dataset

SQUARES = XYSquares(n_squares=1, image_size=24)  # 9 rows
COLUMNS = {"age": "continuous", "kind": "categorical"}


def labels(n: int) -> np.ndarray:
    table = np.stack([np.linspace(0, 1, n), np.arange(n) % 3], axis=1)
    table[1, 0] = np.nan
    return table


@pytest.mark.parametrize(
    "view",
    [
        Subset(SQUARES, [4, 0, 4, 8]),
        Subset(SQUARES, range(9)),
        Relabeled(SQUARES, np.arange(9)[:, None] % 4, FactorSpace(("a",), (4,))),
        Relabeled(SQUARES, labels(9), COLUMNS),
        Reweighted(SQUARES, np.arange(9)),
        Subset(Reweighted(SQUARES, np.arange(9)), [3, 1]),
        Reweighted(Subset(Relabeled(SQUARES, labels(9), COLUMNS), [8, 1]), [1, 2]),
    ],
)
def test_every_view_keeps_the_contract_of_a_dataset(view):
    check_dataset(view)


def test_subset_gives_the_rows_it_names():
    rows = np.array([7, 2, 2, 5])
    view = Subset(Reweighted(SQUARES, np.arange(9)), rows)
    assert len(view) == 4
    np.testing.assert_array_equal(view.images(range(4)), SQUARES.images(rows))
    np.testing.assert_array_equal(view.factors(range(4)), SQUARES.factors(rows))
    np.testing.assert_array_equal(view.weights, [7, 2, 2, 5])
    assert view.factor_space == SQUARES.factor_space


def test_subset_of_a_subset_composes_the_rows():
    view = Subset(Subset(SQUARES, [8, 6, 4, 2]), [3, 0])
    np.testing.assert_array_equal(view.images([0, 1]), SQUARES.images([2, 8]))


def test_subset_is_a_grid_only_with_all_rows_in_order():
    assert Subset(SQUARES, range(9)).is_grid
    assert not Subset(SQUARES, range(8)).is_grid
    assert not Subset(SQUARES, [1, 0, *range(2, 9)]).is_grid
    assert not Subset(Relabeled(SQUARES, labels(9), COLUMNS), range(9)).is_grid


def test_a_view_does_not_follow_later_changes_of_its_arguments():
    rows, weights = np.array([0, 1]), np.ones(9)
    table = np.arange(9)[:, None]
    subset, heavy = Subset(SQUARES, rows), Reweighted(SQUARES, weights)
    named = Relabeled(SQUARES, table, FactorSpace(("a",), (9,)))
    rows[:], weights[:], table[:] = 5, 0, 0
    np.testing.assert_array_equal(subset.factors([1]), SQUARES.factors([1]))
    assert heavy.weights.sum() == 9
    assert named.factors([8]) == 8


def test_relabeled_shows_the_same_images_with_other_labels():
    view = Relabeled(Reweighted(SQUARES, np.arange(9)), labels(9), COLUMNS)
    np.testing.assert_array_equal(view.images(range(9)), SQUARES.images(range(9)))
    np.testing.assert_array_equal(view.factors(range(9)), labels(9))
    assert view.factor_names == ("age", "kind")
    assert view.factor_kinds == ("continuous", "categorical")
    assert view.factor_space is None
    np.testing.assert_array_equal(view.weights, np.arange(9))


def test_relabeled_is_a_grid_exactly_when_the_labels_number_the_rows():
    space = FactorSpace(("a", "b"), (3, 3))
    table = space.factors(np.arange(9))
    assert Relabeled(SQUARES, table, space).is_grid
    assert not Relabeled(SQUARES, table[::-1], space).is_grid
    wider = FactorSpace(("a", "b"), (3, 4))
    assert not Relabeled(SQUARES, table, wider).is_grid


def test_reweighting_a_grid_leaves_a_grid():
    assert Reweighted(SQUARES, np.ones(9)).is_grid


def test_names_tell_views_from_their_base():
    names = {
        SQUARES.name,
        Subset(SQUARES, [0]).name,
        Relabeled(SQUARES, labels(9), COLUMNS).name,
        Reweighted(SQUARES, np.ones(9)).name,
    }
    assert len(names) == 4


def test_fingerprint_sees_every_row_label_and_weight():
    squares = XYSquares()
    rows = np.arange(1000)
    other_rows, table = rows.copy(), rows[:, None] % 5
    other_rows[501] = 2000  # not among the 256 rows whose images are hashed
    other_table, weights, other_weights = table.copy(), np.ones(1000), np.ones(1000)
    other_table[501] += 1 if table[501] < 4 else -1
    other_weights[501] = 2
    base, space = Subset(squares, rows), FactorSpace(("a",), (5,))
    views = [
        squares,
        base,
        Subset(squares, other_rows),
        Relabeled(base, table, space),
        Relabeled(base, other_table, space),
        Relabeled(base, table, FactorSpace(("b",), (5,))),
        Reweighted(base, weights),
        Reweighted(base, other_weights),
    ]
    assert len({view.fingerprint() for view in views}) == len(views)
    assert Subset(squares, rows.tolist()).fingerprint() == base.fingerprint()


SPACE = FactorSpace(("a",), (3,))


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Subset(SQUARES, []), ValueError, "rows must not be empty"),
        (lambda: Subset(SQUARES, [9]), IndexError, "between 0 and 8"),
        (lambda: Subset(SQUARES, [-1]), IndexError, "between 0 and 8"),
        (lambda: Subset(SQUARES, np.ones(9, dtype=bool)), TypeError, "integer"),
        (
            lambda: Subset(Reweighted(SQUARES, np.arange(9)), [0]),
            ValueError,
            "positive weight",
        ),
        (
            lambda: Reweighted(SQUARES, np.ones(8)),
            ValueError,
            "shape \\(9,\\), got \\(8,\\)",
        ),
        (lambda: Reweighted(SQUARES, np.zeros(9)), ValueError, "not all 0"),
        (lambda: Reweighted(SQUARES, -np.ones(9)), ValueError, "at least 0"),
        (lambda: Reweighted(SQUARES, np.full(9, np.nan)), ValueError, "finite"),
        (lambda: Relabeled(SQUARES, np.zeros((8, 1), int), SPACE), ValueError, "shape"),
        (lambda: Relabeled(SQUARES, np.zeros((9, 2), int), SPACE), ValueError, "shape"),
        (lambda: Relabeled(SQUARES, np.zeros((9, 0)), {}), ValueError, "not be empty"),
        (lambda: Relabeled(SQUARES, np.zeros((9, 1)), SPACE), TypeError, "integer"),
        (lambda: Relabeled(SQUARES, np.full((9, 1), 3), SPACE), ValueError, "sizes"),
        (
            lambda: Relabeled(SQUARES, np.full((9, 1), np.inf), {"a": "ordinal"}),
            ValueError,
            "finite",
        ),
        (
            lambda: Relabeled(SQUARES, np.zeros((9, 1)), {"a": "round"}),
            ValueError,
            "round",
        ),
    ],
)
def test_views_refuse_what_does_not_fit(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()
