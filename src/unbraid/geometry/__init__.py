"""Shape of data and of latent space."""

from ._discrepancy import (
    discrepancy_matrix,
    median_distance,
    squared_maximum_mean_discrepancy,
)
from ._distance_matrices import DistanceMatrices, distance_matrices
from ._joint_embedding import JointEmbedding, joint_embedding
from ._losses import LOSSES
from ._multislice_kernel import MultisliceKernel, multislice_kernel
from ._perceived_distance import (
    PerceivedDistance,
    PerceivedDistances,
    perceived_distances,
)
from ._soft_rank import soft_rank, soft_rank_correlation

__all__ = [
    "LOSSES",
    "DistanceMatrices",
    "JointEmbedding",
    "MultisliceKernel",
    "PerceivedDistance",
    "PerceivedDistances",
    "discrepancy_matrix",
    "distance_matrices",
    "joint_embedding",
    "median_distance",
    "multislice_kernel",
    "perceived_distances",
    "soft_rank",
    "soft_rank_correlation",
    "squared_maximum_mean_discrepancy",
]
