"""Which model, without labels."""

from ._chance import Chance, chance_agreement, chance_level
from ._evidence import Evidence
from ._lineage import Lineage, Member, has_converged
from ._population_based import first_generation, next_generation
from ._population_scores import (
    AgreementScore,
    MemberScore,
    MetricScore,
    SurrogateScore,
)
from ._population_settings import PopulationSettings, Range
from ._ranking import WEIGHTS, LabelEffect, Ranked, Ranking, rank_models
from ._recursive import (
    Interval,
    LatentSteps,
    RecursionSettings,
    Reduced,
    Reduction,
    ReductionSettings,
    find_intervals,
    find_slabs,
    reduce_images,
)
from ._reproducible import reproducible_latents
from ._surrogate_labels import LabelTable, SurrogateLabels
from ._training_dynamics import (
    DynamicsScore,
    training_dynamics,
    training_dynamics_scores,
)
from ._udr import UDRScores, unsupervised_disentanglement_ranking

__all__ = [
    "WEIGHTS",
    "AgreementScore",
    "Chance",
    "DynamicsScore",
    "Evidence",
    "Interval",
    "LabelEffect",
    "LabelTable",
    "LatentSteps",
    "Lineage",
    "Member",
    "MemberScore",
    "MetricScore",
    "PopulationSettings",
    "Range",
    "Ranked",
    "Ranking",
    "RecursionSettings",
    "Reduced",
    "Reduction",
    "ReductionSettings",
    "SurrogateLabels",
    "SurrogateScore",
    "UDRScores",
    "chance_agreement",
    "chance_level",
    "find_intervals",
    "find_slabs",
    "first_generation",
    "has_converged",
    "next_generation",
    "rank_models",
    "reduce_images",
    "reproducible_latents",
    "training_dynamics",
    "training_dynamics_scores",
    "unsupervised_disentanglement_ranking",
]
