"""Geomancer: find the factors of a product manifold from points on it."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unbraid.foundation import check_integer

from ._bottom_eigenpairs import bottom_eigenpairs
from ._connection_laplacian import connection_laplacian, traceless_basis
from ._cost_estimate import DOUBLE
from ._geomancer_inputs import (
    check_metric,
    check_neighbors,
    check_options,
    check_points,
    check_tangents,
    default_neighbors,
)
from ._intrinsic_dimension import intrinsic_dimension
from ._invariant_subspaces import invariant_subspaces
from ._neighbor_graph import (
    adjacency,
    check_connected,
    nearest_neighbors,
    nearest_under_metric,
    undirected_edges,
)
from ._parallel_transport import alignments, metric_alignments
from ._tangents import tangent_spaces

_FLOOR = 0.02
"""Eigenvalues below this fraction of the graph's own lowest one count as 0."""

GAP = 0.5
"""Smallest relative gap after the parallel fields at which a splitting is reported."""

COHERENCE = 0.9
"""Smallest share of the fields that a reported splitting explains."""


class Geomancer(BaseEstimator):
    r"""Split a cloud of points into the factors of a product manifold.

    Parallel transport along a product never mixes its factors. The projections onto the
    factors' tangent spaces are therefore parallel fields of symmetric matrices: they
    are at the bottom of the spectrum of a connection Laplacian, below a gap.

    A splitting is reported only if three conditions hold: the eigenvalues of the
    parallel fields are at most half of the next eigenvalue (``gap_`` is at least 0.5);
    one number per field and factor, the same at all points, explains 90 % of the fields
    (``coherence_``); and the number of fields is the one that the factors imply. Every
    cloud has fields that are merely smooth, but these vary from point to point, and
    there is no gap after them.

    Args:
        dimension: Dimension of the manifold. Default: estimated from distances.
        n_neighbors: Number of neighbors that each point is connected to. Default: twice
            the dimension, as published, but at least 8, so that the graph is connected.
        gamma: Threshold below which an eigenvalue counts as that of a parallel field.
            Default: the eigenvalues before the largest gap (on a logarithmic scale
            above 2 % of the lowest eigenvalue of the graph's ordinary Laplacian).
        n_eigenvectors: Number of eigenvalues to compute; increased if all of them turn
            out to be parallel.
        n_tangent_neighbors: Number of points from which a tangent space is estimated.
            Default: ``dimension * (dimension + 3)``, or all points if there are fewer.
        curved: Whether the estimate of tangent spaces accounts for the curvature of the
            manifold. ``False`` is the published method, which needs many more points.
        seed: Seed of the initial vectors of the eigensolver.

    Attributes:
        components_: Tangent space of each factor at every point, an orthonormal basis
            ``(n_points, n_ambient, dimension of the factor)``. If no splitting was
            found, the only component is the whole tangent space. Orthonormal in the
            metric if one is given.
        dimensions_: Dimensions of the factors, curved factors first, then by size.
        is_flat_: For each factor, whether it has no holonomy: a line or circle, or a
            flat part of more dimensions, which has no unique splitting.
        is_product_: Whether there is more than one factor.
        spectrum_: Lowest eigenvalues of the connection Laplacian.
        scale_: Lowest positive eigenvalue of the graph's ordinary Laplacian. The
            eigenvalues of fields that are not parallel begin there, or a few times
            lower.
        n_parallel_: Number of eigenvalues before the gap.
        gap_: Relative gap :math:`1 - \lambda_r / \lambda_{r + 1}` after the parallel
            fields.
        coherence_: Share of the fields that is explained by one number per field and
            factor.
        confidence_: Minimum of gap and coherence, between 0 and 1; 0 if no splitting
            was found.
        agreement_: Share of points whose tangent space, on its own, splits into the
            same dimensions.
        tangents_: Orthonormal bases of the tangent spaces, ``(n_points, n_ambient,
            dimension)``.
        dimension_: Dimension of the manifold, given or estimated.
        n_neighbors_: Number of neighbors that each point is connected to.
        n_features_in_: Number of coordinates of a point.

    Example:
        >>> from unbraid.geometry import product_manifold
        >>> sample = product_manifold("S2 x S2", 1000, rotated=True)
        >>> found = Geomancer(dimension=4).fit(sample.points)
        >>> found.dimensions_, found.is_flat_, bool(found.confidence_ > 0.9)
        ((2, 2), (False, False), True)
        >>> found.summary()
        'a product of 2 factors, of dimensions 2 and 2'

    References:
        Pfau, Higgins, Botev and Racanière (2020), Disentangling by Subspace Diffusion,
        Algorithm 1. https://arxiv.org/abs/2006.12982
    """

    def __init__(
        self,
        dimension: int | None = None,
        n_neighbors: int | None = None,
        gamma: float | None = None,
        *,
        n_eigenvectors: int = 10,
        n_tangent_neighbors: int | None = None,
        curved: bool = True,
        seed: int = 0,
    ) -> None:
        self.dimension = dimension
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.n_eigenvectors = n_eigenvectors
        self.n_tangent_neighbors = n_tangent_neighbors
        self.curved = curved
        self.seed = seed

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        neighbors: ArrayLike | None = None,
        tangents: ArrayLike | None = None,
        metric: ArrayLike | None = None,
    ) -> Self:
        """Find the factors.

        Args:
            X: Points of shape ``(n_points, n_ambient)``.
            y: Ignored.
            neighbors: Row numbers of the neighbors of each point, ``(n_points,
                n_neighbors)``. Default: the nearest points.
            tangents: Orthonormal bases of the tangent spaces, ``(n_points, n_ambient,
                dimension)``. Default: estimated from the neighbors.
            metric: Riemannian metric: one matrix ``(n_ambient, n_ambient)`` for all
                points, or one for each point, ``(n_points, n_ambient, n_ambient)``. The
                latter is for points that are coordinates on the manifold, as many as it
                has dimensions, such as latents with the metric that a decoder induces.
                Default: Euclidean.
        """
        del y
        points = check_points(X)
        self.n_features_in_ = points.shape[1]
        matrices = None if metric is None else check_metric(metric, points, tangents)
        if matrices is not None and matrices.ndim == 2:
            squares, axes = np.linalg.eigh(matrices)
            root = (axes * np.sqrt(squares)) @ axes.T
            self._fit(points @ root, neighbors, None, None)
            back = np.linalg.inv(root)
            self.tangents_ = back @ self.tangents_
            self.components_ = [back @ part for part in self.components_]
            return self
        self._fit(points, neighbors, tangents, matrices)
        return self

    def summary(self) -> str:
        """Describe the result in one sentence, without a period."""
        check_is_fitted(self)
        sizes = [str(size) for size in self.dimensions_]
        if self.is_product_:
            listed = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
            text = f"a product of {len(sizes)} factors, of dimensions {listed}"
            pairs = zip(sizes, self.is_flat_, strict=True)
            flat = [size for size, is_flat in pairs if is_flat]
            if flat:
                text += f"; flat, without holonomy: {' and '.join(flat)}"
            return text
        if self.is_flat_[0]:
            return (
                f"flat, without holonomy, in all {sizes[0]} dimensions: no splitting "
                "is better than another"
            )
        return f"no product structure found in {sizes[0]} dimensions"

    def _fit(
        self,
        points: NDArray[np.float64],
        neighbors: ArrayLike | None,
        tangents: ArrayLike | None,
        metric: NDArray[np.float64] | None,
    ) -> None:
        n_points = len(points)
        check_options(self.n_eigenvectors, self.n_tangent_neighbors, self.gamma)
        bases = None if tangents is None else check_tangents(tangents, points)
        dimension = self._choose_dimension(points, bases, metric)
        near, width = self._choose_neighbors(points, neighbors, metric, dimension)
        edges = undirected_edges(near[:, :width])
        check_connected(n_points, edges, width)
        if metric is not None:
            bases = np.linalg.cholesky(np.linalg.inv(metric)).astype(np.float64)
            rotations = metric_alignments(points, metric, bases, near, edges)
        else:
            if bases is None:
                bases = tangent_spaces(points, near, dimension, curved=self.curved)
            rotations = alignments(bases, edges)
        self.dimension_, self.n_neighbors_, self.tangents_ = dimension, width, bases
        self.scale_ = _lowest_graph_eigenvalue(n_points, edges, self.seed)
        if dimension == 1:
            self.spectrum_ = np.empty(0)
            self._nothing_found(is_flat=True)
            return
        fields = self._parallel_fields(n_points, edges, rotations)
        self._split(fields)

    def _choose_dimension(
        self,
        points: NDArray[np.float64],
        tangents: NDArray[np.float64] | None,
        metric: NDArray[np.float64] | None,
    ) -> int:
        n_ambient = points.shape[1]
        if metric is not None:
            known = n_ambient
        elif tangents is not None:
            known = tangents.shape[2]
        else:
            known = self.dimension
        if known is None:
            # Check the number of points first: too few have no dimension.
            default_neighbors(len(points), 1, self.n_neighbors)
            estimate = intrinsic_dimension(points, seed=self.seed)
            return int(np.clip(round(estimate), 1, n_ambient))
        if self.dimension not in (None, known):
            raise ValueError(
                f"dimension must be {known}, as that of the tangents or the metric, "
                f"got {self.dimension!r}."
            )
        check_integer("dimension", known, least=1, most=n_ambient)
        return int(known)

    def _choose_neighbors(
        self,
        points: NDArray[np.float64],
        neighbors: ArrayLike | None,
        metric: NDArray[np.float64] | None,
        dimension: int,
    ) -> tuple[NDArray[np.int64], int]:
        """Return the neighbors of each point, and how many of them make the graph."""
        if neighbors is not None:
            given = check_neighbors(neighbors, len(points))
            return given, given.shape[1]
        width = default_neighbors(len(points), dimension, self.n_neighbors)
        wanted = self.n_tangent_neighbors or dimension * (dimension + 3)
        if not self.curved and self.n_tangent_neighbors is None:
            wanted = width
        most = max(width, min(wanted, len(points) - 1))
        if metric is not None:
            return nearest_under_metric(points, metric, most), width
        return nearest_neighbors(points, most), width

    def _parallel_fields(
        self,
        n_points: int,
        edges: NDArray[np.int64],
        rotations: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return fields below the gap, ``(n_points, n_fields, k, k)``; set spectrum."""
        basis = traceless_basis(rotations.shape[1])
        n_numbers = (n_points + 2 * len(edges)) * len(basis) ** 2
        laplacian = connection_laplacian(
            n_points, edges, rotations, single=n_numbers > DOUBLE
        )
        # In a flat manifold every constant field is parallel; one more shows the gap.
        n_rows = n_points * len(basis)
        most = min(len(basis) + 1, n_rows - 1)
        n_pairs = min(self.n_eigenvectors, n_rows - 1)
        while True:
            values, vectors = bottom_eigenpairs(laplacian, n_pairs, seed=self.seed)
            if values[-1] > 0.1 * self.scale_ or n_pairs >= most:
                break
            n_pairs = min(2 * n_pairs, most)
        self.spectrum_ = values
        self.n_parallel_ = self._count_parallel(values, len(basis))
        chosen = vectors[:, : self.n_parallel_].reshape(n_points, len(basis), -1)
        return np.einsum("nar,aij->nrij", chosen, basis)

    def _count_parallel(self, values: NDArray[np.float64], most: int) -> int:
        if self.gamma is not None:
            return min(int((values < self.gamma).sum()), most)
        raised = np.log(values + _FLOOR * self.scale_)
        return int(np.diff(raised)[:most].argmax()) + 1

    def _split(self, fields: NDArray[np.float64]) -> None:
        count, values = self.n_parallel_, self.spectrum_
        if count == 0:
            self._nothing_found()
            return
        found = invariant_subspaces(fields)
        above = values[count] if count < len(values) else self.scale_
        gap = 1.0 - values[count - 1] / above if above > 0 else 0.0
        self.gap_, self.coherence_ = float(gap), found.coherence
        self.agreement_ = found.agreement
        self.confidence_ = float(np.clip(min(gap, found.coherence), 0.0, 1.0))
        is_sure = gap >= GAP and found.coherence >= COHERENCE and found.is_complete
        if not (is_sure or self.gamma is not None):
            self._nothing_found(self.gap_, self.coherence_, self.agreement_)
            return
        self.components_ = [self.tangents_ @ basis for basis in found.bases]
        self.dimensions_ = tuple(part.shape[2] for part in found.bases)
        self.is_flat_ = found.is_flat
        self.is_product_ = len(self.components_) > 1

    def _nothing_found(
        self,
        gap: float = 0.0,
        coherence: float = 0.0,
        agreement: float = 0.0,
        *,
        is_flat: bool = False,
    ) -> None:
        self.gap_, self.coherence_, self.agreement_ = gap, coherence, agreement
        self.confidence_ = 1.0 if is_flat else 0.0
        self.n_parallel_ = 0
        self.components_ = [self.tangents_]
        self.dimensions_ = (self.dimension_,)
        self.is_flat_ = (is_flat,)
        self.is_product_ = False


def _lowest_graph_eigenvalue(
    n_points: int, edges: NDArray[np.int64], seed: int
) -> float:
    graph = sparse.csgraph.laplacian(adjacency(n_points, edges))
    n_pairs = min(3, n_points - 1)
    # A smaller tolerance than for the fields costs nothing here.
    values, _ = bottom_eigenpairs(graph.tobsr(), n_pairs, tolerance=1e-3, seed=seed)
    return float(values[1]) if len(values) > 1 else 1.0
