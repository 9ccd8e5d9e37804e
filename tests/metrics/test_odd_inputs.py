"""Odd but meaningful tables get a score in its range, or a sentence that says why not.

Warnings are errors in the tests, so that none of these gives any.
"""

import numpy as np
import pytest
from every_metric import (
    GRID,
    assert_in_range,
    few_trees,
    noisy_codes,
    scores_of,
)

from unbraid.metrics import METRICS

__all__ = ["few_trees"]  # a fixture that works by being here

CODES = noisy_codes()
N_ROWS = len(GRID)
HOLES = np.where(np.arange(N_ROWS)[:, None] % 4 == [0, 1, 9], np.nan, GRID)

ODD = {
    "half precision": (CODES.astype(np.float16), GRID),
    "long doubles": (CODES.astype(np.longdouble), GRID),
    "booleans": (CODES > 1, GRID > 0),
    "small integers": (CODES.astype(np.int8), GRID.astype(np.uint8)),
    "the other byte order": (CODES.astype(">f8"), GRID.astype(">i4")),
    "columns of a wider table": (np.repeat(CODES, 2, axis=1)[:, ::2], GRID[:, ::-1]),
    "read-only": (np.broadcast_to(CODES[:, :1], (N_ROWS, 3)), GRID),
    "objects": (CODES.astype(object), GRID.astype(object)),
    "lists": (CODES.tolist(), GRID.tolist()),
    "far from zero": (CODES + 1e12, GRID + 10**12),
    "next to each other": (1.0 + (CODES > 1) * np.spacing(1.0), GRID),
    "tiny": (1e-30 * CODES, 1e-30 * GRID),
    "so tiny that they are zero": (1e-300 * CODES, GRID),
    "large": (1e30 * CODES, 1e30 * GRID + 0.5),
    "large integers": (CODES, GRID * 2**60),
    "missing labels": (CODES, HOLES),
    "masked labels": (CODES, np.ma.masked_array(GRID, mask=np.isnan(HOLES))),
    "labels that are None": (CODES, np.where(np.isnan(HOLES), None, GRID)),
    "labels never known together": (
        CODES,
        np.column_stack([np.where(np.arange(N_ROWS) < 12, GRID[:, 1], np.nan), HOLES]),
    ),
    "one factor": (CODES, GRID[:, 2]),
    "one code": (CODES[:, 0], GRID),
    "more factors than codes": (CODES[:, :2], GRID),
    "equal factors": (CODES, GRID[:, [2, 2]]),
    "negative factors": (CODES, -GRID),
    "continuous factors": (CODES, CODES[:, :2]),
    "a class of one row": (CODES, np.column_stack([GRID, np.arange(N_ROWS) == 7])),
    "a class for every row": (CODES, np.arange(N_ROWS)),
    "a constant code": (np.column_stack([CODES, np.full(N_ROWS, 0.1)]), GRID),
    "constant codes": (np.full((N_ROWS, 3), 0.1), GRID),
    "duplicate codes": (CODES[:, [0, 1, 0, 1]], GRID),
    "more codes than rows": (np.tile(CODES, 7), GRID),
    "two rows": (CODES[[0, -1]], GRID[[0, -1]]),
    "three rows": (CODES[[0, 9, -1]], GRID[[0, 9, -1]]),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_table_gets_a_score_in_range_or_a_reason(name, odd):
    try:
        scores = scores_of(name, *ODD[odd])
    except ValueError as error:
        message = str(error)
    else:
        for score in scores.values():
            assert_in_range(score)
        return
    function = METRICS[name].function.__name__
    assert message.startswith((f"{function}: ", f"{function} "))
    # A whole sentence that says what there was, as a number or as what it is.
    reason = message.removeprefix(function)
    assert ", got " in reason or any(letter.isdigit() for letter in reason)
    assert reason.endswith(".")
