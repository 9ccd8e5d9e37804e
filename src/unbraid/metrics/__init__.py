"""How good a representation is: arrays in, scores out."""

from ._inputs import Factors
from ._score import Score
from .supervised._mig import mutual_information_gap

__all__ = ["Factors", "Score", "mutual_information_gap"]
