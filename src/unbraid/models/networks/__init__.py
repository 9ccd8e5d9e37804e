"""Encoders and decoders for images of any size and for vectors."""

from ._attention import UNet, divide_pixels
from ._base import AbstractNetwork, initialize
from ._components import MONetComponents, SlotDecoder, SlotEncoder
from ._convolutional import Convolutional, Cut, EvenSides
from ._dense import Dense
from ._discriminator import Discriminator
from ._names import NETWORKS, choose_network
from ._published import DisentanglementLibConvolutional, DissertationConvolutional
from ._separable import LineFeatures, ProductDecoder, Separable

__all__ = [
    "Cut",
    "EvenSides",
    "NETWORKS",
    "AbstractNetwork",
    "Convolutional",
    "Dense",
    "Discriminator",
    "DisentanglementLibConvolutional",
    "DissertationConvolutional",
    "LineFeatures",
    "MONetComponents",
    "ProductDecoder",
    "Separable",
    "SlotDecoder",
    "SlotEncoder",
    "UNet",
    "choose_network",
    "divide_pixels",
    "initialize",
]
