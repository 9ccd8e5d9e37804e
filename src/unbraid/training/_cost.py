"""Estimated time and disk space of a run, from its first steps."""

import time
from typing import NamedTuple

import numpy as np
import torch

from unbraid.data import AbstractDataset

from ._fit import choose_device, make_stream
from ._loop import train
from ._specification import TrainingSpec
from ._state import TrainingState
from ._threads import torch_threads

_WARM_UP = 3
_LEAST_STEPS, _SECONDS, _MOST = 5, 0.4, 10_000
_SMALL_FILES = 40_000
"""Estimated bytes of settings, history and scores."""


class TrainingCost(NamedTuple):
    """Estimated cost of a run.

    Attributes:
        per_step: Seconds per step on one core.
        n_bytes: Bytes on disk.
    """

    per_step: float
    n_bytes: int


def measure_training(
    spec: TrainingSpec,
    dataset: AbstractDataset,
    *,
    device: str | torch.device = "cpu",
) -> TrainingCost:
    """Estimate the cost of a run by training a few steps of it.

    On a CPU, processor time on one core is measured, so that other programs do not
    count.

    Args:
        spec: Settings of the run.
        dataset: Data to train on.
        device: Device to train on.
    """
    chosen = choose_device(device)
    with torch_threads(1):  # as in a worker
        state = TrainingState.create(spec, device=chosen)
        stream = make_stream(spec, dataset, chosen)
        times = []
        for snapshot in train(state, stream, spec.objective, steps=_MOST, every=1):
            times.append(_now(chosen))
            is_enough = times[-1] - times[0] > _SECONDS
            if snapshot.step > _WARM_UP + _LEAST_STEPS and is_enough:
                break
    # A median, because single steps may wait for memory.
    return TrainingCost(float(np.median(np.diff(times)[_WARM_UP:])), _size(state))


def _now(device: torch.device) -> float:
    if device.type == "cpu":
        return time.process_time()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _size(state: TrainingState) -> int:
    """Return the bytes of the model, and of the state with the two averages of Adam."""
    networks = [state.model, *([state.extra] if state.extra is not None else [])]
    n_weights = sum(part.numel() for net in networks for part in net.parameters())
    return 4 * n_weights * (1 + 3) + _SMALL_FILES
