"""Geomancer: the factors of a product manifold, from points on it."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

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
    is_integer,
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
"""Eigenvalues below this share of the graph's own lowest one count as 0."""

GAP = 0.5
"""Least relative gap after the parallel fields."""

COHERENCE = 0.9
"""Least share of the fields that a splitting has to account for."""


class Geomancer(BaseEstimator):
    r"""Splits a cloud of points into the factors of a product manifold.

    Parallel transport along a product never mixes its factors. The projections onto the
    factors' tangent spaces are therefore parallel fields of symmetric matrices: they
    are at the bottom of the spectrum of a connection Laplacian, below a gap.

    A splitting is reported only if it is there. Three things are asked of it: that the
    parallel fields have at most half of the next eigenvalue (``gap_``, from 0.5); that
    one number per field and factor, the same at all points, accounts for 90 % of the
    fields (``coherence_``); and that there are as many fields as the factors explain.
    Fields that are merely smooth, as every cloud has them, change from point to point
    and have no gap after them.

    Args:
        dimension: Of the manifold; estimated from distances if not given.
        n_neighbors: Points that each point is joined to; if not given, twice the
            dimension, as published, and 8 at the least, lest the graph fall apart.
        gamma: Eigenvalues below it are of parallel fields; if not given, those before
            the largest gap (on a logarithmic scale above 2 % of the lowest eigenvalue
            of the graph's ordinary Laplacian).
        n_eigenvectors: Eigenvalues to compute, more if all of them are parallel.
        n_tangent_neighbors: Points from which a tangent space is estimated;
            ``dimension * (dimension + 3)`` if not given, or all if there are fewer.
        curved: Allow for the bending of the manifold in tangent spaces; ``False`` is
            the published way, which needs many more points.
        seed: Of the solver's start.

    Attributes:
        components_: For each factor its tangent space at every point, an orthonormal
            basis ``(n_points, n_ambient, dimension of the factor)``; the whole tangent
            space as one if nothing was found. Orthonormal in the metric if one is
            given.
        dimensions_: Of the factors: curved ones first, then by size.
        is_flat_: For each factor, whether it has no holonomy: a line or circle, or a
            flat part of more dimensions, which has no splitting of its own.
        is_product_: Whether there is more than one factor.
        spectrum_: Lowest eigenvalues of the connection Laplacian.
        scale_: Lowest eigenvalue over 0 of the graph's ordinary Laplacian, which is
            where fields that are not parallel begin (or a few times lower).
        n_parallel_: Eigenvalues before the gap.
        gap_: :math:`1 - \lambda_r / \lambda_{r + 1}` there.
        coherence_: See above.
        confidence_: The lower of the two, from 0 to 1; 0 if there is no splitting.
        agreement_: Share of points which, looked at alone, have the same splitting.
        tangents_: Orthonormal bases, ``(n_points, n_ambient, dimension)``.
        dimension_: Of the manifold.
        n_neighbors_: As used.
        n_features_in_: Ambient dimension.

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
            X: Points, ``(n_points, n_ambient)``.
            y: Not used.
            neighbors: Of each point, if known, ``(n_points, n_neighbors)``.
            tangents: Bases of the tangent spaces, if known, orthonormal, ``(n_points,
                n_ambient, dimension)``.
            metric: What lengths and angles are: one matrix ``(n_ambient, n_ambient)``
                for all points; or one for each, ``(n_points, n_ambient, n_ambient)``,
                if the points are coordinates on the manifold, as many as it has
                dimensions (the metric that a decoder induces on its latents, say).
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
        """What was found, in a few words."""
        check_is_fitted(self)
        sizes = [str(size) for size in self.dimensions_]
        if self.is_product_:
            listed = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
            words = f"a product of {len(sizes)} factors, of dimensions {listed}"
            pairs = zip(sizes, self.is_flat_, strict=True)
            flat = [size for size, is_flat in pairs if is_flat]
            if flat:
                words += f"; flat, without holonomy: {' and '.join(flat)}"
            return words
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
        near, width = self._neighbors(points, neighbors, metric, dimension)
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
            # Their number is checked first: too few have no dimension.
            default_neighbors(len(points), 1, self.n_neighbors)
            estimate = intrinsic_dimension(points, seed=self.seed)
            return int(np.clip(round(estimate), 1, n_ambient))
        if self.dimension not in (None, known):
            raise ValueError(
                f"Geomancer: expected dimension {known}, which the tangents or the "
                f"metric have, got {self.dimension!r}."
            )
        if not is_integer(known, 1) or known > n_ambient:
            raise ValueError(
                f"Geomancer: expected a dimension from 1 to {n_ambient}, the number of "
                f"coordinates of a point, got {known!r}."
            )
        return int(known)

    def _neighbors(
        self,
        points: NDArray[np.float64],
        neighbors: ArrayLike | None,
        metric: NDArray[np.float64] | None,
        dimension: int,
    ) -> tuple[NDArray[np.int64], int]:
        """All neighbors that are looked at, and how many of them make the graph."""
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
        """Fields below the gap, ``(n_points, n_fields, k, k)``; sets the spectrum."""
        basis = traceless_basis(rotations.shape[1])
        n_numbers = (n_points + 2 * len(edges)) * len(basis) ** 2
        laplacian = connection_laplacian(
            n_points, edges, rotations, single=n_numbers > DOUBLE
        )
        # Every constant field is parallel if all is flat, and one more shows the gap.
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
    # A tighter tolerance than that of the fields costs nothing here.
    values, _ = bottom_eigenpairs(graph.tobsr(), n_pairs, tolerance=1e-3, seed=seed)
    return float(values[1]) if len(values) > 1 else 1.0
