"""What is observed: images by index, the factors behind them, and how to draw them."""

from ._batches import Batch, BatchStream
from ._catalogue import PUBLISHED, RENDERED, open_dataset, read_dataset_name
from ._dataset import AbstractDataset, AbstractFactorDataset, Kind
from ._download import RemoteFile, fetch, verify
from ._factor_space import FactorSpace
from ._statistics import ChannelStatistics, channel_statistics
from ._torch_dataset import TorchDataset
from .own._image_folder import ImageFolder
from .own._labelled_images import LabelledImages
from .synthetic._photographs import PhotographCrops
from .synthetic._sprite_variants import (
    ColouredSprites,
    NoisySprites,
    PictureSprites,
    ScreamSprites,
)
from .synthetic._sprites2d import Sprites2D
from .synthetic._xy_object import XYObject, XYObjectShaded
from .synthetic._xy_squares import XYSquares
