"""What is learned: autoencoders, what they are made of, and what they are taught."""

from ._autoencoder import Autoencoder
from ._kernel import KernelAugmented
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace
from ._loss import Loss
from ._posterior import DiagonalGaussian, PointMass

__all__ = [
    "AbstractLikelihood",
    "Autoencoder",
    "Bernoulli",
    "DiagonalGaussian",
    "Gaussian",
    "KernelAugmented",
    "Laplace",
    "Loss",
    "PointMass",
]
