"""Every record that a model is made from, by name."""

from ._kernel import KernelAugmented
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace
from ._schedules import SCHEDULES
from .networks import NETWORKS
from .objectives import OBJECTIVES

LIKELIHOODS: dict[str, type[AbstractLikelihood]] = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "kernel_augmented": KernelAugmented,
}

RECORDS: dict[str, type] = {**NETWORKS, **OBJECTIVES, **LIKELIHOODS, **SCHEDULES}
"""All names in one table: no two kinds of records share one."""
