"""States: combinations of factor values, with one mean code each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._inputs import Factors


@dataclass(frozen=True)
class States:
    """Every combination of factor values in a table, once.

    Attributes:
        codes: Mean code of the rows with each combination, ``(n_states, n_latents)``.
        factors: Factor values of each combination, without missing labels.
    """

    codes: NDArray[np.float64]
    factors: Factors


def states_of_table(codes: NDArray[np.float64], factors: Factors) -> States:
    """Average the codes of rows that agree in all factors.

    Rows with a missing label belong to no state. Continuous factors must agree exactly.

    Example:
        >>> factors = Factors([[0, 1], [0, 1], [1, 0]])
        >>> states_of_table(np.array([[1.0], [3.0], [5.0]]), factors).codes
        array([[2.],
               [5.]])
    """
    rows = np.flatnonzero(factors.known.all(axis=1))
    if not len(rows):
        return States(codes[rows], factors.at(rows))
    _, first, state, counts = np.unique(
        factors.values[rows],
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    states = factors.at(rows[first])
    if len(first) == len(rows):
        return States(codes[rows[first]], states)
    order = np.argsort(state, kind="stable")
    starts = np.cumsum(counts) - counts
    # Relative to one row of each state, because a mean of equal numbers is not exact.
    base = codes[rows[first]]
    apart = codes[rows[order]] - np.repeat(base, counts, axis=0)
    return States(base + np.add.reduceat(apart, starts) / counts[:, None], states)
