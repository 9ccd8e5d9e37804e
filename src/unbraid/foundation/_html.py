"""Small tables for notebooks."""

import html
from collections.abc import Iterable, Sequence


def html_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    notes: Iterable[str] = (),
) -> str:
    """Return a table as HTML, with all text escaped.

    Args:
        columns: Column headings.
        rows: Cells of each row.
        title: Line above the table.
        notes: Lines below the table.

    Example:
        >>> html_table(["a"], [["<b>"]], title="t").count("&lt;b&gt;")
        1
    """
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    above = f"<p>{html.escape(title)}</p>" if title else ""
    below = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in notes)
    return (
        f"<div>{above}<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}</div>"
    )
