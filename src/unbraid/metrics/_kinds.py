"""Kinds of factors, declared or inferred from values."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Kind
from unbraid.foundation import check_option, suggest

_MOST_CLASSES = 40
"""Largest number of distinct whole numbers that are classes by default."""

_MOST_SPARSE_CLASSES = 20
_FEWEST_ROWS_PER_CLASS = 10
"""Rows per value below which the smaller limit applies."""

_MOST_ANGLES = 100
"""Largest number of distinct fractions of a cyclic factor that are classes."""


def resolve_kinds(
    names: Sequence[str],
    values: NDArray[np.float64],
    given: Sequence[Kind] | Mapping[str, Kind] | None,
    implied: Sequence[Kind | None],
) -> tuple[Kind, ...]:
    """Return the kind of each factor.

    Args:
        names: Names of the factors.
        values: One column per factor.
        given: Declared kinds of all factors, or of some by name.
        implied: Kinds that the types of the columns imply, such as text.

    Raises:
        ValueError: If a name or kind is unknown or does not fit its column.
    """
    declared = _read_declared(names, given)
    if not len(names) == len(declared) == values.shape[1]:
        raise ValueError(
            f"factors: names and kinds must have one entry for each of the "
            f"{values.shape[1]} columns, got {len(names)} and {len(declared)}."
        )
    for kind in filter(None, declared):
        check_option("factors: kind", kind, Kind)
    kinds: list[Kind] = []
    for i, (name, kind, implied_kind) in enumerate(
        zip(names, declared, implied, strict=True)
    ):
        if implied_kind == "categorical" and kind not in (None, "categorical"):
            raise ValueError(
                f"factors: column {name!r} holds classes without an order, so it "
                f"cannot be {kind}. Give numbers or an ordered category instead."
            )
        kinds.append(kind or implied_kind or _default_kind(values[:, i]))
    return tuple(kinds)


def _read_declared(
    names: Sequence[str], given: Sequence[Kind] | Mapping[str, Kind] | None
) -> list[Kind | None]:
    if not isinstance(given, Mapping):
        return list(given) if given else [None] * len(names)
    for name in given:
        if name not in names:
            raise ValueError(
                f"factors: kinds has {name!r}, which is not a factor."
                f"{suggest(name, names)} The factors are {', '.join(names)}."
            )
    return [given.get(name) for name in names]


def _default_kind(column: NDArray[np.float64]) -> Kind:
    """Return ordinal for few, repeated whole numbers, else continuous."""
    known = column[~np.isnan(column)]
    if (known != np.round(known)).any():
        return "continuous"
    n_values = len(np.unique(known))
    is_sparse = len(known) < _FEWEST_ROWS_PER_CLASS * n_values
    most = _MOST_SPARSE_CLASSES if is_sparse else _MOST_CLASSES
    return "ordinal" if n_values <= most else "continuous"


def is_measured(column: NDArray[np.float64]) -> bool:
    """Return whether values are real numbers that are hardly ever repeated."""
    known = column[~np.isnan(column)]
    if (known == np.round(known)).all():
        return False
    n_values = len(np.unique(known))
    return n_values > min(_MOST_ANGLES, len(known) / 2)
