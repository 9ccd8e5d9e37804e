"""Every record that a model is made from, by name, and objectives from names."""

from collections.abc import Mapping
from typing import Any

from unbraid.foundation import Joined, make_record

from ._likelihood_names import LIKELIHOODS
from ._schedules import SCHEDULES
from .networks import NETWORKS
from .objectives import OBJECTIVES, AbstractObjective

__all__ = ["LIKELIHOODS", "RECORDS", "choose_objective"]

# Objectives last: other packages are looked at only for what stands nowhere else.
RECORDS: Mapping[str, type] = Joined[type](NETWORKS, LIKELIHOODS, SCHEDULES, OBJECTIVES)
"""All names in one table: no two kinds of records share one."""


def choose_objective(
    wanted: AbstractObjective | str, options: Mapping[str, Any] | None = None
) -> AbstractObjective:
    """An objective from its name and options; an objective is returned as it is.

    Example:
        >>> choose_objective("beta_vae", {"beta": 6.0})
        BetaVAE(scale='sum', beta=6.0)
    """
    if isinstance(wanted, AbstractObjective):
        return wanted
    return make_record(wanted, options or {}, OBJECTIVES)
