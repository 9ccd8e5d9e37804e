"""What is learned: autoencoders, what they are made of, and what they are taught."""

from ._autoencoder import Autoencoder
from ._kernel import KernelAugmented
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace
from ._likelihood_file import load_likelihood, save_likelihood
from ._linear_baselines import LinearModel, fit_fast_ica, fit_pca
from ._loss import Loss
from ._posterior import DiagonalGaussian, PointMass
from ._schedules import (
    SCHEDULES,
    AbstractSchedule,
    Constant,
    Cosine,
    Cyclic,
    Decay,
    Linear,
    Number,
    schedule_ends,
)

__all__ = [
    "SCHEDULES",
    "AbstractLikelihood",
    "AbstractSchedule",
    "Autoencoder",
    "Bernoulli",
    "Constant",
    "Cosine",
    "Cyclic",
    "Decay",
    "DiagonalGaussian",
    "Gaussian",
    "KernelAugmented",
    "Laplace",
    "Linear",
    "LinearModel",
    "Loss",
    "Number",
    "PointMass",
    "fit_fast_ica",
    "fit_pca",
    "load_likelihood",
    "save_likelihood",
    "schedule_ends",
]
