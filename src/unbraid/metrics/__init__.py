"""How good a representation is: arrays in, scores out."""

from ._catalog import METRICS
from ._choose_metrics import choose_metrics
from ._compare import compare
from ._comparison import Comparison, Difference
from ._directions import is_higher_better
from ._encoded import encode_some, encode_traversals
from ._evaluate import evaluate
from ._information import bin_codes, factor_entropies, mutual_information_matrix
from ._inputs import BINS, Factors, read_codes, read_inputs, to_bins
from ._metric import Metric
from ._own_metrics import resolve_metrics
from ._score import Score
from ._scorecard import Scorecard
from ._splits import Split
from ._standardize import standardize
from .downstream._accuracy import downstream_accuracy, statistical_efficiency
from .downstream._clustering import clustering_sample_efficiency
from .downstream._fairness import unfairness
from .downstream._reduced import reduced_downstream_accuracy
from .downstream._strong import strong_generalization_accuracy
from .supervised._analogies import analogy_accuracy
from .supervised._axis_alignment import axis_alignment_ratio
from .supervised._axis_orientation import axis_orientation_ratio
from .supervised._beta_vae import beta_vae_score
from .supervised._block_diagonality import block_diagonality_score
from .supervised._dci import (
    DCI,
    completeness_score,
    dci,
    disentanglement_score,
    informativeness_score,
)
from .supervised._dci_es import DCIES, dci_es
from .supervised._dcimig import dcimig_score
from .supervised._distance_correlation import ground_truth_distance_correlation
from .supervised._equivariance import equivariance_score
from .supervised._explicitness import explicitness_score
from .supervised._factor_vae import factor_vae_score
from .supervised._infoe import infoexplicitness
from .supervised._infomec import infocompactness, infomodularity
from .supervised._irs import interventional_robustness_score
from .supervised._jemmig import joint_entropy_minus_mutual_information_gap
from .supervised._latent_data_correlation import latent_data_correlation
from .supervised._linearity import linearity_ratio
from .supervised._mig import mutual_information_gap
from .supervised._mig_sup import mutual_information_gap_by_latent
from .supervised._modularity import modularity_score
from .supervised._sap import separated_attribute_predictability
from .unsupervised._active_units import active_units
from .unsupervised._elbo import evidence_lower_bound
from .unsupervised._kl import kl_per_latent
from .unsupervised._pairwise_information import pairwise_mutual_information
from .unsupervised._reconstruction_error import reconstruction_error
from .unsupervised._total_correlation import gaussian_total_correlation
from .unsupervised._wasserstein import gaussian_wasserstein_correlation

__all__ = [
    "bin_codes",
    "factor_entropies",
    "mutual_information_matrix",
    "BINS",
    "to_bins",
    "standardize",
    "Comparison",
    "DCI",
    "DCIES",
    "Difference",
    "Factors",
    "METRICS",
    "Metric",
    "Score",
    "Scorecard",
    "Split",
    "active_units",
    "analogy_accuracy",
    "axis_alignment_ratio",
    "axis_orientation_ratio",
    "beta_vae_score",
    "block_diagonality_score",
    "choose_metrics",
    "clustering_sample_efficiency",
    "compare",
    "completeness_score",
    "dci",
    "dci_es",
    "dcimig_score",
    "disentanglement_score",
    "downstream_accuracy",
    "encode_some",
    "encode_traversals",
    "equivariance_score",
    "evaluate",
    "evidence_lower_bound",
    "explicitness_score",
    "factor_vae_score",
    "gaussian_total_correlation",
    "gaussian_wasserstein_correlation",
    "ground_truth_distance_correlation",
    "infocompactness",
    "infoexplicitness",
    "infomodularity",
    "informativeness_score",
    "interventional_robustness_score",
    "joint_entropy_minus_mutual_information_gap",
    "is_higher_better",
    "kl_per_latent",
    "latent_data_correlation",
    "linearity_ratio",
    "modularity_score",
    "mutual_information_gap",
    "mutual_information_gap_by_latent",
    "pairwise_mutual_information",
    "read_codes",
    "read_inputs",
    "reconstruction_error",
    "resolve_metrics",
    "reduced_downstream_accuracy",
    "separated_attribute_predictability",
    "statistical_efficiency",
    "strong_generalization_accuracy",
    "unfairness",
]
