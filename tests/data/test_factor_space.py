import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unbraid.data import FactorSpace
from unbraid.foundation import numpy_generator

sizes = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def space_of(sizes):
    return FactorSpace(tuple(f"f{i}" for i in range(len(sizes))), tuple(sizes))


@given(sizes)
def test_index_to_factors_to_index_comes_back_for_every_combination(sizes):
    space = space_of(sizes)
    every = np.arange(space.size)
    np.testing.assert_array_equal(space.indices(space.factors(every)), every)


@given(sizes)
def test_the_last_factor_counts_fastest_as_numpy_does(sizes):
    space = space_of(sizes)
    expected = np.stack(np.unravel_index(np.arange(space.size), sizes), axis=1)
    np.testing.assert_array_equal(space.factors(np.arange(space.size)), expected)


@given(sizes, st.data())
def test_a_traversal_passes_through_its_base_and_changes_one_factor_only(sizes, data):
    space = space_of(sizes)
    base = data.draw(st.integers(0, space.size - 1))
    column = data.draw(st.integers(0, space.n_factors - 1))
    rows = space.traversals(column, np.array([base]))[0]
    factors = space.factors(rows)
    np.testing.assert_array_equal(factors[:, column], np.arange(sizes[column]))
    others = np.delete(factors, column, axis=1)
    assert (others == others[0]).all()
    assert base in rows


def test_samples_keep_what_is_fixed_and_vary_the_rest():
    space = space_of([3, 4, 5])
    drawn = space.sample(3000, generator=numpy_generator(0), fixed={"f1": 2, 2: 0})
    assert (drawn[:, 1] == 2).all()
    assert (drawn[:, 2] == 0).all()
    # Three values, 1000 expected each, standard deviation 26.
    assert np.abs(np.bincount(drawn[:, 0]) - 1000).max() < 5 * 26


def test_resampling_keeps_the_named_factors_of_each_row():
    space = space_of([3, 4, 5])
    rows = space.sample(500, generator=numpy_generator(1))
    fresh = space.resample(rows, ["f0", 2], generator=numpy_generator(2))
    np.testing.assert_array_equal(fresh[:, [0, 2]], rows[:, [0, 2]])
    assert not np.array_equal(fresh[:, 1], rows[:, 1])


def test_shapes_of_any_rank_are_kept():
    space = space_of([3, 4])
    indices = np.arange(12).reshape(3, 2, 2)
    assert space.factors(indices).shape == (3, 2, 2, 2)
    np.testing.assert_array_equal(space.indices(space.factors(indices)), indices)
    assert space.traversals("f1", indices).shape == (3, 2, 2, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((("a", "b"), (2,)), "must have the same length"),
        ((("a", "a"), (2, 3)), "names must be unique"),
        ((("a",), (0,)), "sizes\\[0\\] must be at least 1"),
        ((("a",), (2,), ("round",)), "kinds\\[0\\] must be 'ordinal'"),
        ((("a", "b"), (2**32, 2**31)), "fewer than 2\\*\\*63"),
    ],
)
def test_impossible_spaces_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        FactorSpace(*arguments)


def test_values_and_indices_out_of_range_are_refused():
    space = space_of([2, 3])
    with pytest.raises(IndexError, match="between 0 and 5"):
        space.factors(np.array([6]))
    with pytest.raises(IndexError, match="between 0 and 5"):
        space.factors(np.array([-1]))
    with pytest.raises(ValueError, match="at least 0 and below"):
        space.indices(np.array([[0, -1]]))
    with pytest.raises(TypeError):
        FactorSpace(("a",), (2.9,))
    assert space.position(-1) == 1
    with pytest.raises(ValueError, match="or give a column"):
        space.position(-3)
    with pytest.raises(TypeError, match="indices must be integers"):
        space.factors(np.array([0.5]))
    with pytest.raises(ValueError, match="below the sizes"):
        space.indices(np.array([[0, 3]]))
    with pytest.raises(ValueError, match="2 factor values per row"):
        space.indices(np.array([0, 1, 2]))
    with pytest.raises(TypeError, match="Factor values must be integers"):
        space.indices(np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="Choose among f0, f1"):
        space.position("f7")
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        space.sample(1, generator=numpy_generator(0), fixed={"f0": 2})
