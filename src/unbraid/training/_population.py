"""Segments of runs, as members of a population train between two generations."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from unbraid.data import AbstractDataset

from ._checkpoint import load_state, save_state
from ._fit import choose_device, make_stream
from ._loop import Snapshot, train
from ._specification import Change, TrainingSpec
from ._state import TrainingState


def train_segment(
    spec: TrainingSpec,
    dataset: AbstractDataset,
    *,
    start: Path | None,
    out: Path,
    population: str,
    device: str | torch.device = "cpu",
    is_interrupted: Callable[[], bool] = lambda: False,
    notify: Callable[[Snapshot], None] = lambda snapshot: None,
) -> TrainingState:
    """Train from one saved state to another, with settings of its own.

    Weights, averages of the optimizer and the number of updates are those of the
    start; learning rate, batch size, objective and seed are those of ``spec``.

    Args:
        spec: Settings of this segment; ``steps`` is the number of updates at its end.
        dataset: Data to train on.
        start: File of the state to start from, or ``None`` for new weights.
        out: File to write the final state to; nothing is written before the end.
        population: Id of the population, which both states must name.
        device: Device to train on.
        is_interrupted: Called after every step; if true, training stops.
        notify: Called with every snapshot.

    Returns:
        The final state.

    Raises:
        TrainingDivergedError: If the loss is no longer finite.
        CheckpointFormatError: If ``start`` is damaged, or of another population.
        KeyboardInterrupt: If interrupted; nothing is written.
    """
    chosen = choose_device(device)
    state = TrainingState.create(spec, device=chosen)
    if start is not None:
        load_state(state, start, run_id=population)
    for snapshot in train(
        state,
        make_stream(spec, dataset, chosen),
        spec.objective,
        steps=spec.steps,
        learning_rate=spec.learning_rate,
        is_interrupted=is_interrupted,
    ):
        notify(snapshot)
        if is_interrupted():
            raise KeyboardInterrupt
    save_state(state, out, run_id=population)
    state.model.eval()
    return state


def join_segments(specs: Sequence[TrainingSpec]) -> TrainingSpec:
    """Return the settings of one run that consists of several segments.

    Args:
        specs: Settings of the segments, as :func:`train_segment` takes them. The first
            one starts with new weights.

    Example:
        >>> first = TrainingSpec(steps=10, learning_rate=0.1)
        >>> later = dataclasses.replace(first, steps=30, learning_rate=0.2, seed=1)
        >>> run = join_segments([first, later])
        >>> run.steps, run.changes[0].at, run.segments() == [first, later]
        (30, 10, True)
    """
    changes = tuple(
        Change(
            at=before.steps,
            objective=spec.objective,
            batch_size=spec.batch_size,
            learning_rate=spec.learning_rate,
            seed=spec.seed,
        )
        for before, spec in zip(specs, specs[1:], strict=False)
    )
    return dataclasses.replace(specs[0], steps=specs[-1].steps, changes=changes)
