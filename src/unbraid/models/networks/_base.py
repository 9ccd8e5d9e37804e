"""What a network is: settings from which an encoder and a decoder are made."""

import abc
from typing import Literal

from torch import nn

Initialization = Literal["glorot_uniform", "glorot_normal", "torch"]


class AbstractNetwork(abc.ABC):
    """Settings of an encoder and a decoder, for any image shape they can take.

    To write one: a frozen dataclass with these two methods. Layers are made with
    torch's global generator, which the caller has seeded.
    """

    @abc.abstractmethod
    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """From ``(batch, *image_shape)`` to ``(batch, n_outputs)``."""

    @abc.abstractmethod
    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """From ``(batch, n_latents)`` to ``(batch, *image_shape)``."""


def initialize(module: nn.Module, how: Initialization) -> nn.Module:
    """Set the weights of all layers, and their biases to zero.

    Args:
        module: Changed in place.
        how: ``"glorot_uniform"``, ``"glorot_normal"`` (also called Xavier), or
            ``"torch"`` to leave what the layers chose.

    Returns:
        The module.
    """
    fills = {
        "glorot_uniform": nn.init.xavier_uniform_,
        "glorot_normal": nn.init.xavier_normal_,
    }
    if how == "torch":
        return module
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            fills[how](layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return module
