from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unbraid.metrics import (
    Factors,
    mutual_information_gap,
    read_codes,
    read_inputs,
    to_bins,
)


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
    ("must be a table of numbers", [[1, 2], [3]]),
    ("must be real numbers", [["a", "b"], ["c", "d"]]),
    ("must be real numbers", np.ones((3, 2), dtype=complex)),
    ("must be a table of numbers", [[None, {}], [1, 2]]),
    ("must have shape", np.zeros((0, 2))),
    ("must have shape", np.zeros((3, 0))),
    ("must have shape", np.zeros((3, 2, 2))),
    ("must have shape", np.float64(3.0)),
    ("must be real numbers", np.array(["2020-01-01"] * 3, dtype="datetime64[D]")),
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
        ([[np.nan, 0], [1, 1], [2, 0]], FINE, "codes must be finite"),
        ([[np.inf, 0], [1, 1], [2, 0]], FINE, "must be finite and at most 1e.35"),
        (FINE, [[-np.inf, 0], [1, 1], [2, 0]], "in size, but .* is inf"),
        (FINE, [[5, 0], [5, 1], [5, 0]], "'factor_0' has the same value"),
        (FINE, [[np.nan, 0], [np.nan, 1], [np.nan, 0]], "no known label"),
        (FINE, [[0, 0], [1, 1]], "the same number of rows, got 3 and 2"),
        ([[1.0, 2.0]], [[0, 1]], "the number of rows must be .* least 2"),
    ],
)
def test_values_that_make_no_sense_are_refused(codes, factors, message):
    with pytest.raises(ValueError, match=message):
        read_inputs("metric", codes, factors)


def test_names_and_kinds_must_fit_the_columns():
    with pytest.raises(ValueError, match="one entry for each of the 2 columns"):
        Factors(FINE, names=("a",))
    with pytest.raises(ValueError, match="kind must be"):
        Factors(FINE, kinds=("ordinal", "round"))


def test_huge_integers_are_told_apart_or_merged_but_never_crash():
    factors = Factors(np.array([[2**62], [2**62 + 2**12], [0]]))
    assert factors.sizes == (3,)


TABLE = np.array([[0, 5, 2], [1, -3, 2], [1, 0, 7], [2, 5, 7]])
SAME = {
    "single precision": TABLE.astype(np.float32),
    "small integers": TABLE.astype(np.int8),
    "the other byte order": TABLE.astype(">i8"),
    "columns first": np.asfortranarray(TABLE),
    "every second column": np.repeat(TABLE, 2, axis=1)[:, ::2],
    "objects": TABLE.astype(object),
    "fractions": np.vectorize(Fraction, otypes=[object])(TABLE),
    "lists": TABLE.tolist(),
    "nothing masked": np.ma.masked_array(TABLE),
}


@pytest.mark.parametrize("same", SAME)
def test_the_type_of_the_numbers_makes_no_difference(same):
    codes, factors = read_inputs("metric", SAME[same], SAME[same])
    assert codes.dtype == factors.values.dtype == np.float64
    np.testing.assert_array_equal(codes, TABLE)
    np.testing.assert_array_equal(factors.labels, Factors(TABLE).labels)


def test_what_is_masked_or_none_is_a_missing_label_and_no_code():
    hidden = TABLE == 0
    masked = np.ma.masked_array(TABLE, mask=hidden)
    none = np.where(hidden, None, TABLE)
    for table in (masked, none):
        assert (Factors(table).known == ~hidden).all()
        with pytest.raises(ValueError, match="codes must be finite, but"):
            read_inputs("metric", table, TABLE)


def test_what_vanishes_when_it_is_squared_is_zero():
    codes, _ = read_inputs("metric", [[1e-200], [-1e-40], [1e-30]], [0, 1, 2])
    assert codes.tolist() == [[0.0], [0.0], [1e-30]]


def test_integers_that_are_one_as_float64_are_refused():
    with pytest.raises(ValueError, match="'id' has integers above 2..53"):
        Factors([[0, 2**60], [1, 2**60 + 1], [2, 2**60 + 2]], names=("n", "id"))


def test_values_closer_than_bins_of_their_own_size_are_binned():
    values = 1e12 + np.spacing(1e12) * np.array([0, 1, 2, 3])
    assert to_bins(values, 2).tolist() == [0, 0, 1, 1]


def test_real_valued_angles_are_binned_and_angles_of_a_grid_are_not():
    generator = np.random.default_rng(0)
    real = generator.uniform(0, 2 * np.pi, 5_000)
    grid = generator.integers(0, 40, 5_000) * (2 * np.pi / 40)
    degrees = generator.integers(0, 360, 5_000)
    factors = Factors(np.column_stack([real, grid, degrees]), kinds=("cyclic",) * 3)
    assert factors.sizes == (20, 40, 360)
    assert factors.is_binned == (True, False, False)
    assert factors.at(np.arange(10)).is_binned == (True, False, False)
    few = Factors(real[:60], kinds=("cyclic",))
    assert few.sizes == (20,)


def test_noise_knows_next_to_nothing_about_a_real_valued_angle():
    generator = np.random.default_rng(0)
    angle = generator.uniform(0, 2 * np.pi, 5_000)
    noise = generator.standard_normal((5_000, 2))
    score = mutual_information_gap(noise, Factors(angle, kinds=("cyclic",)))
    assert score.matrix.max() < 0.1  # nats


def test_codes_that_are_ready_are_shared_and_cannot_be_written_to():
    codes = np.random.default_rng(0).standard_normal((100, 3))
    read = read_codes("test", codes)
    assert np.shares_memory(read, codes)
    assert not read.flags.writeable
    assert codes.flags.writeable
    codes[50, 1] = 1e-40  # vanishes when it is squared
    assert read_codes("test", codes)[50, 1] == 0.0
    assert codes[50, 1] == 1e-40


def test_factors_do_not_change_with_the_array_they_were_made_from():
    values = np.array([[0.0], [1.0], [2.0]])
    factors = Factors(values)
    values[:] = 7.0
    assert factors.labels.ravel().tolist() == [0, 1, 2]
