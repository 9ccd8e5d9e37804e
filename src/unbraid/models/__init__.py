"""What is learned: autoencoders, what they are made of, and what they are taught."""

from ._autoencoder import Autoencoder
from ._kernel import KernelAugmented
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace
from ._likelihood_file import load_likelihood, save_likelihood
from ._linear_baselines import LinearModel, fit_fast_ica, fit_pca
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
    "LinearModel",
    "Loss",
    "PointMass",
    "fit_fast_ica",
    "fit_pca",
    "load_likelihood",
    "save_likelihood",
]
