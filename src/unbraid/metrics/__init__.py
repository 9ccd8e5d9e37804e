"""How good a representation is: arrays in, scores out."""

from ._inputs import Factors
from ._score import Score
from .supervised._axis_alignment import axis_alignment_ratio
from .supervised._axis_orientation import axis_orientation_ratio
from .supervised._distance_correlation import ground_truth_distance_correlation
from .supervised._latent_data_correlation import latent_data_correlation
from .supervised._linearity import linearity_ratio
from .supervised._mig import mutual_information_gap
from .unsupervised._active_units import active_units
from .unsupervised._elbo import evidence_lower_bound
from .unsupervised._kl import kl_per_latent
from .unsupervised._pairwise_information import pairwise_mutual_information
from .unsupervised._reconstruction_error import reconstruction_error
from .unsupervised._total_correlation import gaussian_total_correlation
from .unsupervised._wasserstein import gaussian_wasserstein_correlation

__all__ = [
    "Factors",
    "Score",
    "active_units",
    "axis_alignment_ratio",
    "axis_orientation_ratio",
    "evidence_lower_bound",
    "gaussian_total_correlation",
    "gaussian_wasserstein_correlation",
    "ground_truth_distance_correlation",
    "kl_per_latent",
    "latent_data_correlation",
    "linearity_ratio",
    "mutual_information_gap",
    "pairwise_mutual_information",
    "reconstruction_error",
]
