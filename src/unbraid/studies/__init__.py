"""Many runs: described in one file, computed on one machine or a cluster."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._estimate import Cost, Estimate, estimate, measure_run
from ._presets import PRESETS, Preset, preset
from ._preview import Preview, read_preview
from ._prune import Pruned, prune
from ._records import RunRecord, read_records
from ._run_files import RunFiles
from ._run_study import StudyResult, fingerprints_of, retry_failed, run_study
from ._specification import Evaluation, RunSpec
from ._status import RunStatus, StudyStatus, study_status
from ._store import Cell, StudyFolder
from ._study_file import read_study, study_from_plain
from ._sweep import Study
from ._table import is_table, make_table, save_table, study_table
from ._work import do_run, make_job

if TYPE_CHECKING:
    from ._select import select_run
    from ._selection import StudySelection

__all__ = [
    "fingerprints_of",
    "Cell",
    "RunFiles",
    "is_table",
    "do_run",
    "make_job",
    "make_table",
    "PRESETS",
    "Cost",
    "Estimate",
    "Evaluation",
    "Preset",
    "Preview",
    "Pruned",
    "RunRecord",
    "RunSpec",
    "RunStatus",
    "Study",
    "StudyFolder",
    "StudyResult",
    "StudySelection",
    "StudyStatus",
    "estimate",
    "preset",
    "measure_run",
    "prune",
    "read_preview",
    "read_records",
    "read_study",
    "retry_failed",
    "run_study",
    "save_table",
    "select_run",
    "study_from_plain",
    "study_status",
    "study_table",
]

# Names are fetched when they are first used: what chooses among runs imports SciPy and
# scikit-learn, which takes seconds, and worker processes only train runs.
_HOMES = {"StudySelection": "._selection", "select_run": "._select"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
