"""Baselines without gradients: principal and independent components of pixels."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import numpy_generator

from ._inputs import checked_codes, checked_images, normal_codes
from ._posterior import PointMass

_LEAST_SPREAD = 1e-6
"""Standard deviation, in pixels, below which a component is taken to be constant."""


class LinearModel(nn.Module):
    """Images to codes and back by one matrix each way.

    Args:
        image_shape: Channels, height and width.
        n_latents: Length of a code.
    """

    centre: torch.Tensor
    encoding: torch.Tensor
    decoding: torch.Tensor

    is_variational = False

    def __init__(self, image_shape: tuple[int, ...], n_latents: int) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        self.n_latents = n_latents
        n_pixels = math.prod(image_shape)
        self.register_buffer("centre", torch.zeros(n_pixels))
        self.register_buffer("encoding", torch.zeros(n_pixels, n_latents))
        self.register_buffer("decoding", torch.zeros(n_latents, n_pixels))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Reconstructions of images."""
        return self.decode(self.encode(images).mean)

    def encode(self, images: torch.Tensor) -> PointMass:
        """Codes of images ``(batch, *image_shape)``."""
        images = checked_images(images, self.image_shape, network=self)
        return PointMass((images.flatten(1) - self.centre) @ self.encoding)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Images ``(batch, *image_shape)`` of codes ``(batch, n_latents)``.

        Pixels may lie a little outside of 0 to 1.
        """
        codes = checked_codes(codes, self.n_latents, network=self)
        pixels = codes @ self.decoding + self.centre
        return pixels.unflatten(1, self.image_shape)

    def sample(self, n: int, *, generator: torch.Generator) -> torch.Tensor:
        """Images ``(n, *image_shape)`` of codes drawn from a standard normal."""
        return self.decode(
            normal_codes(n, self.n_latents, like=self.centre, generator=generator)
        )


def fit_pca(
    dataset: AbstractDataset, *, n_latents: int = 10, n_rows: int = 5_000, seed: int = 0
) -> LinearModel:
    """Principal components of the pixels, each of variance one.

    Args:
        dataset: Its labels are not looked at.
        n_latents: Components, from those that explain most.
        n_rows: Images to look at, drawn at random; all if there are not more.
        seed: Of the draw.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit_pca(squares, n_latents=4)
        >>> model.encode(torch.zeros(2, 3, 8, 8)).mean.shape
        torch.Size([2, 4])

    References:
        Jolliffe (2002), Principal Component Analysis, chapter 2.
    """
    pixels = _draw_pixels(dataset, n_rows, seed)
    encoding, decoding = _principal_axes(pixels, n_latents, seed)
    return _filled(dataset, pixels.mean(axis=0), encoding, decoding)


def fit_fast_ica(
    dataset: AbstractDataset,
    *,
    n_latents: int = 10,
    n_rows: int = 5_000,
    seed: int = 0,
) -> LinearModel:
    """Independent components of the pixels, each of variance one.

    Principal components are rotated until each on its own is as far from a normal
    distribution as it can be.

    Args:
        dataset: Its labels are not looked at.
        n_latents: Components.
        n_rows: Images to look at, drawn at random; all if there are not more.
        seed: Of the draw and of the first rotation.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit_fast_ica(squares, n_latents=2)
        >>> model.decode(torch.zeros(1, 2)).shape
        torch.Size([1, 3, 8, 8])

    References:
        Hyvarinen (1999), Fast and Robust Fixed-Point Algorithms for Independent
        Component Analysis. https://doi.org/10.1109/72.761722
    """
    pixels = _draw_pixels(dataset, n_rows, seed)
    centre = pixels.mean(axis=0)
    encoding, decoding = _principal_axes(pixels, n_latents, seed)
    rotation = _independent_axes((pixels - centre) @ encoding, seed)
    # A rotation: its inverse is its transpose.
    return _filled(dataset, centre, encoding @ rotation.T, rotation @ decoding)


def _draw_pixels(
    dataset: AbstractDataset, n_rows: int, seed: int
) -> NDArray[np.float32]:
    """Images as rows of numbers, as models see them, ``(n, n_pixels)``."""
    rows = np.arange(len(dataset))
    if n_rows < len(rows):
        generator = numpy_generator(seed, "rows of a linear model")
        rows = generator.choice(len(dataset), n_rows, replace=False)
    return float_images(dataset, rows).flatten(1).numpy()


def _principal_axes(
    pixels: NDArray[np.float32], n_latents: int, seed: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Matrices from centred pixels to components of variance one, and back."""
    n_most = min(pixels.shape)
    if not 1 <= n_latents <= n_most:
        raise ValueError(
            f"n_latents must be between 1 and {n_most}, the number of images or of "
            f"pixels, whichever is smaller, got {n_latents}."
        )
    from sklearn.decomposition import PCA

    random_state = _sklearn_seed(seed, "principal components")
    pca = PCA(n_latents, random_state=random_state).fit(pixels)
    components = np.asarray(pca.components_)
    spread = np.sqrt(pca.explained_variance_)
    # What does not vary has code 0, where dividing would blow up rounding errors.
    inverse = np.where(spread > _LEAST_SPREAD, 1 / spread.clip(_LEAST_SPREAD), 0.0)
    return components.T * inverse, components * spread[:, None]


def _independent_axes(
    whitened: NDArray[np.floating], seed: int
) -> NDArray[np.floating]:
    """Rotation of whitened data to independent components, one in each row."""
    from sklearn.decomposition import FastICA

    random_state = _sklearn_seed(seed, "independent components")
    ica = FastICA(max_iter=1_000, random_state=random_state)
    # A principal component that does not vary would break scikit-learn's whitening.
    return np.asarray(ica.set_params(whiten=False).fit(whitened).components_)


def _filled(
    dataset: AbstractDataset,
    centre: NDArray[np.floating],
    encoding: NDArray[np.floating],
    decoding: NDArray[np.floating],
) -> LinearModel:
    model = LinearModel(dataset.image_shape, encoding.shape[1])
    model.centre.copy_(torch.from_numpy(centre))
    model.encoding.copy_(torch.from_numpy(encoding))
    model.decoding.copy_(torch.from_numpy(decoding))
    return model


def _sklearn_seed(seed: int, name: str) -> int:
    return int(numpy_generator(seed, name).integers(2**32))
