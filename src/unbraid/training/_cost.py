"""Time and disk that a run will take, from its first steps."""

import time
from typing import NamedTuple

import torch

from unbraid.data import AbstractDataset

from ._fit import stream_of
from ._loop import train
from ._specification import TrainingSpec
from ._state import TrainingState

_WARM_UP, _STEPS = 2, 5
_SMALL_FILES = 40_000
"""Bytes of settings, history and scores."""


class TrainingCost(NamedTuple):
    """What a run costs.

    Attributes:
        per_step: Seconds of one step on one core.
        n_bytes: Bytes on disk.
    """

    per_step: float
    n_bytes: int


def measure_training(spec: TrainingSpec, dataset: AbstractDataset) -> TrainingCost:
    """Estimate the cost of a run by training a few steps of it on one core.

    Args:
        spec: Settings of the run.
        dataset: Data to train on.
    """
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in a worker
    try:
        state = TrainingState.create(spec, device="cpu")
        stream = stream_of(spec, dataset, torch.device("cpu"))
        n_steps = _WARM_UP + _STEPS
        snapshots = train(state, stream, spec.objective, steps=n_steps, every=1)
        times = [time.perf_counter() for _ in snapshots]
    finally:
        torch.set_num_threads(n_threads)
    return TrainingCost((times[-1] - times[_WARM_UP - 1]) / _STEPS, _size(state))


def _size(state: TrainingState) -> int:
    """The model once, and in the state again with the two averages of Adam."""
    networks = [state.model, *([state.extra] if state.extra is not None else [])]
    n_weights = sum(part.numel() for net in networks for part in net.parameters())
    return 4 * n_weights * (1 + 3) + _SMALL_FILES
