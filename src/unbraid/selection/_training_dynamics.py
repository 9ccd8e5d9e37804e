"""Training dynamics: do networks of one configuration learn in the same way?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unbraid.foundation import check_count, numpy_generator
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
    """Differences in training between the runs of one configuration.

    Attributes:
        score: Mean of ``pairs`` over pairs of runs; lower is more stable.
        pairs: Squared discrepancies ``(n_runs, n_runs)``, 0 on the diagonal; unbiased,
            hence sometimes slightly negative.
        embedding: First two coordinates of every observation at every slice, in a space
            common to all runs, ``(n_runs, n_slices, n_observations, 2)``; each has a
            mean square of 1.
        singular_values: Singular values of the compared coordinates, largest first.
        bandwidth: Bandwidth of the kernel of the discrepancy.
        residual: Error of the coordinates, see :class:`JointEmbedding`.
        separation: Largest share, over coordinates, of the variance between the means
            of runs. Near 1, a coordinate distinguishes only runs, as it does after too
            many steps.
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
    n_neighbors: int = 5,
    n_slice_neighbors: int = 5,
    decay: float = 2.0,
    steps: int = 2,
    n_components: int = 5,
    keep_first: bool = False,
    bandwidth: float | Literal["fixed", "median"] = "fixed",
    max_rows: int = 4096,
    precision: Literal["single", "double"] = "single",
    seed: int = 0,
) -> DynamicsScore:
    r"""Stability of training over the seeds of one configuration, without labels.

    Networks that differ in their seed only are shown the same observations during
    training. Each defines a random walk over steps and observations; the walks are
    embedded in one space, where the points of the runs are compared as distributions.
    Configurations that disentangle are expected to be stable.

    .. math::
        \frac{2}{R (R - 1)} \sum_{r < s} \mathrm{MMD}^2(U_r, U_s), \qquad
        \begin{pmatrix} P_1^t \\ \vdots \\ P_R^t \end{pmatrix} = U S V^\top

    **The score of a collapsed decoder is meaningless.** If it ignores its latents, all
    observations have the same activations, and it is perfectly stable, at 0; if it
    almost ignores them, bandwidths shrink with the activations, and only noise is
    compared. Leave out models without active latents.

    Args:
        traces: Traces of two runs or more with the same rows and steps, or activations
            ``(n_slices, n_observations, n_units)``. Numbers of units may differ.
        n_neighbors: Neighbor within a slice whose distance is the bandwidth, see
            :func:`~unbraid.geometry.multislice_kernel`.
        n_slice_neighbors: Neighbor among slices whose distance is the bandwidth.
        decay: Decay of the kernel, see :func:`~unbraid.geometry.multislice_kernel`.
        steps: Diffusion time ``t``, see :func:`~unbraid.geometry.joint_embedding`.
            After many steps all configurations have similar scores, see
            ``separation``.
        n_components: Number of coordinates to compare, at least 1, all with the same
            weight.
        keep_first: Also compare the first singular vector. It is nearly constant for
            every configuration, because rows of :math:`P^t` sum to 1.
        bandwidth: Bandwidth of the Gaussian kernel. Coordinates are scaled to a mean
            square of 1 over all runs, so that a number has the same meaning for every
            configuration: ``"fixed"`` is :math:`\sqrt{2 d}` for ``d`` coordinates, the
            root mean squared distance of such points. ``"median"`` is the median
            distance of each configuration, so that scores of different ones are on
            slightly different scales.
        max_rows: Largest number of pairs of slice and observation that are compared,
            drawn at random, the same ones of each run.
        precision: Precision in which affinities are stored.
        seed: Seed of the embedding's start and of the compared rows.

    Returns:
        A score from about 0, lower is more stable; 0 for equal runs. Compare
        configurations with the same number of runs, shown the same observations.

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
        Models Without Knowledge of Latent Factors, section 3.3, steps 2 to 4. Not
        specified there, chosen here: neighbors, diffusion time, number of coordinates,
        scale and kernel of the discrepancy. The same slice and observation of two runs
        are not independent, so that discrepancies leave out these pairs (Gretton et al.
        2012, Eq. 4).
    """
    check_count("n_components", n_components)
    check_count("max_rows", max_rows, least=2)
    affinities = partial(
        multislice_kernel,
        n_neighbors=n_neighbors,
        n_slice_neighbors=n_slice_neighbors,
        decay=decay,
        precision=precision,
    )
    skipped = int(not keep_first)
    # With products of such narrow arrays, threads mostly wait for each other.
    with threadpool_limits(1, user_api="blas"):
        embedded = joint_embedding(
            [affinities(tensor) for tensor in _read_traces(traces)],
            n_components=max(skipped + n_components, 3),  # 3 for the embedding
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
    """Return the scores of many configurations, the most stable first.

    Args:
        specifications: Traces of the runs of each configuration, by name. None of the
            models should have collapsed.
        score: Function of traces, :func:`training_dynamics` or a ``functools.partial``
            of it with other options.
        map_over: Function that applies ``score`` to each configuration; the ``map`` of
            a process pool uses several cores.

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


def _read_traces(
    traces: Sequence[Trace | NDArray[np.floating]],
) -> list[NDArray[np.floating]]:
    check_count("The number of traces", len(traces), least=2)
    recorded = [trace for trace in traces if isinstance(trace, Trace)]
    for trace in recorded[1:]:
        if not (
            np.array_equal(trace.rows, recorded[0].rows)
            and np.array_equal(trace.steps, recorded[0].steps)
        ):
            raise ValueError(
                "traces must have the same rows and steps. Record them with the same "
                "TraceSettings and number of steps."
            )
    tensors = [
        trace.activations if isinstance(trace, Trace) else np.asarray(trace)
        for trace in traces
    ]
    shapes = {tensor.shape[:2] for tensor in tensors}
    if len(shapes) > 1 or min(tensor.ndim for tensor in tensors) < 3:
        raise ValueError(
            "Activations must have shape (n_slices, n_observations, n_units), with the "
            "same slices and observations, got shapes "
            f"{sorted({tensor.shape for tensor in tensors})}."
        )
    n_points = int(np.prod(tensors[0].shape[:2]))
    check_count("The number of pairs of slice and observation", n_points, least=3)
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
            "bandwidth must be 'fixed', 'median' or a positive number, got "
            f"{bandwidth!r}."
        )
    return float(bandwidth)
