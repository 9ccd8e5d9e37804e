"""Geometry of data and of latent space: manifolds, GeoManCEr and kernels."""

from ._alignment_error import alignment_error
from ._bottom_eigenpairs import bottom_eigenpairs
from ._connection_laplacian import connection_laplacian, traceless_basis
from ._cost_estimate import CostEstimate, geomancer_cost
from ._discrepancy import (
    discrepancy_matrix,
    median_distance,
    squared_maximum_mean_discrepancy,
)
from ._entangling import (
    EmpiricalMarginal,
    EntanglingMap,
    dense_rotation,
    empirical_marginals,
    random_rotation,
)
from ._geomancer import Geomancer
from ._geomancer_inputs import check_points
from ._intrinsic_dimension import intrinsic_dimension
from ._joint_diagonalization import joint_diagonalizers
from ._joint_embedding import JointEmbedding, joint_embedding
from ._manifolds import (
    ManifoldSample,
    product_manifold,
    rotation_group,
    sphere,
    torus,
)
from ._multislice_kernel import MultisliceKernel, multislice_kernel
from ._potential_embedding import (
    PotentialEmbedding,
    diffusion_entropy,
    potential_embedding,
)
from ._tangents import tangent_spaces

__all__ = [
    "CostEstimate",
    "EmpiricalMarginal",
    "EntanglingMap",
    "Geomancer",
    "JointEmbedding",
    "ManifoldSample",
    "MultisliceKernel",
    "PotentialEmbedding",
    "alignment_error",
    "bottom_eigenpairs",
    "check_points",
    "connection_laplacian",
    "dense_rotation",
    "diffusion_entropy",
    "discrepancy_matrix",
    "empirical_marginals",
    "geomancer_cost",
    "intrinsic_dimension",
    "joint_diagonalizers",
    "joint_embedding",
    "median_distance",
    "multislice_kernel",
    "potential_embedding",
    "product_manifold",
    "random_rotation",
    "rotation_group",
    "sphere",
    "squared_maximum_mean_discrepancy",
    "tangent_spaces",
    "torus",
    "traceless_basis",
]
