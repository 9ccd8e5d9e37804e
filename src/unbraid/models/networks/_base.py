"""Base class of networks: settings from which an encoder and a decoder are built."""

import abc
from typing import Literal

from torch import nn

Initialization = Literal["glorot_uniform", "glorot_normal", "torch"]


class AbstractNetwork(abc.ABC):
    """Settings of an encoder and a decoder, for any image shape that they support.

    To write one, subclass this as a frozen dataclass with these two methods. Weights
    are initialized by torch's global generator, which the caller has seeded.
    """

    @abc.abstractmethod
    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return a network from ``(batch, *image_shape)`` to ``(batch, n_outputs)``."""

    @abc.abstractmethod
    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a network from ``(batch, n_latents)`` to ``(batch, *image_shape)``."""


def initialize(module: nn.Module, method: Initialization) -> nn.Module:
    """Initialize the weights of all layers, and set their biases to zero.

    Args:
        module: Module to initialize, changed in place.
        method: ``"glorot_uniform"``, ``"glorot_normal"`` (also called Xavier), or
            ``"torch"`` to keep the initial weights of torch.

    Returns:
        The same module.
    """
    fills = {
        "glorot_uniform": nn.init.xavier_uniform_,
        "glorot_normal": nn.init.xavier_normal_,
    }
    if method == "torch":
        return module
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            fills[method](layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return module
