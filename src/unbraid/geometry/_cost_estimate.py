"""Estimates of the memory and time of a factorization."""

from dataclasses import dataclass

_SWEEPS = 6
_DEGREE = 20
_PRODUCTS_PER_SECOND = 2.0e9
"""Multiplications per second in products of the sparse matrix, on one core."""

_LOCAL_PER_SECOND = 1.5e9
"""Multiplications per second in many small matrices, on one core."""

DOUBLE = 200_000_000
"""Most numbers of a connection Laplacian that is stored in double precision."""


@dataclass(frozen=True)
class CostEstimate:
    """Rough cost, correct within a factor of three on one core of 2020 or later.

    Attributes:
        megabytes: Peak memory, without that of Python and torch themselves.
        seconds: Estimated total run time.
    """

    megabytes: float
    seconds: float


def geomancer_cost(
    n_points: int,
    n_ambient: int,
    dimension: int,
    *,
    n_neighbors: int | None = None,
    n_eigenvectors: int = 10,
) -> CostEstimate:
    """Estimate the memory and time of :class:`Geomancer`.

    The matrix has a block of about ``dimension ** 4 / 4`` numbers for each pair of
    neighbors. Its products with vectors take most of the time.

    Args:
        n_points: Number of points.
        n_ambient: Number of coordinates of a point.
        dimension: Dimension of the manifold.
        n_neighbors: Neighbors per point. Default: that of :class:`Geomancer`.
        n_eigenvectors: Number of eigenvalues to compute.

    Example:
        >>> cost = geomancer_cost(100_000, 6, 4)
        >>> 1000 < cost.megabytes < 4000
        True
    """
    width = n_neighbors or max(8, 2 * dimension)
    size = dimension * (dimension + 1) // 2 - 1
    n_terms = dimension * (dimension + 3) // 2
    n_blocks = n_points * (1.2 * width + 1)
    numbers = n_blocks * size**2
    n_vectors = min(n_eigenvectors, n_points * size) + 6
    vectors = n_points * size * n_vectors
    fitted = 2 * n_terms * (2 * n_ambient + n_terms) + n_terms * (n_terms + n_ambient)
    local = min(20_000_000, n_points * fitted)
    # Double precision and a single-precision copy, or single twice for large matrices.
    per_number = 12 if numbers <= DOUBLE else 8
    megabytes = 1e-6 * per_number * numbers + 8e-6 * (4 * vectors + 3 * local)
    megabytes += 8e-6 * n_blocks * (dimension**2 + 4) + 8e-6 * n_points * (
        n_ambient * (dimension + 1) + 2 * n_terms
    )
    per_point = 3 * 2 * n_terms * n_terms * (n_terms + n_ambient) + 2000 * dimension
    search = n_points * (n_points if n_ambient > 15 else 300) * n_ambient
    seconds = (
        numbers * n_vectors * _DEGREE * _SWEEPS / _PRODUCTS_PER_SECOND
        + (n_points * per_point + search + n_blocks * size * dimension**2)
        / _LOCAL_PER_SECOND
    )
    return CostEstimate(megabytes=megabytes, seconds=max(1.0, seconds))
