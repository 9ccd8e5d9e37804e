"""What is no table of codes or factors is refused, by every metric, in a sentence."""

import datetime
import re

import numpy as np
import pytest
import torch
from every_metric import GRID, noisy_codes, scores_of

from unbraid.metrics import METRICS, Split, evaluate

CODES = noisy_codes()
N_ROWS = len(GRID)


def with_entry(table, value, dtype=np.float64):
    table = table.astype(dtype)
    table[3, 1] = value
    return table


TABLES = {
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((N_ROWS, 0)),
    "three dimensions": np.zeros((N_ROWS, 2, 2)),
    "a scalar": 3.0,
    "None": None,
    "text": np.full((N_ROWS, 2), "1"),
    "text among objects": with_entry(CODES, "1", dtype=object),
    "bytes": np.full((N_ROWS, 2), b"1"),
    "complex": CODES + 1j,
    "complex objects": with_entry(CODES, 1j, dtype=object),
    "dates": np.full((N_ROWS, 2), "2020-01-01", dtype="datetime64[D]"),
    "dates among objects": with_entry(CODES, datetime.date.min, dtype=object),
    "records": np.zeros(N_ROWS, dtype=[("a", float), ("b", int)]),
    "a dictionary": {"a": [1.0, 2.0]},
    "a set": {1.0, 2.0},
    "a generator": (row for row in CODES),
    "rows of different lengths": [[1.0, 2.0], [3.0]],
    "infinity": with_entry(CODES, np.inf),
    "minus infinity": with_entry(CODES, -np.inf),
    "too large to be squared": with_entry(CODES, 1e200),
    "an integer of 400 digits": with_entry(CODES, 10**400, dtype=object),
    "beyond float64": with_entry(CODES, np.longdouble("1e4000"), dtype=np.longdouble),
    "a tensor with a gradient": torch.zeros(N_ROWS, 2, requires_grad=True),
}

CODES_ONLY = {
    "NaN": with_entry(CODES, np.nan),
    "None among objects": with_entry(CODES, None, dtype=object),
    "masked": np.ma.masked_array(CODES, mask=with_entry(0 * CODES, 1)),
    "one row": CODES[:1],
}

FACTORS_ONLY = {
    "a constant": np.column_stack([GRID, np.full(N_ROWS, 7)]),
    "no known label": np.column_stack([GRID, np.full(N_ROWS, np.nan)]),
    "all masked": np.ma.masked_all((N_ROWS, 2)),
    "one known label": with_entry(np.full((N_ROWS, 2), np.nan), 5.0),
    "fewer rows than codes": GRID[1:],
    "the transpose": GRID.T,
    "integers that are one as float64": GRID + 2**60,
}

SUPERVISED = [name for name, metric in METRICS.items() if metric.uses_factors]


def assert_sentence(caught, caller):
    """The message has one line, which names the function and says what is wrong."""
    message = str(caught.value)
    assert re.fullmatch(rf"{caller}: [^\n]* (must|has) [^\n]+\.", message), message


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("fault", TABLES | CODES_ONLY)
def test_malformed_codes_are_refused(name, fault):
    codes = (TABLES | CODES_ONLY)[fault]
    with pytest.raises(ValueError, match="must|has") as caught:
        scores_of(name, codes, GRID if fault != "one row" else GRID[:1])
    assert_sentence(caught, METRICS[name].function.__name__)


@pytest.mark.parametrize("name", SUPERVISED)
@pytest.mark.parametrize("fault", TABLES | FACTORS_ONLY)
def test_malformed_factors_are_refused(name, fault):
    factors = (TABLES | FACTORS_ONLY)[fault]
    with pytest.raises(ValueError, match="must|has") as caught:
        scores_of(name, CODES, factors)
    assert_sentence(caught, METRICS[name].function.__name__)


@pytest.mark.parametrize("fault", TABLES | CODES_ONLY)
def test_evaluate_refuses_malformed_codes_in_its_own_name(fault):
    codes = (TABLES | CODES_ONLY)[fault]
    with pytest.raises(ValueError, match="must|has") as caught:
        evaluate(codes, GRID)
    assert_sentence(caught, "evaluate")


@pytest.mark.parametrize(
    # None means that there are no factors.
    "fault",
    [fault for fault in TABLES | FACTORS_ONLY if fault != "None"],
)
def test_evaluate_refuses_malformed_factors_in_its_own_name(fault):
    factors = (TABLES | FACTORS_ONLY)[fault]
    with pytest.raises(ValueError, match="must|has") as caught:
        evaluate(CODES, factors)
    assert_sentence(caught, "evaluate")


BINNED = ["mig", "modularity", "mig_sup", "jemmig", "dcimig"]
NO_COUNTS = [0, -3, 2.5, np.nan, np.inf, "many", None, [20], True]


@pytest.mark.parametrize("count", NO_COUNTS, ids=repr)
@pytest.mark.parametrize(
    ("name", "option"),
    [
        *((name, "bins") for name in [*BINNED, "pairwise_information"]),
        *((name, "iterations") for name in ("explicitness", "infoe")),
        *((name, "neighbors") for name in ("infom", "infoc")),
        *((name, "n_train") for name in ("dci", "beta_vae_score", "unfairness")),
        ("distance_correlation", "n_pairs"),
        ("axis_orientation", "n_traversals"),
        ("clustering", "max_steps"),
    ],
)
def test_counts_that_are_none_are_refused(name, option, count):
    with pytest.raises(ValueError, match=f"{option} must be a whole") as caught:
        scores_of(name, CODES, GRID, **{option: count})
    assert_sentence(caught, METRICS[name].function.__name__)


@pytest.mark.parametrize("name", ["dci", "sap", "explicitness", "infoe"])
@pytest.mark.parametrize(
    "rows", [np.array([0, N_ROWS]), np.array([-1, 2]), np.array([0.0, 1.0])]
)
def test_splits_into_other_rows_are_refused(name, rows):
    with pytest.raises(ValueError, match="row numbers from 0 to 23") as caught:
        scores_of(name, CODES, GRID, split=Split(np.arange(10), rows))
    assert_sentence(caught, METRICS[name].function.__name__)
