"""docs/findings.md: what was found, from the stored findings, contradictions first."""

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

Published claims, measured by `unbraid reproduce NAME --preset mini` on miniatures:
small rendered images and small networks, so that the *relations* of a source are asked
about and not its levels. A claim **holds** if the interval of every number that it
stands or falls with lies where the claim needs it; it **does not hold** if one lies
wholly elsewhere; otherwise it **cannot be told**. Intervals are at 95 %, over seeds or
by resampling runs. Time is that of all models one after another on one core. The
program writes this page from stored results, with
`unbraid reproduce --findings docs/findings.md`.
"""


def write_findings(page: str | os.PathLike[str]) -> int:
    """Write the page of all findings in the folder of its name.

    Args:
        page: ``findings.md``, beside which the folder ``findings`` holds for each claim
            ``NAME.json`` and ``NAME.png``, and ``discussions.yaml`` with two sentences
            for each claim that does not hold.

    Returns:
        How many there are.

    Raises:
        ValueError: If one does not hold and is not discussed.
        FileNotFoundError: If there are none.
    """
    page = Path(page)
    folder = page.with_suffix("")
    found = [Finding.load(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise FileNotFoundError(
            f"findings: expected files NAME.json in {str(folder)!r}, got none. The "
            "finding.json of `unbraid reproduce NAME` goes there under that name."
        )
    notes = folder / "discussions.yaml"
    text = notes.read_text(encoding="utf-8") if notes.is_file() else "{}"
    discussions = read_yaml(text, str(notes))
    content = findings_page(found, discussions=discussions, figures=folder.name)
    start = _HEAD.split(",")[0].encode()
    require_own_file(page, lambda old: old.startswith(start), "a page of findings")
    with atomic_write(page) as file:
        file.write(content.encode())
    return len(found)


def findings_page(
    findings: Sequence[Finding],
    *,
    discussions: Mapping[str, str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> str:
    """All findings as one page of Markdown.

    Args:
        findings: In any order; shown with contradictions first, then in the order of
            the sources.
        discussions: By name, why a claim did not hold; shown with it.
        figures: Path of the folder of figures, ``NAME.png`` each, as the page should
            link to it; no figures when not given.

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
                f"findings: expected a discussion of {found.name!r}, which does not "
                "hold, got none. Write two sentences about it in discussions.yaml."
            )
    counts = [
        f"{words}: {sum(found.verdict == verdict for found in ranked)}"
        for verdict, words in zip(VERDICTS, _COUNTED, strict=True)
    ]
    outdated = [found.name for found in ranked if _is_outdated(found)]
    lines = [_HEAD, f"{len(ranked)} claims; {', '.join(counts)}."]
    if outdated:
        lines += [
            "",
            f"{len(outdated)} of these findings are outdated: what the claim measures "
            "has changed since, and it must be measured again. They are marked in the "
            "table and in their sections.",
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
    """Whether the claim has changed since; days as YYYY-MM-DD sort as text."""
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
        "| | expected | measured | interval | verdict |",
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
