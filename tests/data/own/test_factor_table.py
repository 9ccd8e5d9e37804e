"""What becomes of the columns of a table, seen through a dataset that has it."""

import datetime

import numpy as np
import pandas as pd
import pytest

from unbraid.data import LabeledImages
from unbraid.testing import check_dataset


def label(column, **options) -> LabeledImages:
    images = np.zeros((len(column), 8, 8), np.uint8)
    data = LabeledImages(images, {"x": column}, **options)
    check_dataset(data)
    return data


def codes(data: LabeledImages) -> list:
    return data.factors(np.arange(len(data)))[:, 0].tolist()


DISCRETE = {
    "integers": ([30, 10, 20, 10], "ordinal", (10, 20, 30), [2, 0, 1, 0]),
    "negative": (np.array([5, -5], np.int8), "ordinal", (-5, 5), [1, 0]),
    "unsigned": (
        np.array([2**64 - 1, 0], np.uint64),
        "ordinal",
        (0, 2**64 - 1),
        [1, 0],
    ),
    "whole floats": ([2.0, 0.0, -0.0], "ordinal", (0.0, 2.0), [1, 0, 0]),
    "text": (["b", "a", "ä", "B"], "categorical", ("B", "a", "b", "ä"), [2, 1, 3, 0]),
    "booleans": ([True, False], "categorical", (False, True), [1, 0]),
    "objects": (np.array([3, 1], object), "ordinal", (1, 3), [1, 0]),
    "categories": (
        pd.Categorical(["low", "high"], ["low", "mid", "high"]),
        "categorical",
        ("low", "high"),
        [0, 1],
    ),
    "ordered categories": (
        pd.Categorical(["low", "high"], ["low", "high"], ordered=True),
        "ordinal",
        ("low", "high"),
        [0, 1],
    ),
    "nullable": (pd.array([4, 2], "Int64"), "ordinal", (2, 4), [1, 0]),
    "constant": ([7, 7, 7], "ordinal", (7,), [0, 0, 0]),
}


@pytest.mark.parametrize("case", DISCRETE)
def test_discrete_values_are_sorted_and_counted_from_zero(case):
    column, kind, values, expected = DISCRETE[case]
    data = label(column)
    assert data.factor_kinds == (kind,)
    assert data.factor_values == (values,)
    assert data.factor_space.sizes == (len(values),)
    assert codes(data) == expected


def test_values_are_plain_python():
    values = (label(np.array([1, 2])), label(np.array(["a"])), label([True, False]))
    kinds = [type(data.factor_values[0][0]) for data in values]
    assert kinds == [int, str, bool]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, "Float64"])
def test_floats_that_are_not_whole_are_continuous(dtype):
    data = label(pd.array([0.5, 1.0, -2.0], dtype))
    assert data.factor_kinds == ("continuous",)
    assert data.factor_values == ((),)
    assert codes(data) == [0.5, 1.0, -2.0]


MISSING = {
    "NaN among whole floats": ([3.0, np.nan, 1.0], "ordinal", [1.0, np.nan, 0.0]),
    "NaN among floats": ([0.5, np.nan], "continuous", [0.5, np.nan]),
    "None among integers": ([3, None, 1], "ordinal", [1.0, np.nan, 0.0]),
    "None among text": (["b", None, "a"], "categorical", [1.0, np.nan, 0.0]),
    "empty text": (["b", "", "a"], "categorical", [1.0, np.nan, 0.0]),
    "None among booleans": ([True, None, False], "categorical", [1.0, np.nan, 0.0]),
    "nullable": (pd.array([3, None, 1], "Int64"), "ordinal", [1.0, np.nan, 0.0]),
    "categories": (pd.Categorical(["b", None, "a"]), "categorical", [1.0, np.nan, 0]),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_values_are_nan_among_the_others(case):
    column, kind, expected = MISSING[case]
    data = label(column)
    assert data.factor_kinds == (kind,)
    assert data.factor_space is None
    np.testing.assert_array_equal(codes(data), expected)


def test_one_continuous_factor_makes_the_table_float():
    table = {"x": ["a", "b"], "y": [0.5, 2.5]}
    data = LabeledImages(np.zeros((2, 8, 8), np.uint8), table)
    assert data.factors([0, 1]).tolist() == [[0.0, 0.5], [1.0, 2.5]]
    assert data.factor_values == (("a", "b"), ())


def test_kind_can_be_said():
    assert codes(label([30, 10], factor_kinds={"x": "continuous"})) == [30.0, 10.0]
    discrete = label([0.5, 0.25], factor_kinds={"x": "ordinal"})
    assert (codes(discrete), discrete.factor_values) == ([1, 0], ((0.25, 0.5),))
    assert label([0, 1], factor_kinds={"x": "cyclic"}).factor_kinds == ("cyclic",)
    assert label([0, 1], factor_kinds=["categorical"]).factor_kinds == ("categorical",)
    assert codes(label([True, False], factor_kinds={"x": "continuous"})) == [1.0, 0.0]


def test_text_cannot_be_continuous():
    with pytest.raises(
        TypeError, match="continuous factor 'x' must be numbers, got str"
    ):
        label(["a", "b"], factor_kinds={"x": "continuous"})


@pytest.mark.parametrize("kind", [None, "ordinal", "continuous"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_labels_are_refused(kind, bad):
    kinds = {"x": kind} if kind else None
    with pytest.raises(ValueError, match="factor 'x' must be finite, but 1 are"):
        label([1.0, bad], factor_kinds=kinds)


def test_factor_that_is_never_known_is_refused():
    for column in ([np.nan, np.nan], [None, None], ["", ""]):
        with pytest.raises(ValueError, match="Factor 'x' has no known value"):
            label(column)


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ([1, "a"], "int and str"),
        ([True, 2], "bool and int"),
        ([1j, 2j], "complex"),
        ([b"a", b"b"], "bytes"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "Timestamp"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "date"),
        ([[1], [2]], "list"),
    ],
)
def test_other_values_are_refused(column, shown):
    with pytest.raises(
        TypeError, match=f"factor 'x' .* got {shown}. Convert them first"
    ):
        label(column)


def test_too_many_combinations_are_refused_with_a_way_out():
    images = np.zeros((1000, 8, 8), np.uint8)
    table = np.tile(np.arange(1000)[:, None], (1, 7))
    with pytest.raises(ValueError, match=r"factor_kinds=\{'factor_0': 'continuous'\}"):
        LabeledImages(images, table)
    LabeledImages(images, table, factor_kinds={"factor_0": "continuous"})
