"""Images in, a chosen model and its report out."""

from ._budget import Limits
from ._configuration import name_configuration
from ._discover import discover, plan_discovery
from ._discovery import Discovery, FailedRun, Latent, Quality
from ._objectives import read_objectives
from ._plan import Plan, Rung, Standing, read_plan
from ._race import RaceObserver, judge
from ._strength import bearable_strength

__all__ = [
    "Discovery",
    "FailedRun",
    "Latent",
    "Limits",
    "Plan",
    "Quality",
    "RaceObserver",
    "Rung",
    "Standing",
    "bearable_strength",
    "discover",
    "judge",
    "name_configuration",
    "plan_discovery",
    "read_objectives",
    "read_plan",
]
