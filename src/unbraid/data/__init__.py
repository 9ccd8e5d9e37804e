"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset
from ._factor_space import FactorSpace
from .own._image_folder import ImageFolder
from .own._labelled_images import LabelledImages
from .synthetic._xy_squares import XYSquares

__all__ = [
    "AbstractDataset",
    "AbstractFactorDataset",
    "FactorSpace",
    "ImageFolder",
    "LabelledImages",
    "XYSquares",
]
