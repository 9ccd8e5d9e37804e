"""Factors from DataFrames: kinds, names and messages."""

import numpy as np
import pandas as pd
import pytest

from unbraid.metrics import Factors, dci, evaluate, mutual_information_gap

N = 400
GENERATOR = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "species": GENERATOR.choice(["cat", "dog", "owl"], N),
        "age": GENERATOR.integers(18, 91, N),
        "hour": GENERATOR.integers(0, 24, N),
        "size": GENERATOR.normal(size=N),
        "is_adult": GENERATOR.random(N) < 0.5,
    }
)


def test_columns_keep_their_names_and_get_sensible_kinds():
    factors = Factors(PEOPLE)
    assert factors.names == tuple(PEOPLE.columns)
    assert factors.kinds == (
        "categorical", "continuous", "ordinal", "continuous", "ordinal",
    )  # fmt: skip
    assert factors.classes[0] == ("cat", "dog", "owl")
    expected = PEOPLE["species"].map({"cat": 0, "dog": 1, "owl": 2})
    np.testing.assert_array_equal(factors.labels[:, 0], expected)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(400) % 20, "ordinal"),
        (np.arange(400) % 40, "ordinal"),
        (np.arange(4100) % 41, "continuous"),  # more than 40 values
        (np.arange(399) % 40, "continuous"),  # more than 20, fewer than 10 rows each
        (np.arange(40) % 20, "ordinal"),
        (np.arange(40) / 2, "continuous"),
    ],
)
def test_whole_numbers_are_classes_if_they_are_few_and_repeated(values, kind):
    assert Factors(values).kinds == (kind,)


def test_an_integer_age_can_be_read_from_codes_that_hold_it():
    generator = np.random.default_rng(0)
    age = generator.integers(18, 91, 1_000)
    codes = np.column_stack([age, generator.normal(size=1_000)]).astype(float)
    codes[:, 0] += 3 * generator.normal(size=1_000)
    frame = pd.DataFrame({"age": age})
    assert dci(codes, Factors(frame)).informativeness > 0.9
    as_classes = Factors(frame, kinds={"age": "ordinal"})
    assert dci(codes, as_classes).informativeness < 0.3


def test_kinds_are_declared_by_name():
    factors = Factors(PEOPLE, kinds={"hour": "cyclic", "age": "ordinal"})
    assert factors.kinds[1:3] == ("ordinal", "cyclic")
    again = Factors(PEOPLE).with_kinds({"hour": "cyclic"})
    assert again.kinds[2] == "cyclic"
    assert again.classes[0] == ("cat", "dog", "owl")
    with pytest.raises(ValueError, match="Did you mean 'hour'"):
        Factors(PEOPLE, kinds={"hours": "cyclic"})
    for make in (Factors(PEOPLE).with_kinds, lambda k: Factors(PEOPLE, kinds=k)):
        with pytest.raises(
            ValueError, match="'species' holds classes without an order"
        ):
            make({"species": "cyclic"})


def test_a_category_keeps_its_order_and_missing_values_stay_missing():
    sizes = pd.Categorical(["S", "L", "M", None, "S"], ["S", "M", "L", "XL"], True)
    frame = pd.DataFrame(
        {
            "size": sizes,
            "color": pd.Categorical(["b", "a", None, "a", "b"]),
            "count": pd.array([1, 2, None, 1, 2], dtype="Int64"),
            "flag": [True, None, False, True, False],
            "text": ["x", None, "y", "x", "y"],
        }
    )
    factors = Factors(frame)
    assert factors.kinds == (
        "ordinal", "categorical", "ordinal", "ordinal", "categorical",
    )  # fmt: skip
    assert factors.labels[:, 0].tolist() == [0, 2, 1, -1, 0]
    assert factors.classes[0] == ("S", "M", "L")
    assert (~factors.known).sum(axis=0).tolist() == [1, 1, 1, 1, 1]


def test_a_series_is_a_factor_with_its_name():
    factors = Factors(pd.Series(["a", "b", "a"], name="letter"))
    assert factors.names == ("letter",)
    assert Factors(pd.Series([0, 1, 2])).names == ("factor_0",)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.date_range("2020-01-01", periods=N), "'bad' has type datetime64"),
        (np.full(N, 1j), "'bad' has type complex"),
        (["red"] * N, "'bad' has the same value, 'red', in every row"),
        ([7] * N, "'bad' has the same value, 7.0, in every row"),
        ([None] * N, "'bad' has no known label"),
        ([f"image_{i}.png" for i in range(N)], "'bad' has 400 different texts"),
        ([1, "two"] * (N // 2), "'bad' holds neither only numbers nor only text"),
        (["1", "2", "3", "unknown"] * (N // 4), "also the text 'unknown'"),
        ([[1], [2]] * (N // 2), "'bad' holds neither"),
        ([0.0, np.inf] * (N // 2), "column 'bad', row 1 is inf"),
    ],
)
def test_messages_name_the_offending_column(column, message):
    frame = PEOPLE.assign(bad=column)
    with pytest.raises(ValueError, match=message):
        Factors(frame)
    with pytest.raises(ValueError, match="evaluate: factors"):
        evaluate(np.zeros((N, 2)), frame)


def test_two_columns_of_the_same_name_are_refused():
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        Factors(frame)
    with pytest.raises(ValueError, match=r"must have shape \(n_rows, n_columns\), got"):
        Factors(pd.DataFrame())


def test_cards_and_scores_show_the_names_and_kinds():
    codes = PEOPLE[["age", "hour", "size"]].to_numpy(float)
    card = evaluate(codes, PEOPLE, metrics="mig", kinds={"hour": "cyclic"})
    assert card["mig"].per_factor.keys() == set(PEOPLE)
    assert card["mig"] == mutual_information_gap(
        codes, Factors(PEOPLE, kinds={"hour": "cyclic"})
    )
    assert "age (continuous), hour (cyclic)" in str(card)


def test_factors_work_as_an_array():
    factors = Factors(PEOPLE)
    assert np.asarray(factors).shape == factors.shape == (N, 5)
    np.testing.assert_array_equal(factors[:, 1], PEOPLE["age"])


def test_views_are_short_and_escaped():
    frame = PEOPLE.rename(columns={"age": "<b>age</b>"})
    factors = Factors(frame)
    page = factors._repr_html_()
    assert "<b>age" not in page
    assert "&lt;b&gt;age" in page
    assert "cat, dog, owl" in page
    assert len(page) < 1_500
    assert repr(factors).startswith("Factors(400 rows: species (categorical, 3 values)")
