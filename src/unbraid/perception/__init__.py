"""How far apart images look: perceived distances, learned losses and verdicts."""

from ._comparisons import (
    compare_factor_choices,
    compare_perceived_distances,
    compare_visibilities,
)
from ._distance_matrices import DistanceMatrices, distance_matrices, require_grid
from ._labeled_pairs import AbstractLabeledRows, labeled_rows
from ._learned_features import learn_features
from ._learned_kernel import learn_loss
from ._losses import LOSSES, ImageLoss, choose_loss
from ._perceived_distance import (
    PerceivedDistance,
    PerceivedDistances,
    perceived_distances,
)
from ._soft_rank import soft_rank, soft_rank_correlation
from ._train_distance import LearnedLoss
from ._verdict import Verdict, disentanglement_verdicts

__all__ = [
    "require_grid",
    "ImageLoss",
    "choose_loss",
    "AbstractLabeledRows",
    "DistanceMatrices",
    "LOSSES",
    "LearnedLoss",
    "PerceivedDistance",
    "PerceivedDistances",
    "Verdict",
    "compare_factor_choices",
    "compare_perceived_distances",
    "compare_visibilities",
    "disentanglement_verdicts",
    "distance_matrices",
    "labeled_rows",
    "learn_features",
    "learn_loss",
    "perceived_distances",
    "soft_rank",
    "soft_rank_correlation",
]
