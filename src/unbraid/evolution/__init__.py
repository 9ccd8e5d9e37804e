"""Population-based training and rPU-VAE, from settings to lineage."""

from ._evolve import Evolved, evolve
from ._generations import first_generation, next_generation
from ._image_reduction import (
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
from ._lineage import Lineage, Member, has_converged
from ._member_job import read_codes, train_member
from ._member_scores import AgreementScore, MemberScore, MetricScore, SurrogateScore
from ._population import Population, delete_generation, is_over, read_lineage
from ._population_plan import PopulationPlan
from ._population_settings import PopulationSettings, Range
from ._recursion import Stage, read_stages
from ._settings import STAGES_OF_A_LEAF, Evolution, EvolvingSettings
from ._surrogate_labels import LabelTable, SurrogateLabels

__all__ = [
    "STAGES_OF_A_LEAF",
    "EvolvingSettings",
    "delete_generation",
    "is_over",
    "read_codes",
    "read_lineage",
    "read_stages",
    "train_member",
    "AgreementScore",
    "Evolution",
    "Evolved",
    "Interval",
    "LabelTable",
    "LatentSteps",
    "Lineage",
    "Member",
    "MemberScore",
    "MetricScore",
    "Population",
    "PopulationPlan",
    "PopulationSettings",
    "Range",
    "RecursionSettings",
    "Reduced",
    "Reduction",
    "ReductionSettings",
    "Stage",
    "SurrogateLabels",
    "SurrogateScore",
    "evolve",
    "find_intervals",
    "find_slabs",
    "first_generation",
    "has_converged",
    "next_generation",
    "reduce_images",
]
