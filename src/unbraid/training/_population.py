"""A member of a population for one generation: from a saved state to the next one."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from unbraid.data import AbstractDataset

from ._checkpoint import load_state, save_state
from ._fit import choose_device, stream_of
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
    hear: Callable[[Snapshot], None] = lambda snapshot: None,
) -> TrainingState:
    """Train from one saved state to another, with settings of its own.

    Weights, averages of the optimizer and the count of updates are those of the start;
    learning rate, batch size, objective and seed are those of the specification.

    Args:
        spec: Settings of this stretch; ``steps`` is the count of updates at its end.
        dataset: What is learned from.
        start: File of the state to begin with, or ``None`` for fresh weights.
        out: File to write the state to; nothing is written before the end.
        population: Id that both states belong to.
        device: Where to compute.
        is_interrupted: Asked after every step.
        hear: Told of every snapshot.

    Returns:
        The state at the end.

    Raises:
        TrainingDivergedError: If the loss is not finite any more.
        CheckpointFormatError: If the start is damaged, or of another population.
        KeyboardInterrupt: If interrupted; nothing is written.
    """
    place = choose_device(device)
    state = TrainingState.create(spec, device=place)
    if start is not None:
        load_state(state, start, run_id=population)
    for snapshot in train(
        state,
        stream_of(spec, dataset, place),
        spec.objective,
        steps=spec.steps,
        learning_rate=spec.learning_rate,
        is_interrupted=is_interrupted,
    ):
        hear(snapshot)
        if is_interrupted():
            raise KeyboardInterrupt
    save_state(state, out, run_id=population)
    state.model.eval()
    return state


def join_segments(specs: Sequence[TrainingSpec]) -> TrainingSpec:
    """One ordinary run that does what some stretches did one after another.

    Args:
        specs: As :func:`train_segment` took them, the first with fresh weights.

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
