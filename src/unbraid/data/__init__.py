"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._dataset import AbstractDataset, AbstractFactorDataset
from ._download import RemoteFile, fetch, verify
from ._factor_space import FactorSpace
from .public._cars3d import Cars3D
from .public._celeba import CelebA
from .public._dsprites import DSprites
from .public._mpi3d import MPI3D
from .public._published import AbstractPublishedDataset
from .public._shapes3d import Shapes3D
from .public._smallnorb import SmallNORB
from .synthetic._xy_squares import XYSquares

__all__ = [
    "MPI3D",
    "AbstractDataset",
    "AbstractFactorDataset",
    "AbstractPublishedDataset",
    "Cars3D",
    "CelebA",
    "DSprites",
    "FactorSpace",
    "RemoteFile",
    "Shapes3D",
    "SmallNORB",
    "XYSquares",
    "fetch",
    "verify",
]
