"""How good a representation is: arrays in, scores out."""

from ._inputs import Factors
from ._score import Score
from .downstream._accuracy import downstream_accuracy, statistical_efficiency
from .downstream._clustering import clustering_sample_efficiency
from .downstream._fairness import unfairness
from .downstream._reduced import reduced_downstream_accuracy
from .downstream._strong import strong_generalisation_accuracy
from .supervised._mig import mutual_information_gap

__all__ = [
    "Factors",
    "Score",
    "clustering_sample_efficiency",
    "downstream_accuracy",
    "mutual_information_gap",
    "reduced_downstream_accuracy",
    "statistical_efficiency",
    "strong_generalisation_accuracy",
    "unfairness",
]
