"""Maximum mean discrepancy: how far apart two samples are, as distributions."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from unbraid.foundation import numpy_generator

_BLOCK = 1024
"""Rows of either sample that are compared at a time: 8 MB of distances."""

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

    Rows of one sample are compared with each other, and with those of the other: if
    both come from the same distribution, all comparisons are alike on average.

    .. math::
        \frac{1}{m (m - 1)} \sum_{i \neq j} k(x_i, x_j)
        + \frac{1}{n (n - 1)} \sum_{i \neq j} k(y_i, y_j)
        - \frac{2}{m n} \sum_{i, j} k(x_i, y_j),
        \qquad k(x, y) = \exp\bigl(-\lVert x - y \rVert^2 / (2 b^2)\bigr)

    Args:
        first: Shape ``(m, n_features)``, at least two rows.
        second: Shape ``(n, n_features)``, at least two rows.
        kernel: ``"gaussian"``, or ``"linear"`` for :math:`k(x, y) = x^\top y`, which
            sees the means alone.
        bandwidth: The ``b`` of the Gaussian, over 0; the median distance of the two
            samples together if not given, see :func:`median_distance`.
        paired: Rows belong together, ``x_i`` with ``y_i``, and are not independent.
            The last sum is then over ``i != j`` alone, divided by ``n (n - 1)``, so
            that equal samples are at 0 (but for rounding).

    Returns:
        0 on average for samples of one distribution, hence sometimes slightly below 0;
        at most 2 for the Gaussian.

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
    first, second = _prepared([first, second], kernel, bandwidth)
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

    The same as :func:`squared_maximum_mean_discrepancy` of each pair with a common
    bandwidth, for less work: each sample is compared with itself once.

    Args:
        samples: Shape ``(n_samples, n_rows, n_features)``.
        kernel: See there.
        bandwidth: The median distance of all samples together if not given.
        paired: See there.

    Returns:
        A symmetric matrix ``(n_samples, n_samples)`` with zeros on the diagonal.

    Example:
        >>> points = np.arange(4.0).reshape(4, 1)
        >>> samples = np.stack([points, points + 9])
        >>> discrepancy_matrix(samples, bandwidth=1.0).round(3)
        array([[0. , 0.7],
               [0.7, 0. ]])
    """
    if np.ndim(samples) != 3:
        raise ValueError(
            "discrepancy_matrix: expected samples (n_samples, n_rows, n_features), "
            f"got shape {np.shape(samples)}."
        )
    checked = [_checked(sample, sample, paired)[0] for sample in samples]
    if kernel == "gaussian" and bandwidth is None:
        bandwidth = median_distance(np.concatenate(checked))
    prepared = _prepared(checked, kernel, bandwidth)
    within = [_mean(sample, sample, kernel, True) for sample in prepared]
    matrix = np.zeros((len(prepared), len(prepared)))
    for row, column in zip(*np.triu_indices(len(prepared), 1), strict=True):
        across = _mean(prepared[row], prepared[column], kernel, paired)
        matrix[row, column] = within[row] + within[column] - 2.0 * across
    return matrix + matrix.T


def median_distance(
    sample: NDArray[np.floating], *, max_rows: int = 1000, seed: int = 0
) -> float:
    """Median distance between rows: the usual bandwidth of a Gaussian kernel.

    Args:
        sample: Shape ``(n_rows, n_features)``.
        max_rows: Of a larger sample, so many random rows are looked at.
        seed: Of these rows.

    Returns:
        Over 0: the mean distance if more than half of the rows are equal, and 1 if all
        of them are.

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
    shapes = f"got shapes {first.shape} and {second.shape}."
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError(
            f"maximum mean discrepancy: expected rows of as many features, {shapes}"
        )
    if min(len(first), len(second)) < 2 or (paired and len(first) != len(second)):
        raise ValueError(
            "maximum mean discrepancy: expected two rows or more, and as many of both "
            f"if they are paired, {shapes}"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError(
            "maximum mean discrepancy: expected finite numbers, got some that are not."
        )
    return first, second


def _prepared(
    samples: list[NDArray[np.float64]], kernel: KernelName, bandwidth: float | None
) -> list[NDArray[np.float64]]:
    """About their common mean, in units in which the Gaussian is exp(-distance^2)."""
    if kernel not in ("gaussian", "linear"):
        raise ValueError(
            "maximum mean discrepancy: expected kernel 'gaussian' or 'linear', got "
            f"{kernel!r}."
        )
    if kernel == "linear":
        bandwidth = np.sqrt(0.5)
    if bandwidth is None or not bandwidth > 0:
        raise ValueError(
            f"maximum mean discrepancy: expected a bandwidth over 0, got {bandwidth!r}."
        )
    # A shift changes neither kernel's discrepancy, and small numbers round less.
    center = np.concatenate(samples).mean(axis=0)
    return [(sample - center) / (np.sqrt(2.0) * bandwidth) for sample in samples]


def _mean(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    kernel: KernelName,
    paired: bool,
) -> float:
    """Mean of the kernel over pairs of rows; without those of one place if paired."""
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
