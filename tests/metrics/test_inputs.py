import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unbraid.metrics import Factors
from unbraid.metrics._inputs import read_inputs, to_bins


def test_values_are_numbered_in_ascending_order():
    factors = Factors([[30, 1.5], [10, -2.5], [20, 1.5], [10, 0.25]])
    assert factors.labels[:, 0].tolist() == [2, 0, 1, 0]
    assert factors.kinds == ("ordinal", "continuous")
    assert factors.sizes == (3, 20)


def test_a_continuous_factor_may_be_declared_discrete_and_the_reverse():
    values = [[0.5, 1], [0.5, 2], [1.5, 3]]
    factors = Factors(values, kinds=("categorical", "continuous"))
    assert factors.sizes == (2, 20)
    assert factors.labels[:, 1].tolist() == [0, 10, 19]


def test_missing_labels_are_marked_and_everything_else_is_known():
    factors = Factors([[0.0, 1.0], [np.nan, 2.0], [1.0, np.nan]])
    assert factors.labels.tolist() == [[0, 0], [-1, 1], [1, -1]]
    assert factors.known.tolist() == [[True, True], [False, True], [True, False]]


def test_a_part_keeps_the_class_numbers_of_the_whole():
    whole = Factors([[5], [7], [9], [7]])
    part = whole.at(np.array([2, 1]))
    assert part.labels.tolist() == [[2], [1]]
    assert part.sizes == (3,)


@given(
    hnp.arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e6, 1e6)),
    st.integers(1, 30),
)
def test_every_value_falls_into_a_bin(values, bins):
    numbers = to_bins(values, bins)
    assert numbers.min() >= 0
    assert numbers.max() < bins


FINE = [[0, 0], [1, 1], [2, 0]]
MALFORMED = [
    ("expected a table of numbers", [[1, 2], [3]]),
    ("expected real numbers", [["a", "b"], ["c", "d"]]),
    ("expected real numbers", np.ones((3, 2), dtype=complex)),
    ("expected a table of numbers", [[None, {}], [1, 2]]),
    ("expected a table", np.zeros((0, 2))),
    ("expected a table", np.zeros((3, 0))),
    ("expected a table", np.zeros((3, 2, 2))),
    ("expected a table", np.float64(3.0)),
    ("expected real numbers", np.array(["2020-01-01"] * 3, dtype="datetime64[D]")),
]


@pytest.mark.parametrize(("message", "wrong"), MALFORMED)
def test_tables_that_are_none_are_refused(message, wrong):
    with pytest.raises(ValueError, match=message):
        read_inputs("metric", wrong, FINE)
    with pytest.raises(ValueError, match=message):
        read_inputs("metric", FINE, wrong)


@pytest.mark.parametrize(
    ("codes", "factors", "message"),
    [
        ([[np.nan, 0], [1, 1], [2, 0]], FINE, "finite codes"),
        ([[np.inf, 0], [1, 1], [2, 0]], FINE, "finite codes"),
        (FINE, [[np.inf, 0], [1, 1], [2, 0]], "infinity"),
        (FINE, [[5, 0], [5, 1], [5, 0]], "'factor_0' to vary"),
        (FINE, [[np.nan, 0], [np.nan, 1], [np.nan, 0]], "no known label"),
        (FINE, [[0, 0], [1, 1]], "3 rows of codes and 2 of factors"),
        ([[1.0, 2.0]], [[0, 1]], "at least two rows"),
    ],
)
def test_values_that_make_no_sense_are_refused(codes, factors, message):
    with pytest.raises(ValueError, match=message):
        read_inputs("metric", codes, factors)


def test_names_and_kinds_must_fit_the_columns():
    with pytest.raises(ValueError, match="expected 2 names and kinds"):
        Factors(FINE, names=("a",))
    with pytest.raises(ValueError, match="expected kinds among"):
        Factors(FINE, kinds=("ordinal", "round"))


def test_huge_integers_are_told_apart_or_merged_but_never_crash():
    factors = Factors(np.array([[2**62], [2**62 + 2**12], [0]]))
    assert factors.sizes == (3,)
