"""The section of a page with settings and versions."""

import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from unbraid.foundation import write_yaml
from unbraid.studies import RunRecord, Study

from ._page import Preformatted, Section, Table


def settings_section(study: Study, runs: Sequence[RunRecord]) -> Section:
    """Return the section with the study file and the versions it ran with.

    Args:
        study: Study.
        runs: Runs of the study; empty if it has not started.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for run in runs:
        versions = run.status.get("versions", {})
        seen.update((str(name), str(version)) for name, version in versions.items())
    text = write_yaml(study.to_plain())
    return Section(
        title="Settings and versions",
        blocks=(Preformatted(title="study.yaml", text=text), versions_table(seen)),
    )


def versions_table(seen: Counter[tuple[str, str]]) -> Table:
    """Return a table of the versions used by the runs and by this page."""
    rows = [
        (name, number_of, f"{count} {'run' if count == 1 else 'runs'}")
        for (name, number_of), count in sorted(seen.items())
    ]
    now = {"unbraid": version("unbraid"), "Python": platform.python_version()}
    rows += [(name, number_of, "this page") for name, number_of in now.items()]
    return Table(
        title="Versions", columns=("package", "version", "used by"), rows=(*rows,)
    )
