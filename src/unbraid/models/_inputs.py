"""Checks of the images and codes that users pass to a model."""

from itertools import chain
from typing import Any

import torch
from torch import nn

from unbraid.foundation import check_integer, check_shape


def check_images(
    images: Any, image_shape: tuple[int, ...], *, network: nn.Module
) -> torch.Tensor:
    """Check images and convert them to the precision of a network.

    Args:
        images: A tensor ``(batch, *image_shape)`` of floats, or of bytes, which are
            scaled to the range from 0 to 1.
        image_shape: Shape of an image of the model.
        network: Network that determines the precision: the encoder.
    """
    _check_tensor("images", images)
    check_shape("images", images, ("batch", *image_shape))
    if images.is_floating_point():
        return _as_precise(images, network)
    if images.dtype != torch.uint8:
        raise TypeError(
            "images must be floats between 0 and 1, or bytes (uint8), got "
            f"{images.dtype}."
        )
    return _as_precise(images.float() * (1 / 255), network)


def check_codes(codes: Any, n_latents: int, *, network: nn.Module) -> torch.Tensor:
    """Check codes and convert them to the precision of a network.

    Args:
        codes: A tensor ``(batch, n_latents)``.
        n_latents: Number of latents of the model.
        network: Network that determines the precision: the decoder.
    """
    _check_tensor("codes", codes)
    check_shape("codes", codes, ("batch", n_latents))
    return _as_precise(codes, network)


def normal_codes(
    n: int, n_latents: int, *, like: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Draw codes ``(n, n_latents)`` from a standard normal.

    Args:
        n: Number of codes, at least 0.
        n_latents: Number of latents.
        like: A tensor of the model, whose device and precision the codes get.
        generator: Source of randomness.
    """
    check_integer("n", n, least=0)
    return like.new_empty(n, n_latents).normal_(generator=generator)


def _as_precise(numbers: torch.Tensor, network: nn.Module) -> torch.Tensor:
    weight = next(chain(network.parameters(), network.buffers()), numbers)
    return numbers.to(weight.dtype) if weight.is_floating_point() else numbers


def _check_tensor(name: str, value: Any) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} must be a tensor, got {type(value).__name__}. Use torch.as_tensor."
        )
