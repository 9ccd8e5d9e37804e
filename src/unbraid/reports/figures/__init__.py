"""Figures: functions that compute numbers, and functions that draw them."""

from ._cumulative_distances import cumulative_of
from ._drawing import label_of, new_figure, show_matrix, tidy
from ._outputs import require_own_figure, save_figure

__all__ = [
    "cumulative_of",
    "label_of",
    "new_figure",
    "show_matrix",
    "tidy",
    "require_own_figure",
    "save_figure",
]
