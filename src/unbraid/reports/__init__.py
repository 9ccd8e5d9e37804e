"""Figures, report pages and the latent explorer."""

from unbraid.perception import DistanceMatrices, distance_matrices

from .explorer._explorer import write_explorer
from .explorer._latent_names import read_latent_names
from .figures._animation import animate_latent_traversals
from .figures._cumulative_distances import (
    CumulativeDistances,
    cumulative_distances,
    draw_cumulative_distances,
)
from .figures._distances import draw_distance_matrices
from .figures._dynamics import draw_joint_embedding, draw_trace_embedding
from .figures._factors import (
    FactorLatentMatrices,
    draw_factor_latent_matrices,
    factor_latent_matrices,
)
from .figures._latent_matching import Match, match_latents
from .figures._learned_losses import (
    augmented_traversals,
    draw_kernels,
    draw_loss_learning,
)
from .figures._model import (
    Reconstructions,
    draw_prior_samples,
    draw_reconstructions,
    prior_samples,
    reconstructions,
    worst_reconstructions,
)
from .figures._population import (
    draw_hyperparameters,
    draw_latent_steps,
    draw_lineage,
    lineage_table,
)
from .figures._questions import draw_rank_correlation, draw_total_correlation
from .figures._ranking import (
    RankedSetting,
    draw_agreement,
    draw_ranking,
    rank_settings,
)
from .figures._scatter import LatentScatter, draw_latent_scatter, latent_scatter
from .figures._score_curves import draw_score_curves
from .figures._score_parts import draw_score_parts
from .figures._spectrum import (
    ManifoldSpectrum,
    draw_manifold_spectrum,
    manifold_spectrum,
)
from .figures._study import (
    draw_score_by_strength,
    draw_scores_by_method,
    draw_variance_explained,
    score_by_strength,
)
from .figures._summaries import (
    FactorTraversals,
    LatentTraversals,
    factor_traversals,
    latent_traversals,
)
from .figures._training import TrainingCurves, draw_training_curves, training_curves
from .figures._traversals import draw_factor_traversals, draw_latent_traversals
from .pages._discovery_record import DiscoveryRecord
from .pages._dynamics_block import TrainingPaths
from .pages._training_data import find_training_data
from .pages._write_report import write_report

__all__ = [
    "CumulativeDistances",
    "DiscoveryRecord",
    "DistanceMatrices",
    "FactorLatentMatrices",
    "FactorTraversals",
    "LatentScatter",
    "LatentTraversals",
    "ManifoldSpectrum",
    "Match",
    "RankedSetting",
    "Reconstructions",
    "TrainingCurves",
    "TrainingPaths",
    "animate_latent_traversals",
    "augmented_traversals",
    "cumulative_distances",
    "distance_matrices",
    "draw_agreement",
    "draw_cumulative_distances",
    "draw_distance_matrices",
    "draw_factor_latent_matrices",
    "draw_factor_traversals",
    "draw_hyperparameters",
    "draw_joint_embedding",
    "draw_kernels",
    "draw_latent_scatter",
    "draw_latent_steps",
    "draw_latent_traversals",
    "draw_lineage",
    "draw_loss_learning",
    "draw_manifold_spectrum",
    "draw_prior_samples",
    "draw_rank_correlation",
    "draw_ranking",
    "draw_score_parts",
    "draw_reconstructions",
    "draw_score_by_strength",
    "draw_score_curves",
    "draw_scores_by_method",
    "draw_total_correlation",
    "draw_trace_embedding",
    "draw_training_curves",
    "draw_variance_explained",
    "factor_latent_matrices",
    "factor_traversals",
    "find_training_data",
    "latent_scatter",
    "latent_traversals",
    "lineage_table",
    "manifold_spectrum",
    "match_latents",
    "prior_samples",
    "rank_settings",
    "read_latent_names",
    "reconstructions",
    "score_by_strength",
    "training_curves",
    "worst_reconstructions",
    "write_explorer",
    "write_report",
]
