"""Records for the parts of a report page, and their rendering as HTML."""

import base64
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

import pandas as pd

from unbraid.reports.explorer._explorer_page import script_hash

_HALF_PAGE = 470.0  # points
# Largest table that fits into half a page: columns, and characters per row.
_MOST_COLUMNS, _HALF_ROW = 6, 60
_DIRECTION_MARKS = {
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *(0x200E, 0x200F, 0x061C),
}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure on a page.

    Attributes:
        title: Title of the figure.
        caption: Explanation of how to read it.
        markup: SVG of the figure, which is inserted without escaping.
        alternative: Description for screen readers.
        data: Numbers of the figure as a table, or ``None``.
        file: File name for downloading the numbers.
    """

    title: str
    caption: str
    markup: str
    alternative: str
    data: pd.DataFrame | None = None
    file: str = ""

    @property
    def link(self) -> str:
        """Data URL with the numbers as CSV."""
        return "" if self.data is None else csv_link(self.data)

    @property
    def is_wide(self) -> bool:
        """Whether it needs the full width of a page."""
        width = re.search(r'width="([\d.]+)pt"', self.markup)
        return width is not None and float(width[1]) > _HALF_PAGE


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text and numbers.

    Attributes:
        title: Title of the table.
        columns: Names of the columns.
        rows: Cells of each row, with numbers formatted as strings.
        caption: Explanation of how to read it.
        data: Table to download as CSV, or ``None``.
        file: File name for the download.
        is_folded: Whether the table is collapsed at first.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    data: pd.DataFrame | None = None
    file: str = ""
    is_folded: bool = False

    @property
    def link(self) -> str:
        """Data URL with the numbers as CSV."""
        return "" if self.data is None else csv_link(self.data)

    @property
    def is_wide(self) -> bool:
        """Whether it needs the full width of a page."""
        longest = max((sum(len(str(c)) for c in row) for row in self.rows), default=0)
        return len(self.columns) > _MOST_COLUMNS or longest > _HALF_ROW


@dataclass(frozen=True, kw_only=True)
class Frame:
    """An explorer embedded in a page, isolated from it.

    Attributes:
        title: Title of the explorer.
        caption: Explanation of how to use it.
        document: Complete HTML page, from
            :func:`~unbraid.reports.explorer._explorer.explorer_text`.
    """

    title: str
    caption: str
    document: str


@dataclass(frozen=True, kw_only=True)
class Preformatted:
    """Text shown with its line breaks, such as settings.

    Attributes:
        title: Title of the text.
        text: Text to show.
    """

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A warning or note at the top of a page.

    Attributes:
        level: ``"problem"`` if something went wrong, otherwise ``"note"``.
        title: Message in one sentence.
        items: Name and description of each case.
    """

    level: Literal["problem", "note"]
    title: str
    items: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of a page.

    Attributes:
        title: Heading.
        paragraphs: Text below the heading.
        blocks: Figures, tables and other blocks below the text.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    blocks: tuple[Picture | Table | Frame | Preformatted, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """A report page.

    Attributes:
        kind: Kind of report, such as ``"Study"``.
        title: Title of the page.
        lead: Result in one or two sentences.
        facts: Names and values of the most important numbers.
        notices: Warnings and notes at the top.
        sections: Sections of the page.
    """

    kind: str
    title: str
    lead: str
    facts: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    sections: tuple[Section, ...] = ()


def render(page: Page, *, explorer: str = "") -> str:
    """Return a page as HTML, with all text escaped.

    Args:
        page: Page to render.
        explorer: URL of the explorer as a page of its own; empty for none.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["picture"] = lambda block: isinstance(block, Picture)
    environment.tests["table"] = lambda block: isinstance(block, Table)
    environment.tests["frame"] = lambda block: isinstance(block, Frame)
    environment.filters["without_direction_marks"] = without_direction_marks
    environment.filters["is_number"] = _is_number
    source = files("unbraid.reports.pages") / "report.html.jinja"
    template = environment.from_string(source.read_text(encoding="utf-8"))
    blocks = [block for section in page.sections for block in section.blocks]
    # A frame can run only scripts that the page allows.
    has_frame = any(isinstance(block, Frame) for block in blocks)
    return template.render(
        page=page,
        explorer=explorer,
        has_frame=has_frame,
        scripts=f"script-src '{script_hash()}'; " if has_frame else "",
    )


def without_direction_marks(text: str) -> str:
    r"""Remove Unicode marks that change the direction of text.

    Used where markup cannot confine their effect, such as in titles.

    Example:
        >>> without_direction_marks("run \u202e1")
        'run 1'
    """
    return "".join(letter for letter in text if ord(letter) not in _DIRECTION_MARKS)


def csv_link(data: pd.DataFrame) -> str:
    """Return a data URL with a table as CSV.

    Example:
        >>> csv_link(pd.DataFrame({"a": [1]}))
        'data:text/csv;charset=utf-8;base64,YQoxCg=='
    """
    content = data.to_csv(index=False, lineterminator="\n").encode(errors="replace")
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and cell[:1] in "0123456789-+." and cell[-1:].isdigit()
