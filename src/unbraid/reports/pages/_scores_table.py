"""Table of the scores of one model, and formatting of numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ._page import Table


def scores_table(scores: Mapping[str, Any]) -> Table | None:
    """Return a table of the scores of one model; ``None`` if there are none.

    Args:
        scores: Scores by name, as stored with a run. Each has ``value``, ``variant``,
            ``per_factor``, ``factors_used`` and ``note``.
    """
    if not scores:
        return None
    factors = dict.fromkeys(
        name for part in scores.values() for name in part.get("per_factor", {})
    )
    rows = []
    for name, part in scores.items():
        own = part.get("per_factor", {})
        cells = [number(own.get(factor)) for factor in factors]
        note = ", ".join(filter(None, (part.get("variant"), part.get("note"))))
        used = part.get("factors_used")
        factors_used = "{} of {}".format(*used) if used else ""
        rows.append((name, number(part.get("value")), factors_used, *cells, note))
    columns = ("score", "value", "factors used", *factors, "notes")
    return Table(
        title="Scores",
        columns=columns,
        rows=tuple(rows),
        data=pd.DataFrame(rows, columns=list(columns)),
        file="scores.csv",
    )


def number(value: Any, digits: int = 3) -> str:
    """Format a number for display; a dash if it is missing."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return "\u2013"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if value and not 1e-3 <= abs(value) < 1e4:
        return f"{value:.{digits}g}"
    return f"{value:.{digits}f}"
