"""How strong a regularization the data can bear."""

import math

import numpy as np
from scipy.sparse.linalg import svds

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import check_integer, numpy_generator
from unbraid.models import Gaussian

_ROWS, _FEWEST_ROWS = 2_000, 200
_MOST_NUMBERS = 25_000_000
"""Numbers in all images that are looked at, to save memory."""

# Pixels that are nearly always black or white would count without bound.
_LEAST_VARIANCE = 0.01


def bearable_strength(dataset: AbstractDataset, n_latents: int = 3) -> float:
    r"""Strength of regularization at which fewer than ``n_latents`` latents survive.

    In a linear VAE with noise of covariance :math:`\Sigma`, a latent survives if the
    variance that it explains, in units of the noise, exceeds :math:`\beta`. So with
    :math:`k` = ``n_latents``, the :math:`k`-th largest eigenvalue of the data's
    covariance in these units,

    .. math:: \lambda_k \bigl( \Sigma^{-1/2} \operatorname{Cov}(x) \Sigma^{-1/2} \bigr),

    is the strength from which on at most :math:`k - 1` latents survive. It is the scale
    on which strengths are comparable between datasets. The largest eigenvalue is not:
    a single dominating factor, such as the brightness of the whole image, can raise it
    far above the others. The noise is that of the default likelihood: :math:`p (1 - p)`
    for a pixel with mean :math:`p` (Bernoulli), at least 0.01, and one half for vectors
    (Gaussian).

    Args:
        dataset: Images or vectors, of which up to 2,000 are looked at.
        n_latents: Number :math:`k` of the eigenvalue, counted from 1, the largest.

    Returns:
        The eigenvalue, at least 0; 0 if there are fewer images or values per image
        than ``n_latents``.

    Example:
        >>> from unbraid.data import XYSquares
        >>> small = XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)
        >>> round(bearable_strength(small), 1)
        1.0

    References:
        Lucas, Tucker, Grosse and Norouzi (2019), Don't Blame the ELBO! A Linear VAE
        Perspective on Posterior Collapse, section 4. https://arxiv.org/abs/1911.02469
    """
    check_integer("n_latents", n_latents, least=1)
    generator = numpy_generator(0, "bearable strength")
    n_numbers = math.prod(dataset.image_shape)
    n_rows = min(len(dataset), _ROWS, max(_FEWEST_ROWS, _MOST_NUMBERS // n_numbers))
    rows = np.sort(generator.choice(len(dataset), n_rows, replace=False))
    values = float_images(dataset, rows).numpy().reshape(n_rows, -1).astype(np.float64)
    mean = values.mean(axis=0)
    if len(dataset.image_shape) == 3:
        noise = np.maximum(mean * (1 - mean), _LEAST_VARIANCE)
    else:
        noise = np.full_like(mean, Gaussian().variance)
    centered = (values - mean) / np.sqrt(noise)
    rank = min(centered.shape)
    if rank < n_latents or not centered.any():
        return 0.0
    if rank <= n_latents + 1:
        singular = np.linalg.svd(centered, compute_uv=False)
    else:
        # Not a constant start: centered rows are orthogonal to it.
        start = generator.standard_normal(rank)
        found = svds(centered, n_latents, v0=start, return_singular_vectors=False)
        singular = np.sort(np.asarray(found))[::-1]
    return float(singular[n_latents - 1] ** 2 / n_rows)
