"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset
from ._factor_space import FactorSpace
from .synthetic._sprites2d import Sprites2D
from .synthetic._xy_squares import XYSquares

__all__ = [
    "AbstractDataset",
    "AbstractFactorDataset",
    "FactorSpace",
    "Sprites2D",
    "XYSquares",
]
