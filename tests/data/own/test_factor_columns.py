"""Each way to hand over a table, seen through a dataset that has it."""

import numpy as np
import pandas as pd
import pytest
import torch

from unbraid.data import LabeledImages
from unbraid.foundation import DataFormatError
from unbraid.testing import check_dataset


def label(factors, n: int = 3, **options) -> LabeledImages:
    data = LabeledImages(np.zeros((n, 8, 8), np.uint8), factors, **options)
    check_dataset(data)
    return data


def write(tmp_path, text: str | bytes):
    path = tmp_path / "factors.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


SAME = {
    "array": np.array([[0, 5], [1, 6], [2, 5]]),
    "list": [[0, 5], [1, 6], [2, 5]],
    "tensor": torch.tensor([[0, 5], [1, 6], [2, 5]]),
    "mapping": {"factor_0": [0, 1, 2], "factor_1": [5, 6, 5]},
    "mapping of tensors": {
        "factor_0": torch.arange(3),
        "factor_1": torch.tensor([5, 6, 5]),
    },
    "structured": np.array(
        [(0, 5), (1, 6), (2, 5)], dtype=[("factor_0", "i4"), ("factor_1", "i8")]
    ),
    "records": [
        {"factor_0": 0, "factor_1": 5},
        {"factor_0": 1, "factor_1": 6},
        {"factor_0": 2, "factor_1": 5},
    ],
    "data frame": pd.DataFrame({"factor_0": [0, 1, 2], "factor_1": [5, 6, 5]}),
    "shuffled index": pd.DataFrame(
        {"factor_0": [0, 1, 2], "factor_1": [5, 6, 5]}, index=[2, 0, 1]
    ),
    "series of different index": {
        "factor_0": pd.Series([0, 1, 2], index=[7, 8, 9]),
        "factor_1": pd.Series([5, 6, 5]),
    },
}


@pytest.mark.parametrize("case", SAME)
def test_equal_tables_are_equal_however_they_come(case):
    data = label(SAME[case])
    assert data.factor_names == ("factor_0", "factor_1")
    assert data.factor_space.sizes == (3, 2)
    assert data.factors([0, 1, 2]).tolist() == [[0, 0], [1, 1], [2, 0]]


def test_csv_equals_the_table_it_was_written_from(tmp_path):
    frame = pd.DataFrame({"shape": ["disc", None, "star"], "x": [0.5, 1.0, np.nan]})
    frame.to_csv(tmp_path / "factors.csv", index=False)
    from_frame, from_csv = label(frame), label(str(tmp_path / "factors.csv"))
    assert from_csv.factor_names == ("shape", "x")
    assert from_csv.fingerprint() == from_frame.fingerprint()
    np.testing.assert_array_equal(
        from_csv.factors([0, 1, 2]), [[0, 0.5], [np.nan, 1], [1, np.nan]]
    )


def test_each_column_of_a_list_keeps_its_type():
    data = label([["a", 0.5], ["b", 1.5], ["a", 2.5]])
    assert data.factor_kinds == ("categorical", "continuous")


@pytest.mark.parametrize(
    "column", [np.array([3, 1, 2]), [3, 1, 2], pd.Series([3, 1, 2]), torch.arange(3)]
)
def test_one_column_is_one_factor(column):
    assert label(column).factor_names == ("factor_0",)


def test_series_keeps_its_name():
    assert label(pd.Series([3, 1, 2], name="x")).factor_names == ("x",)


def test_names_can_be_given_to_any_table(tmp_path):
    for table in (*SAME.values(), write(tmp_path, "p,q\n0,5\n1,6\n2,5\n")):
        assert label(table, factor_names=("a", "b")).factor_names == ("a", "b")


def test_wrong_number_of_names_is_refused():
    with pytest.raises(ValueError, match="2 elements, one for each factor, got 1"):
        label(SAME["array"], factor_names=["a"])


