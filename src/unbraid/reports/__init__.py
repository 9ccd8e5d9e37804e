"""What to show: numbers first, then figures made of them, then pages."""

from unbraid.geometry import DistanceMatrices, distance_matrices

from ._animation import animate_latent_traversals
from ._cumulative_distances import (
    CumulativeDistances,
    cumulative_distances,
    draw_cumulative_distances,
)
from ._distance_pictures import draw_distance_matrices
from ._dynamics import draw_joint_embedding
from ._explorer import write_explorer
from ._factor_pictures import (
    FactorLatentMatrices,
    draw_factor_latent_matrices,
    factor_latent_matrices,
)
from ._figures import draw_factor_traversals, draw_latent_traversals
from ._html import write_report
from ._latent_matching import Match, match_latents
from ._latent_names import read_latent_names
from ._model_pictures import (
    Reconstructions,
    draw_prior_samples,
    draw_reconstructions,
    prior_samples,
    reconstructions,
)
from ._population_pictures import (
    draw_hyperparameters,
    draw_latent_steps,
    draw_lineage,
    lineage_table,
)
from ._question_pictures import draw_rank_correlation, draw_total_correlation
from ._ranking_pictures import Place, draw_agreement, draw_ranking, rank_settings
from ._scatter import LatentScatter, draw_latent_scatter, latent_scatter
from ._spectrum_picture import (
    ManifoldSpectrum,
    draw_manifold_spectrum,
    manifold_spectrum,
)
from ._study_pictures import (
    draw_score_by_strength,
    draw_scores_by_method,
    draw_variance_explained,
    score_by_strength,
)
from ._summaries import (
    FactorTraversals,
    LatentTraversals,
    factor_traversals,
    latent_traversals,
)
from ._training_pictures import TrainingCurves, draw_training_curves, training_curves

__all__ = [
    "CumulativeDistances",
    "DistanceMatrices",
    "FactorLatentMatrices",
    "FactorTraversals",
    "LatentScatter",
    "LatentTraversals",
    "ManifoldSpectrum",
    "Match",
    "Place",
    "Reconstructions",
    "TrainingCurves",
    "animate_latent_traversals",
    "cumulative_distances",
    "distance_matrices",
    "draw_agreement",
    "draw_cumulative_distances",
    "draw_distance_matrices",
    "draw_factor_latent_matrices",
    "draw_factor_traversals",
    "draw_hyperparameters",
    "draw_joint_embedding",
    "draw_latent_scatter",
    "draw_latent_steps",
    "draw_latent_traversals",
    "draw_lineage",
    "draw_manifold_spectrum",
    "draw_prior_samples",
    "draw_rank_correlation",
    "draw_ranking",
    "draw_reconstructions",
    "draw_score_by_strength",
    "draw_scores_by_method",
    "draw_total_correlation",
    "draw_training_curves",
    "draw_variance_explained",
    "factor_latent_matrices",
    "factor_traversals",
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
    "write_explorer",
    "write_report",
]
