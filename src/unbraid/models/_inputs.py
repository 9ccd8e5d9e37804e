"""What users hand to a model, checked at its border."""

from itertools import chain
from typing import Any

import torch
from torch import nn

from unbraid.foundation import is_whole


def checked_images(
    images: Any, image_shape: tuple[int, ...], *, network: nn.Module
) -> torch.Tensor:
    """Images as a model computes with them: bytes are scaled to numbers from 0 to 1.

    Args:
        images: A tensor ``(batch, *image_shape)`` of floats or bytes.
        image_shape: Of the model.
        network: What takes them, in the precision of its weights.
    """
    _check_tensor("encode", "images", images)
    if tuple(images.shape[1:]) != image_shape:
        raise ValueError(
            f"encode: expected images of shape (batch, "
            f"{', '.join(map(str, image_shape))}), got {tuple(images.shape)}."
        )
    if images.is_floating_point():
        return _as_precise(images, network)
    if images.dtype != torch.uint8:
        raise TypeError(
            "encode: expected images of floats from 0 to 1 or of bytes (uint8), got "
            f"{images.dtype}."
        )
    return _as_precise(images.float() * (1 / 255), network)


def checked_codes(codes: Any, n_latents: int, *, network: nn.Module) -> torch.Tensor:
    """Codes as a model computes with them.

    Args:
        codes: A tensor ``(batch, n_latents)``.
        n_latents: Of the model.
        network: What takes them, in the precision of its weights.
    """
    _check_tensor("decode", "codes", codes)
    if codes.ndim != 2 or codes.shape[1] != n_latents:
        raise ValueError(
            f"decode: expected codes of shape (batch, {n_latents}), got "
            f"{tuple(codes.shape)}."
        )
    return _as_precise(codes, network)


def normal_codes(
    n: int, n_latents: int, *, like: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Codes ``(n, n_latents)`` drawn from a standard normal.

    Args:
        n: How many, from 0.
        n_latents: Length of a code.
        like: A tensor of the model, which says where and with how many bits.
        generator: Of the draw.
    """
    if not is_whole(n, least=0):
        raise ValueError(f"sample: expected a number of images from 0, got {n!r}.")
    return like.new_empty(n, n_latents).normal_(generator=generator)


def _as_precise(numbers: torch.Tensor, network: nn.Module) -> torch.Tensor:
    weight = next(chain(network.parameters(), network.buffers()), numbers)
    return numbers.to(weight.dtype) if weight.is_floating_point() else numbers


def _check_tensor(who: str, what: str, given: Any) -> None:
    if not isinstance(given, torch.Tensor):
        raise TypeError(
            f"{who}: expected a tensor of {what}, got {type(given).__name__}. Use "
            "torch.as_tensor."
        )
