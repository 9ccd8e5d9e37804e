"""Objectives by name, for settings in files and the command line."""

from unbraid.foundation import Catalog, class_reader
from unbraid.models._likelihood_names import LIKELIHOODS
from unbraid.models._schedules import SCHEDULES
from unbraid.models.networks import NETWORKS

from ._base import AbstractObjective

_RESERVED = ("auto", "change", "own", "run")
"""Names that have another meaning in settings."""


def build_catalog(
    built_in: dict[str, type[AbstractObjective]],
) -> Catalog[type[AbstractObjective]]:
    """Return a catalog of the given objectives and of those of other packages."""
    return Catalog(
        built_in,
        group="unbraid.objectives",
        read=class_reader(AbstractObjective),
        taken={*NETWORKS, *LIKELIHOODS, *SCHEDULES, *_RESERVED},
    )
