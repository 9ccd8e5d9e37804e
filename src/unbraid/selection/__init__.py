"""Choosing models without labels."""

from ._chance import (
    Chance,
    chance_agreement,
    chance_level,
    levels_of_chance,
    rotated_pairs,
)
from ._compared_training import ComparedTraining, compare_training, dynamics_pairs
from ._evidence import Evidence
from ._jacobian_contrast import jacobian_contrast
from ._label_free_scores import SCORES, LabelFreeScore, label_free_scores
from ._measure_evidence import measure_evidence
from ._model_centrality import CentralityScores, model_centrality
from ._pipe import pipe_score
from ._ranking import WEIGHTS, rank_models
from ._ranking_records import SCORE_NAMES, LabelEffect, Ranked, Ranking
from ._reproducible import reproducible_latents
from ._run_scores import ScoredRun
from ._self_mig import self_mig
from ._sensitivity import VARIED, dynamics_sensitivity
from ._standardized_agreement import standardized_agreement
from ._training_dynamics import (
    DynamicsScore,
    training_dynamics,
    training_dynamics_scores,
)
from ._udr import (
    UDRScores,
    median_over_partners,
    unsupervised_disentanglement_ranking,
)
from ._uncertainty import Spread, estimate_spread

__all__ = [
    "SCORES",
    "SCORE_NAMES",
    "VARIED",
    "WEIGHTS",
    "CentralityScores",
    "Chance",
    "ComparedTraining",
    "DynamicsScore",
    "Evidence",
    "LabelEffect",
    "LabelFreeScore",
    "Ranked",
    "Ranking",
    "ScoredRun",
    "Spread",
    "UDRScores",
    "chance_agreement",
    "chance_level",
    "compare_training",
    "dynamics_pairs",
    "dynamics_sensitivity",
    "estimate_spread",
    "jacobian_contrast",
    "label_free_scores",
    "levels_of_chance",
    "measure_evidence",
    "median_over_partners",
    "model_centrality",
    "pipe_score",
    "rank_models",
    "reproducible_latents",
    "rotated_pairs",
    "self_mig",
    "standardized_agreement",
    "training_dynamics",
    "training_dynamics_scores",
    "unsupervised_disentanglement_ranking",
]
