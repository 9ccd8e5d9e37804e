"""Comparison of how the seeds of each configuration learned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.training import Trace

from ._training_dynamics import DynamicsScore, training_dynamics

AnyTrace = Trace | NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class ComparedTraining:
    """Training dynamics of the seeds of one configuration.

    Attributes:
        runs: Indices of the compared runs, at least two.
        score: Their dynamics, in the order of ``runs``.
    """

    runs: NDArray[np.int64]
    score: DynamicsScore

    @property
    def per_run(self) -> NDArray[np.float64]:
        """Mean discrepancy of each run from the others, lower is more stable."""
        return self.score.pairs.sum(axis=1) / (len(self.runs) - 1)


def compare_training(
    configurations: Sequence[str],
    read_trace: Callable[[int], AnyTrace | None],
    *,
    is_active: Sequence[bool] | NDArray[np.bool_],
    score: Callable[[Sequence[AnyTrace]], DynamicsScore] = training_dynamics,
) -> dict[str, ComparedTraining]:
    """Compare how the seeds of each configuration learned, one configuration at a time.

    Runs without active latents are left out, because a decoder that ignores its input
    is perfectly stable.

    Args:
        configurations: Name of the configuration of each run.
        read_trace: Function of the index of a run that returns its trace, or ``None``
            if there is none. Traces of one configuration are in memory at a time.
        is_active: Whether each run has an active latent, ``(n_runs,)``.
        score: Function of the traces, :func:`training_dynamics` or a
            ``functools.partial`` of it with other options.

    Returns:
        The comparisons by configuration; configurations with fewer than two active runs
        with a trace are left out.

    Example:
        >>> traces = np.random.default_rng(0).normal(size=(3, 4, 20, 5))
        >>> compared = compare_training(
        ...     ["a", "b", "a"], lambda k: traces[k], is_active=[True] * 3)
        >>> list(compared), compared["a"].runs
        (['a'], array([0, 2]))
    """
    compared = {}
    for name in dict.fromkeys(configurations):
        own = [
            k
            for k, configuration in enumerate(configurations)
            if configuration == name and is_active[k]
        ]
        traces = {k: trace for k in own if (trace := read_trace(k)) is not None}
        if len(traces) > 1:
            runs = np.array(list(traces), dtype=np.int64)
            compared[name] = ComparedTraining(runs, score(list(traces.values())))
    return compared


def dynamics_pairs(
    configurations: Sequence[str], compared: dict[str, ComparedTraining]
) -> dict[str, NDArray[np.float64]]:
    """Return the discrepancies of all runs of each configuration.

    Args:
        configurations: Name of the configuration of each run.
        compared: Result of :func:`compare_training`.

    Returns:
        Matrices ``(n_runs, n_runs)`` in the order of the runs, as
        :class:`Evidence` takes them; NaN for runs that were not compared.
    """
    found = {}
    for name in dict.fromkeys(configurations):
        own = np.flatnonzero(np.array(configurations) == name)
        pairs = np.full((len(own), len(own)), np.nan)
        if name in compared:
            rows = np.searchsorted(own, compared[name].runs)
            pairs[np.ix_(rows, rows)] = compared[name].score.pairs
        found[name] = pairs
    return found
