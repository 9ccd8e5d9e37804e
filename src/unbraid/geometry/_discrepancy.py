"""Maximum mean discrepancy: a distance between the distributions of two samples."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from unbraid.foundation import (
    check_finite,
    check_option,
    check_positive,
    check_shape,
    numpy_generator,
)

_BLOCK = 1024
"""Rows of each sample that are compared at a time: 8 MB of distances."""

KernelName = Literal["gaussian", "linear"]


def squared_maximum_mean_discrepancy(
    first: NDArray[np.floating],
    second: NDArray[np.floating],
    *,
    kernel: KernelName = "gaussian",
    bandwidth: float | None = None,
    paired: bool = False,
) -> float:
    r"""Unbiased estimate of the squared maximum mean discrepancy (MMD) of two samples.

    Rows are compared within each sample and between the samples. If both come from the
    same distribution, these comparisons agree on average.

    .. math::
        \frac{1}{m (m - 1)} \sum_{i \neq j} k(x_i, x_j)
        + \frac{1}{n (n - 1)} \sum_{i \neq j} k(y_i, y_j)
        - \frac{2}{m n} \sum_{i, j} k(x_i, y_j),
        \qquad k(x, y) = \exp\bigl(-\lVert x - y \rVert^2 / (2 b^2)\bigr)

    Args:
        first: First sample, shape ``(m, n_features)``, at least two rows.
        second: Second sample, shape ``(n, n_features)``, at least two rows.
        kernel: ``"gaussian"``, or ``"linear"`` for :math:`k(x, y) = x^\top y`, which
            compares only the means.
        bandwidth: Bandwidth ``b`` of the Gaussian kernel, positive. Default: the median
            distance in both samples together, see :func:`median_distance`.
        paired: Whether row ``x_i`` belongs to row ``y_i``, so that the samples are not
            independent. The last sum is then over ``i != j`` only and divided by
            ``n (n - 1)``, so that equal samples give 0 (up to rounding).

    Returns:
        The estimate, at most 2 for the Gaussian kernel. It is 0 on average for samples
        of one distribution, and therefore sometimes slightly negative.

    Example:
        >>> apart = np.array([[0.0], [0.0]]), np.array([[1.0], [1.0]])
        >>> round(squared_maximum_mean_discrepancy(*apart, bandwidth=1.0), 6)
        0.786939
        >>> f"{2 - 2 * np.exp(-0.5):.6f}"
        '0.786939'

    References:
        Gretton, Borgwardt, Rasch, Schölkopf and Smola (2012), A Kernel Two-Sample Test,
        Lemma 6: Eq. 3, and Eq. 4 for pairs.
    """
    first, second = _checked(first, second, paired)
    if kernel == "gaussian" and bandwidth is None:
        bandwidth = median_distance(np.concatenate([first, second]))
    first, second = _rescale([first, second], kernel, bandwidth)
    within = sum(_mean(sample, sample, kernel, True) for sample in (first, second))
    return within - 2.0 * _mean(first, second, kernel, paired)


def discrepancy_matrix(
    samples: NDArray[np.floating],
    *,
    kernel: KernelName = "gaussian",
    bandwidth: float | None = None,
    paired: bool = False,
) -> NDArray[np.float64]:
    """Unbiased squared discrepancies between all pairs of samples of equal size.

    The result is that of :func:`squared_maximum_mean_discrepancy` for each pair with a
    common bandwidth, but each sample is compared with itself only once.

    Args:
        samples: Samples of shape ``(n_samples, n_rows, n_features)``.
        kernel: As in :func:`squared_maximum_mean_discrepancy`.
        bandwidth: Bandwidth of the Gaussian kernel. Default: the median distance in all
            samples together.
        paired: As in :func:`squared_maximum_mean_discrepancy`.

    Returns:
        A symmetric matrix ``(n_samples, n_samples)`` with zeros on the diagonal.

    Example:
        >>> points = np.arange(4.0).reshape(4, 1)
        >>> samples = np.stack([points, points + 9])
        >>> discrepancy_matrix(samples, bandwidth=1.0).round(3)
        array([[0. , 0.7],
               [0.7, 0. ]])
    """
    check_shape("samples", np.asarray(samples), ("n_samples", "n_rows", "n_features"))
    checked = [_checked(sample, sample, paired)[0] for sample in samples]
    if kernel == "gaussian" and bandwidth is None:
        bandwidth = median_distance(np.concatenate(checked))
    rescaled = _rescale(checked, kernel, bandwidth)
    within = [_mean(sample, sample, kernel, True) for sample in rescaled]
    matrix = np.zeros((len(rescaled), len(rescaled)))
    for row, column in zip(*np.triu_indices(len(rescaled), 1), strict=True):
        across = _mean(rescaled[row], rescaled[column], kernel, paired)
        matrix[row, column] = within[row] + within[column] - 2.0 * across
    return matrix + matrix.T


def median_distance(
    sample: NDArray[np.floating], *, max_rows: int = 1000, seed: int = 0
) -> float:
    """Median distance between rows: the usual bandwidth of a Gaussian kernel.

    Args:
        sample: Rows of shape ``(n_rows, n_features)``.
        max_rows: Largest number of rows to compare; of a larger sample, that many
            random rows are used.
        seed: Seed of the choice of rows.

    Returns:
        A positive distance: the mean distance if the median is 0, and 1 if all rows are
        equal.

    Example:
        >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
        2.0

    References:
        Gretton et al. (2012), section 8.
    """
    if len(sample) > max_rows:
        generator = numpy_generator(seed, "median distance")
        sample = sample[generator.choice(len(sample), max_rows, replace=False)]
    distances = pdist(sample)
    if not distances.any():
        return 1.0
    return float(np.median(distances)) or float(distances.mean())


def _checked(
    first: NDArray[np.floating], second: NDArray[np.floating], paired: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    check_shape("first", first, ("n_rows", "n_features"))
    check_shape("second", second, ("n_rows", first.shape[1]))
    if min(len(first), len(second)) < 2 or (paired and len(first) != len(second)):
        raise ValueError(
            "The maximum mean discrepancy needs at least two rows per sample, and "
            "equally many if they are paired, but the samples have shapes "
            f"{first.shape} and {second.shape}."
        )
    check_finite("first", first)
    check_finite("second", second)
    return first, second


def _rescale(
    samples: list[NDArray[np.float64]], kernel: KernelName, bandwidth: float | None
) -> list[NDArray[np.float64]]:
    """Center samples, in units in which the Gaussian kernel is exp(-distance^2)."""
    check_option("kernel", kernel, KernelName)
    if kernel == "linear":
        bandwidth = 0.5**0.5
    check_positive("bandwidth", bandwidth)
    # A shift changes the discrepancy of neither kernel, and reduces rounding errors.
    center = np.concatenate(samples).mean(axis=0)
    return [(sample - center) / (np.sqrt(2.0) * bandwidth) for sample in samples]


def _mean(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    kernel: KernelName,
    paired: bool,
) -> float:
    """Mean of the kernel over pairs of rows, without pairs (i, i) if paired."""
    if kernel == "linear":
        total = float(first.sum(axis=0) @ second.sum(axis=0))
    else:
        total = _gaussian_sum(first, second)
    if not paired:
        return total / (len(first) * len(second))
    if kernel == "linear":
        matched = (first * second).sum()
    else:
        matched = np.exp(-np.square(first - second).sum(axis=1)).sum()
    return (total - float(matched)) / (len(first) * (len(first) - 1))


def _gaussian_sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    total = 0.0
    for top in range(0, len(first), _BLOCK):
        rows = first[top : top + _BLOCK]
        row_sizes = np.square(rows).sum(axis=1)[:, None]
        for left in range(0, len(second), _BLOCK):
            columns = second[left : left + _BLOCK]
            exponents = rows @ columns.T
            exponents *= 2.0
            exponents -= row_sizes
            exponents -= np.square(columns).sum(axis=1)
            np.minimum(exponents, 0.0, out=exponents)
            total += float(np.exp(exponents, out=exponents).sum())
    return total
