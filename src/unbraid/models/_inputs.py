"""What users hand to a model, checked at its border."""

from typing import Any

import torch

from ._checks import is_whole


def checked_images(
    images: Any, image_shape: tuple[int, ...], *, like: torch.Tensor
) -> torch.Tensor:
    """Images as a model computes with them: bytes are scaled to numbers from 0 to 1.

    Args:
        images: A tensor ``(batch, *image_shape)`` of floats or bytes.
        image_shape: Of the model.
        like: A tensor of the model, which says how many bits its numbers have.
    """
    _check_tensor("encode", "images", images)
    if tuple(images.shape[1:]) != image_shape:
        raise ValueError(
            f"encode: expected images of shape (batch, "
            f"{', '.join(map(str, image_shape))}), got {tuple(images.shape)}."
        )
    if images.is_floating_point():
        return images.to(like.dtype)
    if images.dtype != torch.uint8:
        raise TypeError(
            "encode: expected images of floats from 0 to 1 or of bytes (uint8), got "
            f"{images.dtype}."
        )
    return images.to(like.dtype) * (1 / 255)


def checked_codes(codes: Any, n_latents: int, *, like: torch.Tensor) -> torch.Tensor:
    """Codes as a model computes with them.

    Args:
        codes: A tensor ``(batch, n_latents)``.
        n_latents: Of the model.
        like: A tensor of the model, which says how many bits its numbers have.
    """
    _check_tensor("decode", "codes", codes)
    if codes.ndim != 2 or codes.shape[1] != n_latents:
        raise ValueError(
            f"decode: expected codes of shape (batch, {n_latents}), got "
            f"{tuple(codes.shape)}."
        )
    return codes.to(like.dtype)


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


def _check_tensor(who: str, what: str, given: Any) -> None:
    if not isinstance(given, torch.Tensor):
        raise TypeError(
            f"{who}: expected a tensor of {what}, got {type(given).__name__}. Use "
            "torch.as_tensor."
        )
