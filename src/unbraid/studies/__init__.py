"""Many runs: described in one file, computed on one machine or a cluster."""

from ._breeding import evolve
from ._conduct import StudyEnd, retry_failed, run_study
from ._estimate import Cost, Estimate, estimate, measure_run
from ._evolution import Evolution
from ._evolve import Evolved
from ._population import Population
from ._population_plan import PopulationPlan
from ._presets import PRESETS, preset
from ._preview import Preview, read_preview
from ._prune import Pruned, prune
from ._recursion import Stage
from ._specification import Evaluation, RunSpec, Training
from ._status import study_status
from ._store import StudyFolder
from ._sweep import Study, read_study, study_from_plain
from ._table import save_table, study_table

__all__ = [
    "PRESETS",
    "Cost",
    "Estimate",
    "Evaluation",
    "Evolution",
    "Evolved",
    "Population",
    "PopulationPlan",
    "Preview",
    "Pruned",
    "RunSpec",
    "Stage",
    "Study",
    "StudyEnd",
    "StudyFolder",
    "Training",
    "estimate",
    "evolve",
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
