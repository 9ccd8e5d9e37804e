"""Shape of data and of latent space."""

from ._comparisons import (
    compare_factor_choices,
    compare_perceived_distances,
    compare_visibilities,
)
from ._discrepancy import (
    discrepancy_matrix,
    median_distance,
    squared_maximum_mean_discrepancy,
)
from ._distance_matrices import DistanceMatrices, distance_matrices
from ._entangling import (
    EmpiricalMarginal,
    EntanglingMap,
    dense_rotation,
    empirical_marginals,
)
from ._joint_embedding import JointEmbedding, joint_embedding
from ._learned_kernel import LearnedLoss, learn_loss
from ._losses import LOSSES
from ._multislice_kernel import MultisliceKernel, multislice_kernel
from ._perceived_distance import (
    PerceivedDistance,
    PerceivedDistances,
    perceived_distances,
)
from ._soft_rank import soft_rank, soft_rank_correlation
from ._verdict import Verdict, disentanglement_verdicts

__all__ = [
    "LOSSES",
    "DistanceMatrices",
    "EmpiricalMarginal",
    "EntanglingMap",
    "JointEmbedding",
    "LearnedLoss",
    "MultisliceKernel",
    "PerceivedDistance",
    "PerceivedDistances",
    "Verdict",
    "compare_factor_choices",
    "compare_perceived_distances",
    "compare_visibilities",
    "dense_rotation",
    "discrepancy_matrix",
    "disentanglement_verdicts",
    "distance_matrices",
    "empirical_marginals",
    "joint_embedding",
    "learn_loss",
    "median_distance",
    "multislice_kernel",
    "perceived_distances",
    "soft_rank",
    "soft_rank_correlation",
    "squared_maximum_mean_discrepancy",
]
