"""Shape of data and of latent space."""

from ._discrepancy import (
    discrepancy_matrix,
    median_distance,
    squared_maximum_mean_discrepancy,
)
from ._joint_embedding import JointEmbedding, joint_embedding
from ._multislice_kernel import MultisliceKernel, multislice_kernel

__all__ = [
    "JointEmbedding",
    "MultisliceKernel",
    "discrepancy_matrix",
    "joint_embedding",
    "median_distance",
    "multislice_kernel",
    "squared_maximum_mean_discrepancy",
]
