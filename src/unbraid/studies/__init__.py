"""Many runs: described in one file, computed on one machine or a cluster."""

from ._conduct import StudyEnd, fingerprints_of, retry_failed, run_study
from ._estimate import Cost, Estimate, estimate, measure_run
from ._presets import PRESETS, Preset, preset
from ._preview import Preview, read_preview
from ._prune import Pruned, prune
from ._specification import Evaluation, RunSpec
from ._status import study_status
from ._store import Cell, RunFiles, StudyFolder
from ._sweep import Study, read_study, study_from_plain
from ._table import is_table, save_table, study_table
from ._work import do_run, make_job

__all__ = [
    "fingerprints_of",
    "Cell",
    "RunFiles",
    "is_table",
    "do_run",
    "make_job",
    "PRESETS",
    "Cost",
    "Estimate",
    "Evaluation",
    "Preset",
    "Preview",
    "Pruned",
    "RunSpec",
    "Study",
    "StudyEnd",
    "StudyFolder",
    "estimate",
    "preset",
    "measure_run",
    "prune",
    "read_preview",
    "read_study",
    "retry_failed",
    "run_study",
    "save_table",
    "study_from_plain",
    "study_status",
    "study_table",
]
