"""Tables of studies that were never run, with known scores."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

STRENGTHS = {
    "beta_vae": ("objective.beta", (1.0, 4.0, 16.0)),
    "factor_vae": ("objective.gamma", (10.0, 40.0, 100.0)),
}


def study_table(
    scores: dict[str, Callable[[str, str, int, int], float]],
    *,
    datasets: Sequence[str] = ("xy_squares",),
    n_seeds: int = 4,
) -> pd.DataFrame:
    """Two methods with three strengths each, and scores by what they are made of.

    Args:
        scores: For each column, a function of dataset, method, strength's rank, seed.
        datasets: Names.
        n_seeds: Runs of each setting.
    """
    rows: list[dict[str, Any]] = []
    for data, method, rank, seed in itertools.product(
        datasets, STRENGTHS, range(3), range(n_seeds)
    ):
        column, values = STRENGTHS[method]
        row = {
            "id": f"run{len(rows)}",
            "status": "done",
            "error": None,
            "data": data,
            "objective.name": method,
            column: values[rank],
            "training.steps": 1000,
            "seed": seed,
        }
        row |= {name: make(data, method, rank, seed) for name, make in scores.items()}
        rows.append(row)
    return pd.DataFrame(rows)
