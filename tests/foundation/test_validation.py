import math
import re
import subprocess
import sys
from typing import Literal

import numpy as np
import pytest

from unbraid.foundation import (
    check_count,
    check_finite,
    check_integer,
    check_integers,
    check_number,
    check_option,
    check_positive,
    check_sequence,
    check_shape,
)

Kind = Literal["i", "ii", "iii"]


@pytest.mark.parametrize("value", [1, 0.5, 1e300, np.float64(2.0)])
def test_positive_numbers_pass(value):
    check_positive("beta", value)


@pytest.mark.parametrize("value", [-1, 0, 0.0, -0.5])
def test_numbers_that_are_not_positive_are_refused(value):
    with pytest.raises(ValueError, match=rf"^beta must be positive, got {value!r}\.$"):
        check_positive("beta", value)


@pytest.mark.parametrize("value", ["1", None, True, math.nan, math.inf, 10**400])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^beta must be a finite number, got "):
        check_positive("beta", value)


@pytest.mark.parametrize(
    ("limits", "value", "message"),
    [
        ({"least": 0.0}, -1.0, "eta must be at least 0, got -1.0."),
        ({"least": 0.0, "most": 1.0}, 1.5, "eta must be between 0 and 1, got 1.5."),
        ({"above": 0.0, "most": 1.0}, 0, "eta must be above 0 and at most 1, got 0."),
        ({"least": 0, "below": 1}, 1.0, "eta must be at least 0 and below 1, got 1.0."),
        ({"most": 0.5}, 1, "eta must be at most 0.5, got 1."),
    ],
)
def test_numbers_out_of_range_are_refused_with_the_range(limits, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_number("eta", value, **limits)


def test_limits_are_allowed_where_they_belong_to_the_range():
    check_number("eta", 0.0, least=0.0, most=1.0)
    check_number("eta", 1.0, above=0.0, most=1.0)
    check_number("eta", -1e9)


def test_counts_are_whole_numbers_of_any_type():
    for value in (2, 2.0, np.int64(2), np.float32(3.0)):
        check_count("bins", value, least=2)
    for value in (1, 2.5, True, "2", None, math.nan, math.inf, [2]):
        message = "^bins must be a whole number of at least 2, got "
        with pytest.raises(ValueError, match=message):
            check_count("bins", value, least=2)


def test_integers_are_neither_floats_nor_truth_values():
    check_integer("n", 3, least=1, most=3)
    for value in (3.0, True, "3"):
        with pytest.raises(ValueError, match="^n must be an integer, got "):
            check_integer("n", value)
    with pytest.raises(ValueError, match=r"^n must be between 1 and 3, got 4\.$"):
        check_integer("n", 4, least=1, most=3)


def test_sequences_are_refused_with_the_element_that_is_wrong():
    check_integers("widths", [4, 2], least=1)
    with pytest.raises(ValueError, match="^widths must be a list or tuple, got '42'"):
        check_integers("widths", "42")
    with pytest.raises(ValueError, match=r"^widths\[1\] must be an integer, got 2\.5"):
        check_integers("widths", (4, 2.5))
    with pytest.raises(ValueError, match="^betas must have 2 elements, got "):
        check_sequence("betas", (0.1, 0.2, 0.3), length=2)


def test_options_are_listed():
    check_option("kind", "ii", Kind)
    check_option("kind", 1, (1, 2))
    with pytest.raises(ValueError, match=r"^kind must be 'i', 'ii' or 'iii', got 'x'"):
        check_option("kind", "x", Kind)
    with pytest.raises(ValueError, match=r"^kind must be 'a', got None\."):
        check_option("kind", None, {"a": 1})


def test_shapes_may_leave_a_length_open():
    check_shape("codes", np.zeros((5, 2)), ("batch", 2))
    for given in ((5, 3), (5,), (5, 2, 1)):
        with pytest.raises(
            ValueError, match=r"^codes must have shape \(batch, 2\), got"
        ):
            check_shape("codes", np.zeros(given), ("batch", 2))
    with pytest.raises(ValueError, match=r"shape \(2,\), got \(3,\)"):
        check_shape("mean", np.zeros(3), (2,))


def test_values_that_are_not_finite_are_named():
    check_finite("codes", np.ones((2, 2)))
    with pytest.raises(
        ValueError, match=r"^codes must be finite, but codes\[1\] is inf"
    ):
        check_finite("codes", [0.0, math.inf])
    with pytest.raises(ValueError, match=r"^x must be finite, but x is nan\.$"):
        check_finite("x", math.nan)


def test_checks_do_not_import_torch():
    code = (
        "import sys\nfrom unbraid.foundation import check_positive\n"
        "check_positive('beta', 1)\nprint('torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
