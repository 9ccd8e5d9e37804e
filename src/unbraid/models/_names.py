"""Every record that a model is made from, by name."""

from collections.abc import Mapping

from unbraid.foundation import Joined

from ._likelihood_names import LIKELIHOODS
from ._schedules import SCHEDULES
from .networks import NETWORKS
from .objectives import OBJECTIVES

__all__ = ["LIKELIHOODS", "RECORDS"]

# Objectives last: other packages are looked at only for what stands nowhere else.
RECORDS: Mapping[str, type] = Joined[type](NETWORKS, LIKELIHOODS, SCHEDULES, OBJECTIVES)
"""All names in one table: no two kinds of records share one."""
