"""Shape of data and of latent space."""

from ._alignment_error import alignment_error
from ._bottom_eigenpairs import bottom_eigenpairs
from ._comparisons import (
    compare_factor_choices,
    compare_perceived_distances,
    compare_visibilities,
)
from ._connection_laplacian import connection_laplacian, traceless_basis
from ._cost_estimate import CostEstimate, geomancer_cost
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
    random_rotation,
)
from ._geomancer import Geomancer
from ._geomancer_inputs import checked_points
from ._intrinsic_dimension import intrinsic_dimension
from ._joint_diagonalisation import joint_diagonalisers
from ._joint_embedding import JointEmbedding, joint_embedding
from ._learned_kernel import LearnedLoss, learn_loss
from ._losses import LOSSES
from ._manifolds import (
    ManifoldSample,
    product_manifold,
    rotation_group,
    sphere,
    torus,
)
from ._multislice_kernel import MultisliceKernel, multislice_kernel
from ._perceived_distance import (
    PerceivedDistance,
    PerceivedDistances,
    perceived_distances,
)
from ._soft_rank import soft_rank, soft_rank_correlation
from ._tangents import tangent_spaces
from ._verdict import Verdict, disentanglement_verdicts

__all__ = [
    "LOSSES",
    "CostEstimate",
    "DistanceMatrices",
    "EmpiricalMarginal",
    "EntanglingMap",
    "Geomancer",
    "JointEmbedding",
    "LearnedLoss",
    "ManifoldSample",
    "MultisliceKernel",
    "PerceivedDistance",
    "PerceivedDistances",
    "Verdict",
    "alignment_error",
    "bottom_eigenpairs",
    "checked_points",
    "compare_factor_choices",
    "compare_perceived_distances",
    "compare_visibilities",
    "connection_laplacian",
    "dense_rotation",
    "discrepancy_matrix",
    "disentanglement_verdicts",
    "distance_matrices",
    "empirical_marginals",
    "geomancer_cost",
    "intrinsic_dimension",
    "joint_diagonalisers",
    "joint_embedding",
    "learn_loss",
    "median_distance",
    "multislice_kernel",
    "perceived_distances",
    "product_manifold",
    "random_rotation",
    "rotation_group",
    "soft_rank",
    "soft_rank_correlation",
    "sphere",
    "squared_maximum_mean_discrepancy",
    "tangent_spaces",
    "torus",
    "traceless_basis",
]
