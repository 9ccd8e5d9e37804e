"""Report pages of runs, studies and discoveries."""

from ._scores_table import number

__all__ = [
    "number",
]
