"""Baselines without gradients: principal and independent components of pixels."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import numpy_generator

from ._inputs import check_codes, check_images, normal_codes
from ._posterior import PointMass

_LEAST_SPREAD = 1e-6
"""Standard deviation, in units of pixels, below which a component is constant."""


class LinearModel(nn.Module):
    """Model that encodes and decodes images by one matrix each.

    Args:
        image_shape: Channels, height and width.
        n_latents: Number of latents in a code.
    """

    centre: torch.Tensor
    encoding: torch.Tensor
    decoding: torch.Tensor

    is_variational = False
    has_decoder = True

    def __init__(self, image_shape: tuple[int, ...], n_latents: int) -> None:
        super().__init__()
        self.image_shape = tuple(image_shape)
        self.n_latents = n_latents
        n_pixels = math.prod(image_shape)
        self.register_buffer("centre", torch.zeros(n_pixels))
        self.register_buffer("encoding", torch.zeros(n_pixels, n_latents))
        self.register_buffer("decoding", torch.zeros(n_latents, n_pixels))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return reconstructions of images."""
        return self.decode(self.encode(images).mean)

    def encode(self, images: torch.Tensor) -> PointMass:
        """Return the codes of images ``(batch, *image_shape)``."""
        images = check_images(images, self.image_shape, network=self)
        return PointMass((images.flatten(1) - self.centre) @ self.encoding)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the images of codes ``(batch, n_latents)``.

        Pixels may be slightly below 0 or above 1.
        """
        codes = check_codes(codes, self.n_latents, network=self)
        pixels = codes @ self.decoding + self.centre
        return pixels.unflatten(1, self.image_shape)

    def sample(self, n: int, *, generator: torch.Generator) -> torch.Tensor:
        """Draw images ``(n, *image_shape)`` of codes from a standard normal."""
        return self.decode(
            normal_codes(n, self.n_latents, like=self.centre, generator=generator)
        )


def fit_pca(
    dataset: AbstractDataset, *, n_latents: int = 10, n_rows: int = 5_000, seed: int = 0
) -> LinearModel:
    """Fit principal components of the pixels, each scaled to variance 1.

    Args:
        dataset: Images to fit; labels are ignored.
        n_latents: Number of components, those of largest variance.
        n_rows: Number of randomly drawn images to fit; all if there are fewer.
        seed: Seed of the draw.

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
    return _build_model(dataset, pixels.mean(axis=0), encoding, decoding)


def fit_fast_ica(
    dataset: AbstractDataset,
    *,
    n_latents: int = 10,
    n_rows: int = 5_000,
    seed: int = 0,
) -> LinearModel:
    """Fit independent components of the pixels, each scaled to variance 1.

    Principal components are rotated so that each is as far from a normal distribution
    as possible.

    Args:
        dataset: Images to fit; labels are ignored.
        n_latents: Number of components.
        n_rows: Number of randomly drawn images to fit; all if there are fewer.
        seed: Seed of the draw and of the initial rotation.

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
    center = pixels.mean(axis=0)
    encoding, decoding = _principal_axes(pixels, n_latents, seed)
    rotation = _independent_axes((pixels - center) @ encoding, seed)
    # The inverse of a rotation is its transpose.
    return _build_model(dataset, center, encoding @ rotation.T, rotation @ decoding)


def _draw_pixels(
    dataset: AbstractDataset, n_rows: int, seed: int
) -> NDArray[np.float32]:
    """Draw images and return their pixels as rows, ``(n, n_pixels)``."""
    rows = np.arange(len(dataset))
    if n_rows < len(rows):
        generator = numpy_generator(seed, "rows of a linear model")
        rows = generator.choice(len(dataset), n_rows, replace=False)
    return float_images(dataset, rows).flatten(1).numpy()


def _principal_axes(
    pixels: NDArray[np.float32], n_latents: int, seed: int
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return matrices from centered pixels to components of variance 1, and back."""
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
    # The code of a constant component is 0: dividing would amplify rounding errors.
    inverse = np.where(spread > _LEAST_SPREAD, 1 / spread.clip(_LEAST_SPREAD), 0.0)
    return components.T * inverse, components * spread[:, None]


def _independent_axes(
    whitened: NDArray[np.floating], seed: int
) -> NDArray[np.floating]:
    """Return the rotation of whitened data to independent components, as rows."""
    from sklearn.decomposition import FastICA

    random_state = _sklearn_seed(seed, "independent components")
    ica = FastICA(max_iter=1_000, random_state=random_state)
    # scikit-learn's whitening fails for principal components that do not vary.
    return np.asarray(ica.set_params(whiten=False).fit(whitened).components_)


def _build_model(
    dataset: AbstractDataset,
    center: NDArray[np.floating],
    encoding: NDArray[np.floating],
    decoding: NDArray[np.floating],
) -> LinearModel:
    model = LinearModel(dataset.image_shape, encoding.shape[1])
    model.centre.copy_(torch.from_numpy(center))
    model.encoding.copy_(torch.from_numpy(encoding))
    model.decoding.copy_(torch.from_numpy(decoding))
    return model


def _sklearn_seed(seed: int, name: str) -> int:
    return int(numpy_generator(seed, name).integers(2**32))
