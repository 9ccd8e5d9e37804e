"""Many runs: described in one file, computed on one machine or a cluster."""

from ._conduct import StudyEnd, retry_failed, run_study
from ._specification import Evaluation, RunSpec, Training
from ._store import StudyFolder
from ._sweep import Study, read_study, study_from_plain
from ._table import study_table

__all__ = [
    "Evaluation",
    "RunSpec",
    "Study",
    "StudyEnd",
    "StudyFolder",
    "Training",
    "read_study",
    "retry_failed",
    "run_study",
    "study_from_plain",
    "study_table",
]
