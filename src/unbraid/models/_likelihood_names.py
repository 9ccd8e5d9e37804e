"""Likelihoods by name."""

from ._features import FeatureAugmented
from ._kernel import KernelAugmented
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace

LIKELIHOODS: dict[str, type[AbstractLikelihood]] = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "laplace": Laplace,
    "kernel_augmented": KernelAugmented,
    "feature_augmented": FeatureAugmented,
}
