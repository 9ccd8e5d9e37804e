"""Latent traversals that move: one picture per value, there and back."""

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
"""Pixels across a picture; smaller ones are enlarged by a whole number."""


def animate_latent_traversals(
    traversals: LatentTraversals, path: str | os.PathLike[str]
) -> Path:
    """Write a GIF in which every latent moves at once, each in its own picture.

    One column per latent, those that say most first; one row per base point.

    Args:
        traversals: What to show, from :func:`latent_traversals`.
        path: Of the file.

    Returns:
        The path.
    """
    frames = [
        Image.fromarray(_frame(traversals.images[:, :, number]))
        for number in range(traversals.images.shape[2])
    ]
    # Back the way they came, without the two ends twice.
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
    """Pictures ``(n_bases, n_latents, channels, h, w)`` on white, ``(h, w, 3)``."""
    times = max(1, -(-_SMALLEST // images.shape[-1]))
    large = images.repeat(times, axis=-2).repeat(times, axis=-1)
    if large.shape[2] == 1:
        large = large.repeat(3, axis=2)
    edges = ((0, 0), (0, 0), (0, 0), (0, GAP), (0, GAP))
    padded = np.pad(large, edges, constant_values=255)
    n_bases, n_latents, _, height, width = padded.shape
    ordered = padded.transpose(0, 3, 1, 4, 2)
    return ordered.reshape(n_bases * height, n_latents * width, 3)[:-GAP, :-GAP]
