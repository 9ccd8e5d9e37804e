"""Recipes: settings that were measured to work well together."""

import math
from dataclasses import dataclass
from typing import Literal

from unbraid.foundation import check_option
from unbraid.models import Decay, Number
from unbraid.models.networks import AbstractNetwork, Dense, Separable, choose_network

RecipeName = Literal["small"]

_SMALL = 3 * 32 * 32
"""Values of the largest image for which layers are not convolutional."""

_NARROW = _SMALL // 4
"""Values of the largest image for which narrow layers suffice."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Settings that a recipe chooses for a shape of images.

    Attributes:
        network: Encoder and decoder.
        learning_rate: Learning rate, which falls to zero at the end of the run.
    """

    network: AbstractNetwork
    learning_rate: Number


def check_recipe(name: str | None) -> str | None:
    """Return a name after checking that it is ``None`` or that of a recipe.

    Raises:
        ValueError: If there is no recipe of this name.
    """
    if name is not None:
        check_option("recipe", name, RecipeName)
    return name


def choose_recipe(name: str, image_shape: tuple[int, ...]) -> Recipe:
    """Return the settings of a recipe.

    ``"small"`` is made for images of 8x8 to 32x32 pixels and for minutes on a CPU: an
    encoder with two dense layers of 128 units (256 for more than 768 values per image),
    a decoder that draws products of rows and columns (:class:`Separable`), and a
    learning rate of 0.001 that falls to zero over the last 30% of the run. Vectors get
    dense layers on both sides. Larger images get a convolutional network and half the
    learning rate. The measurements are in ``docs/recipes.md``.

    Args:
        name: Name of the recipe.
        image_shape: Shape of an image, ``(channels, height, width)``, or of a vector.

    Raises:
        ValueError: If there is no recipe of this name.

    Example:
        >>> choose_recipe("small", (1, 16, 16)).network.widths
        (128, 128)
        >>> choose_recipe("small", (3, 64, 64)).learning_rate.value
        0.0005
    """
    check_recipe(name)
    n_values = math.prod(image_shape)
    if n_values > _SMALL:
        network = choose_network("auto", image_shape)
        return Recipe(network=network, learning_rate=Decay(value=5e-4))
    width = 128 if n_values <= _NARROW else 256
    network: AbstractNetwork = Dense(widths=(width, width))
    if len(image_shape) == 3:
        network = Separable(widths=(width, width), n_units=32, rank=16)
    return Recipe(network=network, learning_rate=Decay(value=1e-3))
