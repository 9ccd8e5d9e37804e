"""Names of all records that define a model."""

from collections.abc import Mapping
from typing import Any

from unbraid.foundation import Joined, make_record

from ._likelihood_names import LIKELIHOODS
from ._schedules import SCHEDULES
from .networks import NETWORKS
from .objectives import OBJECTIVES, AbstractObjective

__all__ = ["LIKELIHOODS", "RECORDS", "choose_objective"]

# Objectives last: other packages are searched only for names not found elsewhere.
RECORDS: Mapping[str, type] = Joined[type](NETWORKS, LIKELIHOODS, SCHEDULES, OBJECTIVES)
"""Networks, likelihoods, schedules and objectives by name; all names are different."""


def choose_objective(
    objective: AbstractObjective | str, options: Mapping[str, Any] | None = None
) -> AbstractObjective:
    """Return an objective, given itself or its name and options.

    Example:
        >>> choose_objective("beta_vae", {"beta": 6.0})
        BetaVAE(scale='sum', beta=6.0)
    """
    if isinstance(objective, AbstractObjective):
        return objective
    return make_record(objective, options or {}, OBJECTIVES)
