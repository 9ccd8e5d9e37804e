"""Jacobian contrast: do latents change the image in orthogonal directions?"""

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import check_count, check_finite, numpy_generator
from unbraid.metrics import Score
from unbraid.representation import evaluation_mode

from ._comparable import Coded
from ._model_access import (
    Decoder,
    codes_as_tensor,
    read_active,
    require_methods,
)

_CALLER = "jacobian_contrast"
_SMALLEST = 1e-6
"""Singular values of normalized columns below this are rounding of single precision."""
_MOST_ENTRIES = 2**22
"""Entries of the Jacobians that are in memory at once."""


def jacobian_contrast(
    model: Decoder,
    codes: Coded,
    *,
    n_points: int = 200,
    kl_threshold: float = 0.01,
    seed: int = 0,
) -> Score:
    r"""Deviation of the columns of the decoder's Jacobian from orthogonality.

    With :math:`J` the derivative of the decoded image with respect to the active
    latents and :math:`J_i` its columns,

    .. math::
        \mathbb{E}_z \Bigl[ \sum_i \log \lVert J_i(z) \rVert
        - \tfrac12 \log \det J(z)^\top J(z) \Bigr]

    is 0 if every latent changes the image in a direction of its own, and positive
    otherwise (Hadamard's inequality). Order, scale and monotone transformations of
    single latents do not change it. Columns are exact derivatives and no finite
    differences, computed by differentiating backward twice: one pass of the decoder
    per active latent.

    Args:
        model: Trained model with ``decode``.
        codes: Codes of the model, ``(n_rows, n_latents)``, a tuple of codes and
            log-variances, or a :class:`~unbraid.representation.Representation`.
        n_points: Number of rows, drawn at random, at which the Jacobian is computed;
            all rows if there are fewer.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.
        seed: Seed of the draw.

    Returns:
        Nats from 0, lower is better; 0 with one active latent and NaN with none. Two
        latents with the same effect give a large finite number, because singular
        values of the normalized columns below 1e-6 count as 1e-6. A latent without any
        effect at a point is left out there. ``details`` has ``n_active`` and the
        ``standard_error`` of the mean.

    Raises:
        TypeError: If the model has no ``decode``.
        ValueError: If codes or options are not as above.

    Example:
        >>> from unbraid.models import LinearModel
        >>> model = LinearModel((2,), 2)
        >>> model.decoding[:] = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
        >>> codes = np.random.default_rng(0).normal(size=(50, 2))
        >>> round(jacobian_contrast(model, codes), 4)  # log(2) / 2
        0.3466

    References:
        Gresele, von Kügelgen, Stimper, Schölkopf and Besserve (2021), Independent
        Mechanism Analysis, a New Concept?, section 4 (IMA contrast).
        https://arxiv.org/abs/2106.05200
        Ghosh, Gresele, von Kügelgen, Besserve and Schölkopf (2023), Independent
        Mechanism Analysis and the Manifold Hypothesis, for more pixels than latents.
        https://arxiv.org/abs/2312.13438
    """
    require_methods(_CALLER, model, "decode")
    check_count(f"{_CALLER}: n_points", n_points)
    found = read_active(_CALLER, codes, kl_threshold=kl_threshold)
    if not found.n_active:
        return Score(np.nan, name=_CALLER, seed=seed, note="no active latent")
    rows = numpy_generator(seed, _CALLER).permutation(len(found.codes))[:n_points]
    points = found.codes[np.sort(rows)]
    contrasts = np.concatenate(
        [
            _contrasts(_jacobians(model, part, found.active))
            for part in _split(model, points, found.n_active)
        ]
    )
    return Score(
        contrasts.mean(),
        name=_CALLER,
        details={
            "n_active": found.n_active,
            "standard_error": contrasts.std() / np.sqrt(len(contrasts)),
        },
        seed=seed,
    )


def _split(
    model: Decoder, points: NDArray[np.float64], n_active: int
) -> list[NDArray[np.float64]]:
    """Split points into parts whose Jacobians fit into memory."""
    with evaluation_mode(model), torch.no_grad():
        n_pixels = model.decode(codes_as_tensor(model, points[:1])).numel()
    size = max(_MOST_ENTRIES // (n_pixels * n_active), 1)
    return [points[start : start + size] for start in range(0, len(points), size)]


def _jacobians(
    model: Decoder, codes: NDArray[np.float64], active: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return derivatives of pixels by latents, ``(n_points, n_pixels, n_active)``.

    A decoder treats the images of a batch independently, so that one pass with the
    same tangent for every point gives one column of every point's Jacobian.
    """
    columns = []
    with evaluation_mode(model), torch.enable_grad():
        points = codes_as_tensor(model, codes).requires_grad_()
        images = model.decode(points).flatten(1)
        if not images.requires_grad:
            raise ValueError(
                f"{_CALLER}: decode is not a differentiable torch function."
            )
        # The product with the transposed Jacobian is linear in its other factor, so
        # that its derivative is the product with the Jacobian.
        weights = torch.zeros_like(images, requires_grad=True)
        (product,) = torch.autograd.grad(images, points, weights, create_graph=True)
        for latent in active:
            tangent = torch.zeros_like(points)
            tangent[:, latent] = 1.0
            (column,) = torch.autograd.grad(
                product, weights, tangent, retain_graph=True
            )
            columns.append(column.double().cpu().numpy())
    return np.stack(columns, axis=2)


def _contrasts(jacobians: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the contrast at every point, ``(n_points,)``."""
    check_finite(f"{_CALLER}: the derivative of decode", jacobians)
    norms = np.linalg.norm(jacobians, axis=1, keepdims=True)
    unit = jacobians / np.where(norms > 0, norms, 1.0)
    grams = unit.transpose(0, 2, 1) @ unit
    # A column of zeros is orthogonal to all others.
    grams += np.eye(grams.shape[1]) * (norms == 0)
    squares = np.linalg.eigvalsh(grams)
    # Zero up to rounding if the columns are orthogonal, never negative.
    return np.maximum(0.0, -0.5 * np.log(squares.clip(_SMALLEST**2)).sum(axis=1))
