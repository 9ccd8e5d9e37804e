"""Helpers for figures: empty figures, axes and labels."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_LENGTH = 36
_FONT = "DejaVu Sans"  # comes with matplotlib, so that figures are alike everywhere


def new_figure(
    size: tuple[float, float], *, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return an empty figure, which notebooks show and which needs no display.

    Args:
        size: Width and height in inches.
        layout: Layout engine of matplotlib, or ``None``.
    """
    return _figure_class()(figsize=size, layout=layout)


def label_of(text: object) -> str:
    r"""Return a text as a short label, without formulas and missing glyphs.

    Example:
        >>> label_of("cost $x$"), label_of("a\u202eb"), len(label_of("long" * 50))
        ('cost \\$x\\$', 'ab', 36)
    """
    # Without marks that change the direction of writing, and control characters.
    label = "".join(
        letter
        for letter in str(text)
        if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Mn")
    )
    known = _glyphs()
    label = "".join(letter if ord(letter) in known else "\u25a1" for letter in label)
    if len(label) > _MAX_LENGTH:
        label = label[: _MAX_LENGTH - 1] + "\u2026"
    # Dollars would begin a formula.
    return label.replace("$", r"\$")


def tidy(axes: Axes) -> None:
    """Remove the top and right lines of axes, and make tick labels small."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())


@cache
def _figure_class() -> type[Figure]:
    # Defined here, so that matplotlib is imported only when something is drawn.
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that notebooks show, whether or not pyplot was imported."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=110, bbox_inches="tight")
            return file.getvalue()

    return NotebookFigure
