"""Which model, without labels."""

from ._chance import Chance, chance_agreement, chance_level
from ._evidence import Evidence
from ._ranking import WEIGHTS, LabelEffect, Ranked, Ranking, rank_models
from ._reproducible import reproducible_latents
from ._training_dynamics import (
    DynamicsScore,
    training_dynamics,
    training_dynamics_scores,
)
from ._udr import UDRScores, unsupervised_disentanglement_ranking

__all__ = [
    "WEIGHTS",
    "Chance",
    "DynamicsScore",
    "Evidence",
    "LabelEffect",
    "Ranked",
    "Ranking",
    "UDRScores",
    "chance_agreement",
    "chance_level",
    "rank_models",
    "reproducible_latents",
    "training_dynamics",
    "training_dynamics_scores",
    "unsupervised_disentanglement_ranking",
]