def test_names_must_differ_and_not_be_empty():
    for names in (["a", "a"], ["a", ""]):
        with pytest.raises(ValueError, match="must be unique and not empty"):
            label(SAME["array"], factor_names=names)
    twice = pd.DataFrame([[0, 1]] * 3, columns=["a", "a"])
    with pytest.raises(ValueError, match="unique and not empty, got 'a', 'a'"):
        label(twice)


@pytest.mark.parametrize("table", [np.zeros((3, 0)), pd.DataFrame(index=range(3)), {}])
def test_table_without_columns_is_refused(table):
    with pytest.raises(ValueError, match="at least one column, got none"):
        label(table)


@pytest.mark.parametrize("table", [np.zeros((3, 2, 2)), np.array(3), 7])
def test_table_of_other_shape_is_refused(table):
    with pytest.raises(ValueError, match=r"factors must have shape \(n, n_factors\)"):
        label(table)


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="the same length, got 'a' with 3, 'b' with 2"):
        label({"a": [1, 2, 3], "b": [1, 2]})


def test_csv_without_a_header_needs_names(tmp_path):
    path = write(tmp_path, "0,5\n1,6\n2,5\n")
    with pytest.raises(DataFormatError, match=r"got numbers \(0, 5\).*factor_names"):
        label(path)
    data = label(path, factor_names=["a", "b"])
    assert data.factors([0, 1, 2]).tolist() == [[0, 0], [1, 1], [2, 0]]


BAD_CSV = {
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "header only": ("a,b\n", "3 images and 0 rows"),
    "too few rows": ("a\n1\n2\n", "3 images and 2 rows"),
    "names twice": ("a,a\n1,2\n1,2\n1,2\n", "must be unique, got a, a"),
    "row numbers": (",a\n0,1\n1,2\n2,1\n", r"column 1 has none.*index=False"),
    "semicolons": ("a;b\n1;2\n1;2\n1;2\n", "separated by commas"),
    "tabs": ("a\tb\n1\t2\n1\t2\n1\t2\n", "separated by commas"),
    "all lines too long": (
        "a,b\n1,2,3\n1,2,3\n1,2,3\n",
        "more values than the 2 names",
    ),
    "one line too long": ("a,b\n1,2\n1,2,3\n1,2\n", "line 3"),
    "not text": (b"\x93NUMPY\xff\xfe\n1\n", "in UTF-8"),
    "latin": ("größe\n1\n2\n3\n".encode("latin-1"), "in UTF-8"),
    "infinite": ("a\n1\ninf\n2\n", "factor 'a' must be finite"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv_is_refused_in_a_sentence(tmp_path, case):
    text, message = BAD_CSV[case]
    with pytest.raises(ValueError, match=message) as failure:
        label(write(tmp_path, text))
    assert str(failure.value).endswith(".")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffshape,x\ndisc,1\nstar,2\ndisc,1\n",  # as a spreadsheet writes it
        "shape, x\r\ndisc, 1\r\nstar, 2\r\ndisc, 1\r\n",
        '"shape","x"\n"disc","1"\n"star","2"\n"disc","1"',
    ],
)
def test_ways_to_write_a_csv_do_not_matter(tmp_path, text):
    data = label(write(tmp_path, text))
    assert data.factor_names == ("shape", "x")
    assert data.factor_values == (("disc", "star"), (1, 2))


def test_missing_fields_of_a_csv_are_missing_labels(tmp_path):
    data = label(write(tmp_path, "a,b\n1,\n,x\nNaN,y\n"))
    np.testing.assert_array_equal(
        data.factors([0, 1, 2]), [[0, np.nan], [np.nan, 0], [np.nan, 1]]
    )


def test_long_csv_of_mixed_columns_raises_no_warning(tmp_path):
    n = 300_000
    lines = ["1"] * (n - 1) + ["a"]
    path = write(tmp_path, "x\n" + "\n".join(lines))
    data = LabeledImages(np.zeros((n, 1, 1), np.uint8), path)
    assert data.factor_values == (("1", "a"),)


def test_csv_that_does_not_exist_is_an_error(tmp_path):
    for path in ("nothing.csv", tmp_path):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            label(path)
