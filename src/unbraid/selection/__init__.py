"""Which model, without labels."""

from ._chance import chance_level
from ._evidence import Evidence
from ._ranking import WEIGHTS, LabelEffect, Ranked, Ranking, rank_models
from ._training_dynamics import (
    DynamicsScore,
    training_dynamics,
    training_dynamics_scores,
)
from ._udr import UDRScores, unsupervised_disentanglement_ranking

__all__ = [
    "WEIGHTS",
    "DynamicsScore",
    "Evidence",
    "LabelEffect",
    "Ranked",
    "Ranking",
    "UDRScores",
    "chance_level",
    "rank_models",
    "training_dynamics",
    "training_dynamics_scores",
    "unsupervised_disentanglement_ranking",
]
