"""Results that are kept, one file of JSON a suite, and the page made of them."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from comparison import HEAD, Comparison

FOLDER = Path(__file__).parent / "results"

INTRODUCTION = """# Side by side

Written by `make bench` from the files in `benchmarks/results`: do not edit. Both sides
do the same work on the same machine, in turn; numbers are medians over rounds. A ratio
says how many times as good unbraid is as its peer (more per second, or less of anything
else): the median over rounds, and the range. The scripts that are
named below say how each is measured, and `benchmarks/README.md` has more results.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """What one suite measured, when, and on what.

    Args:
        name: Of the suite.
        date: Day of the measurement.
        command: What was run.
        about: What is compared, in a sentence or two.
        machine: Processor and number of cores.
        versions: Of unbraid's environment, and of the peer's if it has its own.
        seconds: How long all of it took.
        others: Share of the machine that other processes used meanwhile.
        comparisons: Its lines; none if it failed.
        source: Where the numbers were taken from, if this command did not make them.
        error: Why there are none.
    """

    name: str
    date: str
    command: str
    about: str
    machine: str
    versions: dict[str, str]
    seconds: float
    others: float
    source: str = ""
    comparisons: Sequence[Comparison] = ()
    error: str = ""

    def write(self, folder: Path) -> None:
        """Keep the result in a folder."""
        text = json.dumps(dataclasses.asdict(self), indent=1)
        folder.mkdir(exist_ok=True)
        (folder / f"{self.name}.json").write_text(text + "\n")

    @classmethod
    def read(cls, name: str, folder: Path) -> "Result | None":
        """The result of a suite, if there is one."""
        file = folder / f"{name}.json"
        if not file.exists():
            return None
        plain = json.loads(file.read_text())
        lines = [Comparison(**line) for line in plain.pop("comparisons")]
        return cls(**plain, comparisons=lines)


def page(results: Sequence[Result]) -> str:
    """The page of all results: a table, then a section each."""
    rows = []
    for result in results:
        for line in result.comparisons:
            what, *others, rounds = line.cells()
            rounds = "earlier" if result.source else rounds
            rows.append((f"{result.name}: {what}", *others, rounds))
    failed = [
        f"Not measured: {result.name}, which failed (see there)."
        for result in results
        if result.error
    ]
    parts = [INTRODUCTION, table(HEAD, rows), *failed, *map(section, results)]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(result: Result) -> str:
    """What one suite compares, where and when it was measured."""
    versions = ", ".join(f"{name} {value}" for name, value in result.versions.items())
    if result.source:
        how = f"**measured earlier, from {result.source}**: {result.date}"
        facts = [f"{how}, {result.machine}", versions]
    else:
        facts = [
            f"measured on {result.date} in {result.seconds:.0f} s, {result.machine}; "
            f"other processes used {result.others:.0%} of the machine meanwhile",
            f"`{result.command}`",
            versions,
        ]
    facts += [f"{line.what}: {line.note}" for line in result.comparisons if line.note]
    if result.error:
        facts.append(f"**failed**: {result.error}")
    lines = [f"## {result.name}", "", result.about, ""]
    return "\n".join(lines + [f"- {fact}" for fact in facts if fact])
