"""Datasets: images by index, their factors, and samplers of batches."""

from ._array_files import array_names, read_array
from ._as_dataset import as_dataset
from ._batches import Batch, BatchStream
from ._catalog import DATASETS, PUBLISHED, RENDERED, hidden_path
from ._data_spec import DataSpec, open_dataset
from ._dataset import AbstractDataset, AbstractFactorDataset, Kind
from ._download import RemoteFile, fetch, verify
from ._factor_distance import (
    CyclicKind,
    factor_distance,
    factor_distance_denominator,
)
from ._factor_space import FactorSpace
from ._imperfect_labels import add_label_noise, keep_labels
from ._independent import Independent
from ._labeled_rows import LabeledRows
from ._labels import discrete_factors
from ._open_cached import CachedDataset, open_cached
from ._pairs import PairRule, Pairs
from ._published_statistics import (
    PUBLISHED_STATISTICS,
    PublishedStatistics,
    StatisticsComparison,
    compare_statistics,
    published_statistics,
)
from ._resized import Resized, average_blocks, find_framing, resize_dataset
from ._sampling import AbstractSampler, Companions, Singles
from ._shifts import correlate, hold_out
from ._source_text import describe_source
from ._statistics import ChannelStatistics, channel_statistics
from ._torch_dataset import TorchDataset, float_images
from ._traversals import Traversals, all_rows, traversals_of_table
from ._triplets import Triplets
from ._view_spec import VIEWS, ViewSpec
from ._views import Relabeled, Reweighted, Subset
from .own._image_folder import ImageFolder
from .own._labeled_images import LabeledImages
from .own._picture import Framing
from .own._vectors import Vectors
from .public._cars3d import Cars3D
from .public._celeba import CelebA
from .public._dsprites import DSprites
from .public._mpi3d import MPI3D
from .public._published import AbstractPublishedDataset
from .public._shapes3d import Shapes3D
from .public._smallnorb import SmallNORB
from .public._tiny_imagenet import TinyImageNet
from .synthetic._discs import Discs
from .synthetic._photographs import PhotographCrops
from .synthetic._room3d import Room3D
from .synthetic._rotating_objects import RotatingObjects, render_rotating_object
from .synthetic._scene_drawing import SPRITE_SHAPES, draw_masks, hues, paint
from .synthetic._scenes import SpriteScenes
from .synthetic._sprite_variants import (
    ColoredSprites,
    NoisySprites,
    PictureSprites,
    ScreamSprites,
)
from .synthetic._sprites2d import Sprites2D
from .synthetic._xy_object import XYObject, XYObjectShaded
from .synthetic._xy_squares import XYSquares

__all__ = [
    "array_names",
    "read_array",
    "render_rotating_object",
    "hidden_path",
    "discrete_factors",
    "draw_masks",
    "hues",
    "paint",
    "Traversals",
    "all_rows",
    "traversals_of_table",
    "CachedDataset",
    "open_cached",
    "DATASETS",
    "PUBLISHED",
    "PUBLISHED_STATISTICS",
    "PublishedStatistics",
    "StatisticsComparison",
    "compare_statistics",
    "published_statistics",
    "RENDERED",
    "AbstractDataset",
    "AbstractFactorDataset",
    "AbstractPublishedDataset",
    "AbstractSampler",
    "Batch",
    "BatchStream",
    "Cars3D",
    "CelebA",
    "ChannelStatistics",
    "ColoredSprites",
    "Companions",
    "CyclicKind",
    "DSprites",
    "DataSpec",
    "Discs",
    "FactorSpace",
    "Framing",
    "ImageFolder",
    "Independent",
    "Kind",
    "LabeledImages",
    "LabeledRows",
    "MPI3D",
    "NoisySprites",
    "PairRule",
    "Pairs",
    "PhotographCrops",
    "PictureSprites",
    "Relabeled",
    "RemoteFile",
    "Resized",
    "Reweighted",
    "Room3D",
    "RotatingObjects",
    "ScreamSprites",
    "Shapes3D",
    "Singles",
    "SmallNORB",
    "SPRITE_SHAPES",
    "SpriteScenes",
    "Sprites2D",
    "Subset",
    "TinyImageNet",
    "TorchDataset",
    "Triplets",
    "VIEWS",
    "Vectors",
    "ViewSpec",
    "XYObject",
    "XYObjectShaded",
    "XYSquares",
    "add_label_noise",
    "average_blocks",
    "describe_source",
    "find_framing",
    "resize_dataset",
    "as_dataset",
    "channel_statistics",
    "correlate",
    "factor_distance",
    "factor_distance_denominator",
    "fetch",
    "float_images",
    "hold_out",
    "keep_labels",
    "open_dataset",
    "verify",
]
