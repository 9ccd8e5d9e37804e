"""What figures of all rooms share: an empty figure, axes and names as text."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST = 36
_FONT = "DejaVu Sans"  # comes with matplotlib, so that figures are alike everywhere


def new_figure(
    size: tuple[float, float], *, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty figure, which shows itself in a notebook and needs no display.

    Args:
        size: Width and height in inches.
        layout: How its parts are arranged.
    """
    return _figure_class()(figsize=size, layout=layout)


def label_of(text: object) -> str:
    r"""A name as a figure can show it: as it is, short, without what has no glyph.

    Example:
        >>> label_of("cost $x$"), label_of("a\u202eb"), len(label_of("long" * 50))
        ('cost \\$x\\$', 'ab', 36)
    """
    # Marks that turn the direction of writing, and other control characters.
    words = "".join(
        letter
        for letter in str(text)
        if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Mn")
    )
    known = _glyphs()
    words = "".join(letter if ord(letter) in known else "\u25a1" for letter in words)
    if len(words) > _LONGEST:
        words = words[: _LONGEST - 1] + "\u2026"
    # Dollars would begin a formula.
    return words.replace("$", r"\$")


def tidy(axes: Axes) -> None:
    """Two of four lines, and small numbers."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())


@cache
def _figure_class() -> type[Figure]:
    # Made here so that only those who draw pay for matplotlib.
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook shows, whether or not pyplot was imported."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=110, bbox_inches="tight")
            return file.getvalue()

    return NotebookFigure
