"""Distances between the observations behind the rows of a table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.representation import Representation

from .supervised._pair_correlation import latent_distances

_PAIRS_AT_ONCE = 4096
"""Pairs whose observations are in memory at a time."""


@dataclass(frozen=True, eq=False)
class ObservationDistance:
    """Mean squared error between the observations of two rows of a table.

    Attributes:
        observations: Dataset, or array ``(n_observations, ...)``.
        rows: Index of the observation behind each row of the table, ``(n_rows,)``.

    Example:
        >>> distance = ObservationDistance(np.array([[0, 0], [1, 3]]), np.arange(2))
        >>> distance(np.array([0, 1]), np.array([1, 1])).round(6)
        array([5., 0.])
    """

    observations: AbstractDataset | NDArray[Any]
    rows: NDArray[np.int64]

    def at(self, rows: NDArray[np.int64]) -> "ObservationDistance":
        """Return the distance for some rows of the table."""
        return replace(self, rows=self.rows[rows])

    def __call__(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the distance of each pair of rows, ``(n_pairs,)``."""
        distances = np.empty(len(first))
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            pairs = self.rows[np.stack([first[part], second[part]])]
            # Along factors, few observations are in many pairs.
            unique, positions = np.unique(pairs, return_inverse=True)
            one, other = positions.reshape(pairs.shape)
            seen = self._read(unique)
            apart = latent_distances(seen, one, other, "l2")
            distances[part] = apart**2 / seen.shape[1]
        return distances

    def _read(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return observations as vectors, ``(n, n_values)``."""
        if isinstance(self.observations, AbstractDataset):
            return self.observations.images(rows).reshape(len(rows), -1)
        return self.observations[rows].reshape(len(rows), -1)


def find_distance(
    caller: str, observations: Any, codes: Any, n_rows: int
) -> ObservationDistance | None:
    """Return the distance between the observations of codes.

    Args:
        caller: Name of the calling function, for error messages.
        observations: One per row, ``(n_rows, ...)``; or the dataset that was encoded,
            whose rows a :class:`Representation` knows; or ``None``.
        codes: Codes of an evaluation.
        n_rows: Number of rows of the codes.

    Raises:
        ValueError: If there is not one observation for each row, or if they are not
            numbers.
    """
    if observations is None:
        return None
    if isinstance(observations, AbstractDataset):
        rows = np.arange(len(observations))
        if isinstance(codes, Representation) and len(codes.rows):
            rows = codes.rows
    else:
        observations = np.asarray(observations)
        if observations.ndim < 1 or observations.dtype.kind not in "biuf":
            raise ValueError(
                f"{caller}: observations must be numbers of shape ({n_rows}, ...), got "
                f"shape {observations.shape} of {observations.dtype}."
            )
        rows = np.arange(len(observations))
    if len(rows) != n_rows:
        raise ValueError(
            f"{caller}: observations must have one entry for each of the {n_rows} rows "
            f"of codes, got {len(rows)}."
        )
    return ObservationDistance(observations, rows)
