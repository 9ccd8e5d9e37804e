"""Multislice kernel: similarity of observations during the training of a network."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import (
    check_finite,
    check_integer,
    check_not_empty,
    check_positive,
    check_shape,
)

_EQUAL = 1e-12
"""Squared distance, relative to the squared norms, that counts as a rounding error."""

_CHUNK = 64
"""Observations whose slices are compared at a time."""


@dataclass(frozen=True, eq=False)
class MultisliceKernel:
    r"""Sparse affinities between all pairs of slice and observation.

    With ``n`` slices (moments of training) and ``m`` observations, the matrix
    :math:`K'` has ``n m`` rows. Only entries between observations of one slice and
    between slices of one observation are not zero, and only these blocks are stored.

    Attributes:
        intraslice: Symmetric affinities within each slice, ``(n, m, m)``.
        interslice: Affinities of each observation with itself in other slices,
            ``(m, n, n)``; 0 on the diagonals, which ``intraslice`` contains.
        degrees: Row sums of :math:`K'`, ``(n, m)``, at least 1.
    """

    intraslice: NDArray[np.floating]
    interslice: NDArray[np.floating]
    degrees: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of slices and number of observations."""
        return self.intraslice.shape[0], self.intraslice.shape[1]

    def diffuse(
        self, vectors: NDArray[np.float64], *, steps: int, transposed: bool = False
    ) -> NDArray[np.float64]:
        r"""Apply :math:`P^t`, or its transpose, to vectors, with :math:`P = D^{-1} K'`.

        Args:
            vectors: Vectors of shape ``(n, m, n_vectors)``.
            steps: Number ``t`` of times that :math:`P` is applied, at least 0.
            transposed: Whether to apply :math:`(P^\top)^t` instead.

        Returns:
            An array of the same shape, in double precision.
        """
        weights = 1.0 / self.degrees[..., None]
        for _ in range(steps):
            if transposed:
                vectors = self._multiply(weights * vectors)
            else:
                vectors = weights * self._multiply(vectors)
        return vectors

    def _multiply(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        interslice = self.interslice.astype(np.float64, copy=False)
        across = interslice @ vectors.transpose(1, 0, 2)
        product = np.ascontiguousarray(across.transpose(1, 0, 2))
        # One slice at a time, so that no single-precision kernel is copied.
        for total, block, part in zip(product, self.intraslice, vectors, strict=True):
            total += block.astype(np.float64, copy=False) @ part
        return product


def multislice_kernel(
    activations: NDArray[np.floating],
    *,
    n_neighbors: int = 5,
    n_slice_neighbors: int = 5,
    decay: float = 2.0,
    slice_bandwidth: float | None = None,
    precision: Literal["double", "single"] = "double",
) -> MultisliceKernel:
    r"""Multislice kernel of the activations of a network during training.

    Two observations in one slice are similar if the network responds to them similarly.
    An observation in one slice is similar to itself in another slice if the response
    has changed little. With :math:`T(\tau, i)` the response to observation ``i`` in
    slice :math:`\tau`,

    .. math::
        K((\tau, i), (\tau, j)) &= \exp\bigl(-(\lVert T(\tau, i) - T(\tau, j) \rVert
        / \sigma_{\tau, i})^\alpha\bigr) \\
        K((\tau, i), (\nu, i)) &= \exp\bigl(-\lVert T(\tau, i) - T(\nu, i) \rVert^2
        / \epsilon^2\bigr) \\
        K' &= (K + K^\top) / 2

    and 0 elsewhere. :math:`\sigma_{\tau, i}` is the distance from an observation to its
    ``n_neighbors``-th nearest neighbor in the slice; :math:`\epsilon`, one number for
    all, is the mean distance to the ``n_slice_neighbors``-th nearest slice. Where
    either is 0, equal points have affinity 1 and others 0, so that all affinities of a
    network with a constant response are 1.

    Args:
        activations: Responses :math:`T`, finite, of shape ``(n_slices, n_observations,
            n_units)``. The result does not change if all units are rotated or scaled
            (unless ``slice_bandwidth`` is given).
        n_neighbors: Neighbor within a slice whose distance is the bandwidth, at least
            1; limited to the number of other observations.
        n_slice_neighbors: Neighbor among slices whose distance is the bandwidth, at
            least 1; limited to the number of other slices.
        decay: Exponent :math:`\alpha`, positive.
        slice_bandwidth: Bandwidth :math:`\epsilon`, positive. Default: the mean
            distance described above.
        precision: Precision in which affinities are stored; ``"single"`` takes half the
            memory. Sums and products are in double precision in both cases.

    Returns:
        A kernel of ``n m m + m n n`` affinities.

    Example:
        >>> still = np.repeat([[[0.0], [1.0], [3.0]]], 2, axis=0)  # 2 slices
        >>> kernel = multislice_kernel(still, n_neighbors=1)
        >>> kernel.intraslice[0].round(3)
        array([[1.   , 0.368, 0.053],
               [0.368, 1.   , 0.193],
               [0.053, 0.193, 1.   ]])
        >>> kernel.interslice[0]
        array([[0., 1.],
               [1., 0.]])

    References:
        Holtz, Mishne and Cloninger (2022), Evaluating Disentanglement in Generative
        Models Without Knowledge of Latent Factors, section 3.1. The paper divides
        :math:`\lVert \cdot \rVert^\alpha` by :math:`\sigma^2`. That is the same for
        :math:`\alpha = 2`, our default, and depends on the units of measurement
        otherwise. We therefore raise the ratio to the power, as the next paper does.

        Gigante, Charles, Krishnaswamy and Mishne (2019), Visualizing the PHATE of
        Neural Networks, section 3. Its package uses 2 neighbors, 25 slices (the median
        over slices, then the mean over points), a decay of 5, and standardizes the
        response of each point. The first paper states none of these. We do not
        standardize, because the norm of a response is part of what a decoder does.
    """
    activations = np.asarray(activations)
    check_shape("activations", activations, ("n_slices", "n_observations", "n_units"))
    check_not_empty("activations", activations)
    check_finite("activations", activations)
    check_integer("n_neighbors", n_neighbors, least=1)
    check_integer("n_slice_neighbors", n_slice_neighbors, least=1)
    check_positive("decay", decay)
    if slice_bandwidth is not None:
        check_positive("slice_bandwidth", slice_bandwidth)
    n_slices, n_observations, _ = activations.shape
    stored = np.float32 if precision == "single" else np.float64
    intraslice = np.empty((n_slices, n_observations, n_observations), stored)
    for index, points in enumerate(activations):
        intraslice[index] = _within(points, min(n_neighbors, n_observations - 1), decay)
    interslice = _across(
        activations, min(n_slice_neighbors, n_slices - 1), slice_bandwidth
    ).astype(stored, copy=False)
    degrees = intraslice.sum(axis=2, dtype=np.float64)
    degrees += interslice.sum(axis=2, dtype=np.float64).T
    return MultisliceKernel(intraslice, interslice, degrees)


def _within(
    points: NDArray[np.floating], n_neighbors: int, decay: float
) -> NDArray[np.float64]:
    squared = _squared_distances(points)
    # The nearest neighbor of a point, at position 0, is the point itself.
    bandwidths = np.partition(squared, n_neighbors, axis=1)[:, n_neighbors, None]
    affinities = _decayed(squared, bandwidths, decay)
    return (affinities + affinities.T) / 2


def _across(
    activations: NDArray[np.floating], n_neighbors: int, bandwidth: float | None
) -> NDArray[np.float64]:
    n_slices, n_observations, _ = activations.shape
    squared = np.empty((n_observations, n_slices, n_slices))
    for start in range(0, n_observations, _CHUNK):
        points = activations[:, start : start + _CHUNK].transpose(1, 0, 2)
        squared[start : start + _CHUNK] = _squared_distances(points)
    if bandwidth is None:
        nearest = np.partition(squared, n_neighbors, axis=2)[:, :, n_neighbors]
        bandwidth = float(np.sqrt(nearest).mean())
    affinities = _decayed(squared, np.array(bandwidth**2), 2.0)
    affinities[:, np.arange(n_slices), np.arange(n_slices)] = 0.0
    return (affinities + affinities.transpose(0, 2, 1)) / 2


def _squared_distances(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return squared distances ``(..., n, n)`` of rows ``(..., n, n_units)``."""
    centered = points.astype(np.float64)
    centered -= centered.mean(axis=-2, keepdims=True)
    products = centered @ centered.swapaxes(-1, -2)
    sizes = np.diagonal(products, axis1=-2, axis2=-1)
    sums = sizes[..., :, None] + sizes[..., None, :]
    squared = sums - 2.0 * products
    # Rounding errors between equal rows would otherwise become a bandwidth.
    squared[squared <= _EQUAL * sums] = 0.0
    return squared


def _decayed(
    squared: NDArray[np.float64], bandwidths: NDArray[np.float64], decay: float
) -> NDArray[np.float64]:
    """Return ``exp(-(distance / bandwidth)^decay)`` of squares, with 0 / 0 = 0."""
    ratios = np.where(squared > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(squared, bandwidths, out=ratios, where=bandwidths > 0)
        if decay != 2.0:
            ratios **= decay / 2.0
    return np.exp(-ratios, out=ratios)
