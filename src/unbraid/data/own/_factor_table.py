"""Labels of all rows as numbers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import Kind
from unbraid.data._factor_space import FactorSpace


@dataclass(frozen=True, eq=False)
class FactorTable:
    """Labels of all rows, as numbers.

    ``rows`` has shape ``(n, n_factors)``: ``int64`` codes if there is a ``space``,
    otherwise ``float64`` with codes of discrete factors, values of continuous ones, and
    NaN for missing labels. ``values`` contains the values of each discrete factor, in
    the order of their codes.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    values: tuple[tuple[object, ...], ...]
    rows: NDArray[Any]
    space: FactorSpace | None

    @cached_property
    def is_grid(self) -> bool:
        """Whether the rows are all combinations, in mixed-radix order."""
        if self.space is None or self.space.size != len(self.rows):
            return False
        return bool((self.space.indices(self.rows) == np.arange(len(self.rows))).all())
