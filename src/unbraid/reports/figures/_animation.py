"""Animated latent traversals."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.foundation import atomic_write

from ._drawing import GAP
from ._summaries import LatentTraversals

_MILLISECONDS = 120
_SMALLEST = 64
"""Minimum width of an image in pixels; smaller ones are enlarged by an integer."""


def animate_latent_traversals(
    traversals: LatentTraversals, path: str | os.PathLike[str]
) -> Path:
    """Write a GIF that animates every latent in an image of its own.

    There is one column per latent, in order of decreasing KL divergence, and one row
    per base image.

    Args:
        traversals: Traversals from :func:`latent_traversals`.
        path: Path of the GIF file.

    Returns:
        Path of the GIF file.
    """
    frames = [
        Image.fromarray(_frame(traversals.images[:, :, number]))
        for number in range(traversals.images.shape[2])
    ]
    # And back, without repeating the two ends.
    frames += frames[-2:0:-1]
    target = Path(path)
    with atomic_write(target) as file:
        frames[0].save(
            file,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=_MILLISECONDS,
            loop=0,
        )
    return target


def _frame(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Arrange images ``(n_bases, n_latents, channels, h, w)`` as ``(h, w, 3)``."""
    times = max(1, -(-_SMALLEST // images.shape[-1]))
    large = images.repeat(times, axis=-2).repeat(times, axis=-1)
    if large.shape[2] == 1:
        large = large.repeat(3, axis=2)
    edges = ((0, 0), (0, 0), (0, 0), (0, GAP), (0, GAP))
    padded = np.pad(large, edges, constant_values=255)
    n_bases, n_latents, _, height, width = padded.shape
    ordered = padded.transpose(0, 3, 1, 4, 2)
    return ordered.reshape(n_bases * height, n_latents * width, 3)[:-GAP, :-GAP]
