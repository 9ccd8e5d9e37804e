"""What a page holds, as plain records, and how it becomes HTML."""

import base64
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

import pandas as pd

from unbraid.reports.explorer._explorer_page import script_hash

_HALF_PAGE = 470.0  # points
_MOST_COLUMNS, _HALF_ROW = 6, 60  # of a table that fits into half a page; letters
_TURNING = {
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *(0x200E, 0x200F, 0x061C),
}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure on a page.

    Attributes:
        title: What it shows.
        words: How to read it.
        markup: The figure as SVG, which is ours and safe.
        alternative: For those who cannot see it.
        data: Its numbers as a table, or ``None``.
        file: Name under which the numbers are saved.
    """

    title: str
    words: str
    markup: str
    alternative: str
    data: pd.DataFrame | None = None
    file: str = ""

    @property
    def link(self) -> str:
        """The numbers as an address that holds them."""
        return "" if self.data is None else csv_link(self.data)

    @property
    def is_wide(self) -> bool:
        """Whether it needs the whole width of a page."""
        width = re.search(r'width="([\d.]+)pt"', self.markup)
        return width is not None and float(width[1]) > _HALF_PAGE


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text and numbers.

    Attributes:
        title: What it lists.
        columns: Names of the columns.
        rows: Cells, numbers ready as text.
        words: How to read it.
        data: More of the same for machines, or ``None``.
        file: Name under which that is saved.
        is_folded: Whether it opens on a click only.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    words: str = ""
    data: pd.DataFrame | None = None
    file: str = ""
    is_folded: bool = False

    @property
    def link(self) -> str:
        """The numbers as an address that holds them."""
        return "" if self.data is None else csv_link(self.data)

    @property
    def is_wide(self) -> bool:
        """Whether it needs the whole width of a page."""
        longest = max((sum(len(str(c)) for c in row) for row in self.rows), default=0)
        return len(self.columns) > _MOST_COLUMNS or longest > _HALF_ROW


@dataclass(frozen=True, kw_only=True)
class Frame:
    """An explorer inside a page, shut off from it.

    Attributes:
        title: What it is.
        words: How to use it.
        document: A whole page, from :func:`~unbraid.reports._explorer.explorer_text`.
    """

    title: str
    words: str
    document: str


@dataclass(frozen=True, kw_only=True)
class Words:
    """Text as it is, such as settings.

    Attributes:
        title: What it is.
        text: With its lines.
    """

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What a reader must know before anything else.

    Attributes:
        level: ``"problem"`` if something went wrong, else ``"note"``.
        title: What, in one sentence.
        items: The cases of it, each a name and words.
    """

    level: Literal["problem", "note"]
    title: str
    items: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page under one heading.

    Attributes:
        title: The heading.
        words: Paragraphs below it.
        blocks: What follows.
    """

    title: str
    words: tuple[str, ...] = ()
    blocks: tuple[Picture | Table | Frame | Words, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """A whole report.

    Attributes:
        kind: What it is about, such as ``"Study"``.
        title: Its name.
        lead: The result in a sentence or two.
        facts: A few numbers, by what they count.
        notices: What must be known first.
        sections: The parts.
    """

    kind: str
    title: str
    lead: str
    facts: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    sections: tuple[Section, ...] = ()


def render(page: Page, *, explorer: str = "") -> str:
    """A page as HTML, all text escaped.

    Args:
        page: What it says.
        explorer: Address of a page with the explorer alone, or empty.
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
    environment.filters["straight"] = straight
    environment.filters["is_number"] = _is_number
    source = files("unbraid.reports.pages") / "report.html.jinja"
    template = environment.from_string(source.read_text(encoding="utf-8"))
    blocks = [block for section in page.sections for block in section.blocks]
    # A frame may run no script that the page around it may not run.
    has_frame = any(isinstance(block, Frame) for block in blocks)
    return template.render(
        page=page,
        explorer=explorer,
        has_frame=has_frame,
        scripts=f"script-src '{script_hash()}'; " if has_frame else "",
    )


def straight(text: str) -> str:
    r"""Without marks that turn the direction of writing, where none can be kept in.

    Example:
        >>> straight("run \u202e1")
        'run 1'
    """
    return "".join(letter for letter in text if ord(letter) not in _TURNING)


def csv_link(data: pd.DataFrame) -> str:
    """A table as an address that holds it.

    Example:
        >>> csv_link(pd.DataFrame({"a": [1]}))
        'data:text/csv;charset=utf-8;base64,YQoxCg=='
    """
    content = data.to_csv(index=False, lineterminator="\n").encode(errors="replace")
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and cell[:1] in "0123456789-+." and cell[-1:].isdigit()
