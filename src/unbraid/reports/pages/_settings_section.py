"""The last part of a page: settings and versions."""

import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from unbraid.foundation import write_yaml
from unbraid.studies import RunRecord, Study

from ._page import Section, Table, Words


def settings_section(study: Study, runs: Sequence[RunRecord]) -> Section:
    """The study in its own words, and what it ran with.

    Args:
        study: What was to be done.
        runs: Its runs, none before it has begun.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for run in runs:
        versions = run.status.get("versions", {})
        seen.update((str(name), str(version)) for name, version in versions.items())
    text = write_yaml(study.to_plain())
    return Section(
        title="Settings and versions",
        blocks=(Words(title="study.yaml", text=text), versions_of(seen)),
    )


def versions_of(seen: Counter[tuple[str, str]]) -> Table:
    """Versions by how many runs they trained, and those of this page."""
    rows = [
        (name, number_of, f"{count} {'run' if count == 1 else 'runs'}")
        for (name, number_of), count in sorted(seen.items())
    ]
    now = {"unbraid": version("unbraid"), "Python": platform.python_version()}
    rows += [(name, number_of, "this page") for name, number_of in now.items()]
    return Table(title="Versions", columns=("of", "version", "where"), rows=(*rows,))
