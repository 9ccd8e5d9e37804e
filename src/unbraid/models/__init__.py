"""Models: autoencoders, their networks and likelihoods, and training objectives."""

from ._autoencoder import NO_DECODER, Autoencoder
from ._build import build_model
from ._features import FeatureAugmented, Layer, extract_features
from ._kernel import KernelAugmented, pad_kernel, restore_former_settings
from ._likelihood import AbstractLikelihood, Bernoulli, Gaussian, Laplace
from ._likelihood_file import choose_likelihood, load_likelihood, save_likelihood
from ._linear_baselines import LinearModel, fit_fast_ica, fit_pca
from ._loss import Loss
from ._names import LIKELIHOODS, RECORDS, choose_objective
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
    fill_steps,
    schedule_ends,
    value_at,
)

__all__ = [
    "build_model",
    "pad_kernel",
    "restore_former_settings",
    "choose_likelihood",
    "choose_objective",
    "extract_features",
    "fill_steps",
    "value_at",
    "LIKELIHOODS",
    "NO_DECODER",
    "RECORDS",
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
    "FeatureAugmented",
    "Gaussian",
    "KernelAugmented",
    "Laplace",
    "Layer",
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
