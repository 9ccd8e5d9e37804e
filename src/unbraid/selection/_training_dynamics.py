"""Training dynamics: do networks of one specification learn in the same way?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unbraid.foundation import numpy_generator
from unbraid.geometry import (
    discrepancy_matrix,
    joint_embedding,
    median_distance,
    multislice_kernel,
)
from unbraid.training import Trace

_TOLERANCE = 1e-7
"""Largest residual; coordinates were then within 1e-7 in `benchmarks/dynamics.py`."""


@dataclass(frozen=True, eq=False)
class DynamicsScore:
    """How much realisations of one specification differ in the way they learn.

    Attributes:
        score: Mean of ``pairs`` over pairs of realisations; lower is more stable.
        pairs: Squared discrepancies ``(n_realisations, n_realisations)``, 0 on the
            diagonal; unbiased, hence sometimes slightly below 0.
        embedding: The first two coordinates of every observation at every slice, in a
            space common to all realisations, ``(n_realisations, n_slices,
            n_observations, 2)``; each has a mean square of 1 over all of them.
        singular_values: Of the coordinates that were compared, from the largest.
        bandwidth: Of the kernel by which they were compared.
        residual: How exact the coordinates are, see :class:`JointEmbedding`.
        separation: Largest share, over coordinates, of the variance that is between
            the means of realisations. Near 1, a coordinate tells realisations apart
            and nothing else, as it does after too many steps.
    """

    score: float
    pairs: NDArray[np.float64]
    embedding: NDArray[np.float64]
    singular_values: NDArray[np.float64]
    bandwidth: float
    residual: float
    separation: float


def training_dynamics(
    traces: Sequence[Trace | NDArray[np.floating]],
    *,
    neighbours: int = 5,
    slice_neighbours: int = 5,
    decay: float = 2.0,
    steps: int = 2,
    n_components: int = 5,
    keep_first: bool = False,
    bandwidth: float | Literal["fixed", "median"] = "fixed",
    max_rows: int = 4096,
    precision: Literal["single", "double"] = "single",
    seed: int = 0,
) -> DynamicsScore:
    r"""Stability of training over realisations of one specification, without labels.

    Networks that differ in their first weights alone are shown the same observations
    during training. Each gives a random walk over moments and observations; the walks
    are embedded in one space, where the realisations' points are compared as
    distributions. Specifications that disentangle are expected to be stable.

    .. math::
        \frac{2}{R (R - 1)} \sum_{r < s} \mathrm{MMD}^2(U_r, U_s), \qquad
        \begin{pmatrix} P_1^t \\ \vdots \\ P_R^t \end{pmatrix} = U S V^\top

    **The score of a collapsed decoder means nothing.** If it ignores its latents, all
    observations give the same activations, and it is perfectly stable, at 0; if it all
    but ignores them, bandwidths shrink with the activations, and what is left of them
    is compared. Leave out models without active latents beforehand.

    Args:
        traces: One for each realisation, of the same rows and steps, at least two:
            traces, or activations ``(n_slices, n_observations, n_units)``. The layers
            need not have as many units.
        neighbours: See :func:`~unbraid.geometry.multislice_kernel`.
        slice_neighbours: See there.
        decay: See there.
        steps: Diffusion time ``t``, see :func:`~unbraid.geometry.joint_embedding`.
            After many steps all specifications score alike: look at ``separation``.
        n_components: Coordinates compared, from 1. They are not weighted.
        keep_first: Compare the first singular vector too. It is nearly constant for
            every specification, because rows of :math:`P^t` sum to 1, and tells no
            observation from another.
        bandwidth: Of the Gaussian kernel. Coordinates are scaled to a mean square of 1
            over all realisations, so that one number means the same for every
            specification: ``"fixed"`` takes :math:`\sqrt{2 d}` for ``d`` coordinates,
            the root mean squared distance of such points about 0. ``"median"`` takes
            each specification's median distance: scores of different ones are then on
            slightly different scales.
        max_rows: Of so many random pairs of slice and observation are the coordinates
            compared, the same ones of each realisation.
        precision: How affinities are stored.
        seed: Of the embedding's start and of the rows compared.

    Returns:
        A score from about 0, lower is more stable; 0 for equal realisations. Compare
        specifications by as many realisations of each, shown the same observations.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> activations = generator.normal(size=(4, 20, 3)).cumsum(axis=0)
        >>> again = activations[..., ::-1] + 0.01 * generator.normal(size=(4, 20, 3))
        >>> other = generator.normal(size=(4, 20, 8)).cumsum(axis=0)
        >>> same = training_dynamics([activations, again])
        >>> same.score < training_dynamics([activations, other]).score
        True
        >>> same.embedding.shape
        (2, 4, 20, 2)

    References:
        Holtz, Mishne and Cloninger (2022), Evaluating Disentanglement in Generative
        Models Without Knowledge of Latent Factors, section 3.3, steps 2 to 4. Silent
        there, chosen here: neighbours, diffusion time, number of coordinates, scale and
        kernel of the discrepancy. The same slice and observation of two realisations
        are not independent, so that discrepancies leave out these pairs (Gretton et al.
        2012, Eq. 4).
    """
    if n_components < 1 or max_rows < 2:
        raise ValueError(
            "training_dynamics: expected n_components from 1 and max_rows from 2, got "
            f"{n_components} and {max_rows}."
        )
    affinities = partial(
        multislice_kernel,
        n_neighbors=neighbours,
        n_slice_neighbors=slice_neighbours,
        decay=decay,
        precision=precision,
    )
    skipped = int(not keep_first)
    # Threads of products this narrow mostly wait for each other.
    with threadpool_limits(1, user_api="blas"):
        embedded = joint_embedding(
            [affinities(tensor) for tensor in _checked(traces)],
            n_components=max(skipped + n_components, 3),  # 3 for the picture
            steps=steps,
            tolerance=_TOLERANCE,
            seed=seed,
        )
        n_points = embedded.vectors[..., 0].size
        coordinates = embedded.vectors * np.sqrt(n_points)
        used = slice(skipped, skipped + n_components)
        points = coordinates[..., used].reshape(
            len(traces), n_points // len(traces), -1
        )
        points = points[:, _some_rows(points.shape[1], max_rows, seed)]
        width = _width(bandwidth, points)
        pairs = discrepancy_matrix(points, bandwidth=width, paired=True)
    return DynamicsScore(
        score=float(pairs[np.triu_indices(len(traces), 1)].mean()),
        pairs=pairs,
        embedding=coordinates[..., 1:3].copy(),
        singular_values=embedded.singular_values[used],
        bandwidth=width,
        residual=embedded.residual,
        separation=_separation(coordinates[..., used]),
    )


def training_dynamics_scores(
    specifications: Mapping[str, Sequence[Trace | NDArray[np.floating]]],
    *,
    score: Callable[
        [Sequence[Trace | NDArray[np.floating]]], DynamicsScore
    ] = training_dynamics,
    map_over: Callable[..., Iterable[Any]] = map,
) -> dict[str, DynamicsScore]:
    """Scores of many specifications, the most stable first.

    Args:
        specifications: Name of each, and the traces of its realisations, none of which
            should have collapsed.
        score: :func:`training_dynamics`, or a ``functools.partial`` of it with other
            options.
        map_over: Applies it to each; the ``map`` of a process pool uses several cores.

    Example:
        >>> traces = np.random.default_rng(0).normal(size=(3, 4, 20, 5))
        >>> named = {"other": list(traces), "same": [traces[0], traces[0]]}
        >>> list(training_dynamics_scores(named))
        ['same', 'other']
    """
    scores = dict(
        zip(specifications, map_over(score, specifications.values()), strict=True)
    )
    return dict(sorted(scores.items(), key=lambda item: item[1].score))


def _checked(
    traces: Sequence[Trace | NDArray[np.floating]],
) -> list[NDArray[np.floating]]:
    if len(traces) < 2:
        raise ValueError(
            f"training_dynamics: expected two realisations or more, got {len(traces)}."
        )
    recorded = [trace for trace in traces if isinstance(trace, Trace)]
    for trace in recorded[1:]:
        if not (
            np.array_equal(trace.rows, recorded[0].rows)
            and np.array_equal(trace.steps, recorded[0].steps)
        ):
            raise ValueError(
                "training_dynamics: expected traces of the same rows and steps, got "
                "others. Record them with the same TraceSettings and length."
            )
    tensors = [
        trace.activations if isinstance(trace, Trace) else np.asarray(trace)
        for trace in traces
    ]
    shapes = {tensor.shape[:2] for tensor in tensors}
    if len(shapes) > 1 or min(tensor.ndim for tensor in tensors) < 3:
        raise ValueError(
            "training_dynamics: expected activations (n_slices, n_observations, "
            "n_units) of as many slices and observations, got shapes "
            f"{sorted({tensor.shape for tensor in tensors})}."
        )
    n_points = int(np.prod(tensors[0].shape[:2]))
    if n_points < 3:
        raise ValueError(
            "training_dynamics: expected at least 3 pairs of slice and observation, "
            f"got {n_points}."
        )
    return tensors


def _some_rows(n_rows: int, max_rows: int, seed: int) -> NDArray[np.int64]:
    if n_rows <= max_rows:
        return np.arange(n_rows)
    generator = numpy_generator(seed, "training dynamics")
    return np.sort(generator.choice(n_rows, max_rows, replace=False))


def _separation(coordinates: NDArray[np.float64]) -> float:
    whole = coordinates.var(axis=(0, 1, 2))
    between = coordinates.mean(axis=(1, 2)).var(axis=0)
    shares = np.divide(between, whole, out=np.zeros_like(whole), where=whole > 0)
    return float(shares.max())


def _width(
    bandwidth: float | Literal["fixed", "median"], points: NDArray[np.float64]
) -> float:
    if bandwidth == "fixed":
        return float(np.sqrt(2 * points.shape[2]))
    if bandwidth == "median":
        return median_distance(np.concatenate(list(points)))
    if isinstance(bandwidth, str) or not bandwidth > 0:
        raise ValueError(
            "training_dynamics: expected bandwidth 'fixed', 'median' or a number over "
            f"0, got {bandwidth!r}."
        )
    return float(bandwidth)
