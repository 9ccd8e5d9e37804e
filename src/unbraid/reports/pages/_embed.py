"""Figures inside a page: SVG that takes the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from ._page import Frame, Picture, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RESOLUTION = 144
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_GROUP_NAME = re.compile(r'<g id="[^"]*"')

CANNOT_DRAW = (ArithmeticError, LookupError, OSError, RuntimeError, ValueError)
"""What goes wrong with data of others: said on the page, in place of the picture."""


def figure_markup(figure: Figure) -> str:
    """A figure as SVG for a page, without a background, with letters as text.

    Black becomes the colour of the page's text, so that one figure serves light and
    dark pages.

    Args:
        figure: Any.
    """
    from matplotlib import rc_context

    for axes in figure.axes:
        axes.patch.set_alpha(0.0)
    file = io.StringIO()
    # Names of parts come from their content, so that equal figures give equal pages.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "unbraid"}):
        figure.savefig(
            file,
            format="svg",
            dpi=_RESOLUTION,
            transparent=True,
            bbox_inches="tight",
            pad_inches=0.03,
            metadata={"Date": None},
        )
    text = file.getvalue()
    text = text[text.index("<svg") :]
    for pattern in (_METADATA, _COMMENT):
        text = pattern.sub("", text)
    # Names that occur in every figure must not occur twice in a page.
    text = _GROUP_NAME.sub("<g", text)
    for part in ("stroke", "fill"):
        text = text.replace(f"{part}: #000000", f"{part}: currentColor")
    return re.sub(r"\n\s*", "\n", text).strip()


def picture(
    title: str,
    figure: Figure,
    *,
    words: str,
    data: pd.DataFrame | None = None,
    file: str = "",
) -> Picture:
    """A figure with what stands around it.

    Args:
        title: What it shows.
        figure: The figure.
        words: How to read it.
        data: Its numbers, or ``None``.
        file: Name of a file for them, without an ending.
    """
    return Picture(
        title=title,
        words=words,
        markup=figure_markup(figure),
        alternative=f"{title}. {words}",
        data=data,
        file=f"{file}.csv",
    )


class Gallery:
    """Pictures and tables that could be drawn, and why others could not."""

    def __init__(self) -> None:
        self.pictures: list[Picture | Table | Frame] = []
        self.missing: list[tuple[str, str]] = []

    def add(
        self, title: str, draw: Callable[[], Picture | Table | Frame | None]
    ) -> None:
        """Draw a picture, or keep the reason why not.

        Args:
            title: What it would show.
            draw: Makes it; ``None`` if there is nothing to show.
        """
        try:
            found = draw()
        except CANNOT_DRAW as error:
            self.missing.append((title, str(error) or type(error).__name__))
            return
        if found is not None:
            self.pictures.append(found)
