"""Images in, a chosen model and its report out."""

from ._configuration import name_configuration
from ._discover import discover
from ._found import Discovery, Latent, Quality
from ._plan import Plan, Rung, Standing
from ._race import RaceObserver

__all__ = [
    "Discovery",
    "Latent",
    "Plan",
    "Quality",
    "RaceObserver",
    "Rung",
    "Standing",
    "discover",
    "name_configuration",
]
