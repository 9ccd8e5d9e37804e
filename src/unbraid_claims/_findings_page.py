"""Writing docs/findings.md from the stored findings."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from unbraid.foundation import (
    atomic_write,
    format_duration,
    read_yaml,
    require_own_file,
)

from ._catalogue import CLAIMS
from ._finding import VERDICTS, Check
from ._run import Finding

_COUNTED = ("do not hold", "cannot be told", "hold")

_HEAD = """# Findings

On this page you can look up which published claims hold on small data. Each claim was
measured with `unbraid reproduce NAME --preset mini`, on small rendered images and with
small networks. This tests the *relations* that a source reports, not its absolute
scores. A claim **holds** if the interval of every number that decides it is inside of
the claimed range, and **does not hold** if one interval is completely outside.
Otherwise it **cannot be told**. Intervals are 95% intervals, over seeds or from
resampled runs. Times are for all models one after another on one core.
`unbraid reproduce --findings docs/findings.md` writes this page from stored results.
"""


# Also recognizes pages of the first version, which start differently.
_STARTS = tuple(
    f"# Findings\n\n{start}".encode() for start in ("On this page", "Published claims")
)


def write_findings(page: str | os.PathLike[str]) -> int:
    """Write a page with all findings of a folder.

    Args:
        page: Path of the page, such as ``findings.md``. The folder ``findings`` next to
            it has ``NAME.json`` and ``NAME.png`` for each claim, and
            ``discussions.yaml`` with two sentences for each claim that does not hold.

    Returns:
        Number of findings.

    Raises:
        ValueError: If a claim that does not hold is not discussed.
        FileNotFoundError: If there are no findings.
    """
    page = Path(page)
    folder = page.with_suffix("")
    found = [Finding.load(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise FileNotFoundError(
            f"There are no findings in {str(folder)!r}. Copy the finding.json of "
            "`unbraid reproduce NAME` there as NAME.json."
        )
    notes = folder / "discussions.yaml"
    text = notes.read_text(encoding="utf-8") if notes.is_file() else "{}"
    discussions = read_yaml(text, str(notes))
    content = findings_page(found, discussions=discussions, figures=folder.name)
    require_own_file(page, lambda old: old.startswith(_STARTS), "a page of findings")
    with atomic_write(page) as file:
        file.write(content.encode())
    return len(found)


def findings_page(
    findings: Sequence[Finding],
    *,
    discussions: Mapping[str, str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> str:
    """Return a page with all findings in Markdown.

    Claims that do not hold come first.

    Args:
        findings: Findings in any order.
        discussions: Reasons why claims do not hold, by the name of the claim.
        figures: Folder with a figure ``NAME.png`` for each claim, relative to the page.
            Default: no figures.

    Raises:
        ValueError: If a claim that does not hold is not discussed.
    """
    discussions = discussions or {}
    order = list(CLAIMS)
    ranked = sorted(
        findings,
        key=lambda found: (VERDICTS.index(found.verdict), order.index(found.name)),
    )
    for found in ranked:
        if found.verdict == "does not hold" and not discussions.get(found.name):
            raise ValueError(
                f"{found.name!r} does not hold, but is not discussed. Write two "
                "sentences about it in discussions.yaml."
            )
    counts = [
        f"{plural}: {sum(found.verdict == verdict for found in ranked)}"
        for verdict, plural in zip(VERDICTS, _COUNTED, strict=True)
    ]
    outdated = [found.name for found in ranked if _is_outdated(found)]
    lines = [_HEAD, f"{len(ranked)} claims; {', '.join(counts)}."]
    if outdated:
        lines += [
            "",
            f"{len(outdated)} of these findings are outdated: the measure has changed "
            "since, and the claim must be measured again. They are marked in the table "
            "and in their sections.",
        ]
    lines += ["", *_overview(ranked)]
    for verdict in VERDICTS:
        some = [found for found in ranked if found.verdict == verdict]
        if some:
            lines += ["", f"## {verdict.capitalize()}"]
        for found in some:
            lines += ["", *_section(found, discussions.get(found.name, ""), figures)]
    return "\n".join(lines) + "\n"


def _is_outdated(found: Finding) -> bool:
    """Return whether the claim has changed since; YYYY-MM-DD sorts as text."""
    return found.day < CLAIMS[found.name].changed


def _overview(findings: Sequence[Finding]) -> list[str]:
    rows = [
        "| claim | source | verdict | seeds | models | time |",
        "|---|---|---|---|---|---|",
    ]
    for found in findings:
        rows.append(
            f"| [{found.name}](#{found.name}) | {_cell(found.source)} | "
            f"{found.verdict}{' (outdated)' if _is_outdated(found) else ''} | "
            f"{found.n_seeds or ''} | {found.n_runs or ''} | "
            f"{format_duration(found.minutes * 60)} |"
        )
    return rows


def _section(
    found: Finding, discussion: str, figures: str | os.PathLike[str] | None
) -> list[str]:
    lines = [f"### {found.name}", "", f"{found.claim} ({found.source})", ""]
    if _is_outdated(found):
        changed = CLAIMS[found.name].changed
        lines += [
            f"**Outdated.** Measured on {found.day}, before the claim was changed on "
            f"{changed}; it must be measured again.",
            "",
        ]
    lines += [
        "| | claimed | measured | interval | verdict |",
        "|---|---|---|---|---|",
        *(_row(check) for check in found.checks),
    ]
    for text in (discussion, found.remark):
        if text:
            lines += ["", text.strip()]
    work = f"{found.n_runs} models, {found.n_seeds} seeds, " if found.n_runs else ""
    lines += [
        "",
        f"*{work}{format_duration(found.minutes * 60)} of one core, {found.day}.*",
    ]
    if figures is not None:
        picture = Path(figures) / f"{found.name}.png"
        lines += ["", f"![{found.name}]({picture.as_posix()})"]
    return lines


def _row(check: Check) -> str:
    interval = ""
    if check.interval:
        low, high = check.interval
        interval = f"{_number(low)} to {_number(high)}"
    return (
        f"| {_cell(check.quantity)} | {_cell(check.expected)} | "
        f"{_number(check.value)} | {interval} | {check.verdict} |"
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else f"{value:.1e}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
