"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset
from ._factor_space import FactorSpace
from .synthetic._room3d import Room3D
from .synthetic._xy_squares import XYSquares

__all__ = [
    "AbstractDataset",
    "AbstractFactorDataset",
    "FactorSpace",
    "Room3D",
    "XYSquares",
]
