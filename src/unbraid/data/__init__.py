"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset
from ._factor_distance import factor_distance, factor_distance_denominator
from ._factor_space import FactorSpace
from ._imperfect_labels import add_label_noise, keep_labels
from ._pairs import Pairs
from ._sampling import AbstractSampler, Companions, Singles
from ._shifts import correlate, hold_out
from ._triplets import Triplets
from ._views import Relabelled, Reweighted, Subset
from .synthetic._xy_squares import XYSquares

__all__ = [
    "AbstractDataset",
    "AbstractFactorDataset",
    "AbstractSampler",
    "Companions",
    "FactorSpace",
    "Pairs",
    "Relabelled",
    "Reweighted",
    "Singles",
    "Subset",
    "Triplets",
    "XYSquares",
    "add_label_noise",
    "correlate",
    "factor_distance",
    "factor_distance_denominator",
    "hold_out",
    "keep_labels",
]
