"""Multislice kernel: which observations are alike, and when, while a network learns."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_EQUAL = 1e-12
"""Squared distance, as a share of two points' squared sizes, that rounding makes."""

_CHUNK = 64
"""Observations whose slices are compared at a time."""


@dataclass(frozen=True, eq=False)
class MultisliceKernel:
    r"""Affinities between all pairs of slice and observation, most of which are 0.

    With ``n`` slices (moments of training) and ``m`` observations, the matrix
    :math:`K'` has ``n m`` rows. It is not zero only between observations of one slice
    and between slices of one observation, and only these blocks are held.

    Attributes:
        intraslice: Symmetric affinities within each slice, ``(n, m, m)``.
        interslice: Affinities of each observation with itself in other slices,
            ``(m, n, n)``; 0 on the diagonals, which ``intraslice`` holds already.
        degrees: Sums of the rows of :math:`K'`, ``(n, m)``, at least 1.
    """

    intraslice: NDArray[np.floating]
    interslice: NDArray[np.floating]
    degrees: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of slices, number of observations."""
        return self.intraslice.shape[0], self.intraslice.shape[1]

    def diffuse(
        self, vectors: NDArray[np.float64], *, steps: int, transposed: bool = False
    ) -> NDArray[np.float64]:
        r"""Apply :math:`P^t`, or its transpose, to vectors, with :math:`P = D^{-1} K'`.

        Args:
            vectors: Shape ``(n, m, n_vectors)``.
            steps: How often :math:`P` is applied, from 0: the ``t`` of the formula.
            transposed: Apply :math:`(P^\top)^t` instead.

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
        # One slice at a time, so that a kernel in single precision is never held twice.
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

    Two observations are alike at one moment if the network responds to them alike; an
    observation is like itself at another moment if the response has changed little.
    With :math:`T(\tau, i)` the response to observation ``i`` at slice :math:`\tau`,

    .. math::
        K((\tau, i), (\tau, j)) &= \exp\bigl(-(\lVert T(\tau, i) - T(\tau, j) \rVert
        / \sigma_{\tau, i})^\alpha\bigr) \\
        K((\tau, i), (\nu, i)) &= \exp\bigl(-\lVert T(\tau, i) - T(\nu, i) \rVert^2
        / \epsilon^2\bigr) \\
        K' &= (K + K^\top) / 2

    and 0 elsewhere. :math:`\sigma_{\tau, i}` is the distance from an observation to its
    ``n_neighbors``-th nearest within the slice; :math:`\epsilon` is one number for all,
    the mean distance to the ``n_slice_neighbors``-th nearest slice. Where either is 0,
    equal points have affinity 1 and others 0, so that a network which responds to
    everything alike has affinities of 1.

    Args:
        activations: :math:`T`, finite, ``(n_slices, n_observations, n_units)``. To
            rotate or scale all units changes nothing (unless ``slice_bandwidth`` is
            given).
        n_neighbors: From 1; cut to the number of other observations.
        n_slice_neighbors: From 1; cut to the number of other slices.
        decay: The exponent :math:`\alpha`, over 0.
        slice_bandwidth: :math:`\epsilon`, over 0, in place of the mean distance.
        precision: How affinities are stored; ``"single"`` takes half the memory. Sums
            and products are in double precision either way.

    Returns:
        ``n m m + m n n`` affinities.

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
        Models Without Knowledge of Latent Factors, section 3.1. It divides
        :math:`\lVert \cdot \rVert^\alpha` by :math:`\sigma^2`: the same at
        :math:`\alpha = 2`, our default, and otherwise dependent on the units of
        measurement, so that we raise the ratio to the power, as the next one does.

        Gigante, Charles, Krishnaswamy and Mishne (2019), Visualizing the PHATE of
        Neural Networks, section 3, whose package takes 2 neighbors, 25 slices (the
        median over slices, then the mean over points), a decay of 5, and standardizes
        the response of each point. None of these is stated by the former; an
        observation's size is part of what a decoder does with it, and is kept here.
    """
    activations = _checked(activations, n_neighbors, n_slice_neighbors, decay)
    if slice_bandwidth is not None and not slice_bandwidth > 0:
        raise ValueError(
            "multislice_kernel: expected slice_bandwidth over 0, got "
            f"{slice_bandwidth!r}."
        )
    n_slices, n_observations, _ = activations.shape
    stored = np.float32 if precision == "single" else np.float64
    intraslice = np.empty((n_slices, n_observations, n_observations), stored)
    for place, points in enumerate(activations):
        intraslice[place] = _within(points, min(n_neighbors, n_observations - 1), decay)
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
    # A point is its own nearest, at place 0.
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
    """Between rows, ``(..., n, n_units)`` to ``(..., n, n)``; equal rows are at 0."""
    centered = points.astype(np.float64)
    centered -= centered.mean(axis=-2, keepdims=True)
    products = centered @ centered.swapaxes(-1, -2)
    sizes = np.diagonal(products, axis1=-2, axis2=-1)
    sums = sizes[..., :, None] + sizes[..., None, :]
    squared = sums - 2.0 * products
    # What rounding leaves between equal rows would otherwise become a bandwidth.
    squared[squared <= _EQUAL * sums] = 0.0
    return squared


def _decayed(
    squared: NDArray[np.float64], bandwidths: NDArray[np.float64], decay: float
) -> NDArray[np.float64]:
    """``exp(-(distance / bandwidth)^decay)``, both squared; 0 / 0 is 0."""
    ratios = np.where(squared > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(squared, bandwidths, out=ratios, where=bandwidths > 0)
        if decay != 2.0:
            ratios **= decay / 2.0
    return np.exp(-ratios, out=ratios)


def _checked(
    activations: NDArray[np.floating],
    n_neighbors: int,
    n_slice_neighbors: int,
    decay: float,
) -> NDArray[np.floating]:
    activations = np.asarray(activations)
    if activations.ndim != 3 or 0 in activations.shape:
        raise ValueError(
            "multislice_kernel: expected activations (n_slices, n_observations, "
            f"n_units), none of them 0, got shape {activations.shape}."
        )
    if not np.isfinite(activations).all():
        raise ValueError(
            "multislice_kernel: expected finite activations, got some that are not. "
            "Leave out runs that diverged."
        )
    if n_neighbors < 1 or n_slice_neighbors < 1:
        raise ValueError(
            "multislice_kernel: expected n_neighbors and n_slice_neighbors from 1, got "
            f"{n_neighbors} and {n_slice_neighbors}."
        )
    if not decay > 0:
        raise ValueError(f"multislice_kernel: expected decay over 0, got {decay!r}.")
    return activations
