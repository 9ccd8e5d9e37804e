"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset, Kind
from ._factor_space import FactorSpace
from .synthetic._xy_squares import XYSquares

__all__ = [
    "AbstractDataset",
    "AbstractFactorDataset",
    "FactorSpace",
    "Kind",
    "XYSquares",
]
