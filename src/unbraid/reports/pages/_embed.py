"""Embedding figures in a page as SVG."""

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
"""Errors caused by the data; the page shows the message instead of the figure."""


def figure_markup(figure: Figure) -> str:
    """Return a figure as SVG for a page, with a transparent background.

    Text stays text. Black becomes the text color of the page, so that the figure fits
    light and dark pages.

    Args:
        figure: Figure to convert.
    """
    from matplotlib import rc_context

    for axes in figure.axes:
        axes.patch.set_alpha(0.0)
    file = io.StringIO()
    # The ids of parts depend on their content only, so that pages are reproducible.
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
    # Ids that occur in every figure must not occur twice in a page.
    text = _GROUP_NAME.sub("<g", text)
    for part in ("stroke", "fill"):
        text = text.replace(f"{part}: #000000", f"{part}: currentColor")
    return re.sub(r"\n\s*", "\n", text).strip()


def picture(
    title: str,
    figure: Figure,
    *,
    caption: str,
    data: pd.DataFrame | None = None,
    file: str = "",
) -> Picture:
    """Return a figure with title, caption and data for a page.

    Args:
        title: Title of the figure.
        figure: Figure to embed.
        caption: Explanation of how to read it.
        data: Numbers of the figure, or ``None``.
        file: File name for the numbers, without extension.
    """
    return Picture(
        title=title,
        caption=caption,
        markup=figure_markup(figure),
        alternative=f"{title}. {caption}",
        data=data,
        file=f"{file}.csv",
    )


class Gallery:
    """Collects the figures of a section, and the errors of those that failed."""

    def __init__(self) -> None:
        self.pictures: list[Picture | Table | Frame] = []
        self.missing: list[tuple[str, str]] = []

    def add(
        self, title: str, draw: Callable[[], Picture | Table | Frame | None]
    ) -> None:
        """Draw a figure, or record the error.

        Args:
            title: Title for the error message.
            draw: Function that returns the figure, or ``None`` to skip it.
        """
        try:
            block = draw()
        except CANNOT_DRAW as error:
            self.missing.append((title, str(error) or type(error).__name__))
            return
        if block is not None:
            self.pictures.append(block)

    @property
    def explanations(self) -> tuple[str, ...]:
        """One sentence for each figure that could not be drawn."""
        return tuple(f"{title}: not drawn. {why}" for title, why in self.missing)
