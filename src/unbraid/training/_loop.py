"""The training loop: a generator of snapshots."""

import math
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils import get_total_norm

from unbraid.data import Batch, BatchStream
from unbraid.foundation import TrainingDivergedError, torch_generator
from unbraid.models import Loss, Number, value_at
from unbraid.models.objectives import (
    AbstractAdversarialObjective,
    AbstractObjective,
    LossContext,
)

from ._denormals import flushed_denormals
from ._state import TrainingState

_NOISY = (nn.modules.dropout._DropoutNd, nn.RReLU)


@dataclass(frozen=True)
class Snapshot:
    """The state of training at a step, and the mean losses of a range of steps.

    A range ends at every multiple of ``every`` and at the last step. A snapshot within
    a range, as :func:`train` yields at the steps ``also``, covers the steps so far.

    Attributes:
        step: Number of updates done.
        state: The current state; it changes when the loop continues.
        terms: Mean of each term of the loss over the steps of the range, and
            ``"total"``.
        kl_per_latent: KL divergence of each latent, averaged in the same way,
            ``(n_latents,)``; ``None`` without a prior.
        gradient_norm: Norm of the gradient of the last step.
        images_per_second: Training images per second, partner images included.
    """

    step: int
    state: TrainingState
    terms: dict[str, float]
    kl_per_latent: NDArray[np.float64] | None
    gradient_norm: float
    images_per_second: float


def train(
    state: TrainingState,
    stream: BatchStream,
    objective: AbstractObjective,
    *,
    steps: int,
    learning_rate: Number | None = None,
    every: int = 100,
    also: Collection[int] = (),
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Iterator[Snapshot]:
    """Train a model, and yield snapshots.

    Batch and noise of a step depend on the seed of the stream and the step only, so
    that a state that is saved, loaded and trained further ends with the same weights.

    Args:
        state: State of training, changed in place.
        stream: Batches from the sampler of the objective.
        objective: Training objective; the number of steps of its schedules must be set.
        steps: Total number of updates at the end, including those done before.
        learning_rate: Learning rate of the model's optimizer, a number or a schedule;
            if not given, that of the optimizer is kept.
        every: Updates per range of averaged losses.
        also: Further steps at which to yield a snapshot. They do not change the ranges.
        is_interrupted: Called after every step; if true, a snapshot is yielded at once.

    Yields:
        Snapshots at the multiples of ``every``, at the steps ``also``, and at the end.

    Raises:
        TrainingDivergedError: If a term of the loss is not finite; the message names
            the term and the step.
    """
    record = _Record(first=state.step)
    while state.step < steps:
        end = min(steps, (state.step // every + 1) * every)
        stop = min((step for step in also if state.step < step < end), default=end)
        # Layers such as dropout draw from torch's global generator.
        is_noisy = any(isinstance(part, _NOISY) for part in state.model.modules())
        kept = torch.random.fork_rng(enabled=is_noisy)
        with flushed_denormals(), kept:
            _train_until(
                state,
                stream,
                objective,
                stop,
                learning_rate,
                record,
                is_interrupted,
                is_noisy,
            )
            snapshot = record.snapshot(state)
        if state.step == end:
            record = _Record(first=state.step)
        yield snapshot


@dataclass
class _Record:
    """Losses of the steps of one range.

    Attributes:
        first: First step of the range.
        names: Names of the terms of the loss.
        rows: Terms of the loss, one tensor per term and step.
        divergences: KL divergence per latent, one tensor per step.
        n_images: Training images, partner images included.
        seconds: Time spent training.
    """

    first: int
    names: list[str] = field(default_factory=list)
    rows: list[torch.Tensor] = field(default_factory=list)
    divergences: list[torch.Tensor] = field(default_factory=list)
    n_images: int = 0
    seconds: float = 0.0

    def snapshot(self, state: TrainingState) -> Snapshot:
        """Average the steps so far, and check that all numbers are finite."""
        table = torch.stack(self.rows).double().cpu().numpy()
        table = table.reshape(-1, len(self.names))
        _check_finite(table, self.names, self.first)
        _check_weights(state)
        return Snapshot(
            step=state.step,
            state=state,
            terms=dict(zip(self.names, table.mean(axis=0).tolist(), strict=True)),
            kl_per_latent=_mean(self.divergences),
            gradient_norm=_gradient_norm(state),
            images_per_second=self.n_images / max(self.seconds, 1e-9),
        )


def _train_until(
    state: TrainingState,
    stream: BatchStream,
    objective: AbstractObjective,
    stop: int,
    learning_rate: Number | None,
    record: _Record,
    is_interrupted: Callable[[], bool],
    is_noisy: bool,
) -> None:
    started = time.perf_counter()
    while state.step < stop:
        batch = stream.batch(state.step)
        device = batch.images.device
        generator = torch_generator(stream.seed, "noise", state.step, device=device)
        if is_noisy:
            torch.manual_seed(generator.initial_seed())
        context = LossContext(step=state.step, generator=generator, extra=state.extra)
        loss = objective.loss(state.model, batch, context)
        state.optimizer.zero_grad()
        loss.total.backward()
        if learning_rate is not None:
            state.set_learning_rate(value_at(learning_rate, state.step))
        state.optimizer.step()
        record.names, row = _parts(loss)
        if isinstance(objective, AbstractAdversarialObjective):
            extra_names, extra_row = _train_adversary(state, objective, batch, context)
            record.names, row = record.names + extra_names, row + extra_row
        record.rows += row
        if loss.kl_per_latent is not None:
            record.divergences.append(loss.kl_per_latent.detach())
        record.n_images += len(batch.images) * (1 + len(batch.partner_images))
        state.step += 1
        if is_interrupted():
            break
    record.seconds += time.perf_counter() - started


def _train_adversary(
    state: TrainingState,
    objective: AbstractAdversarialObjective,
    batch: Batch,
    context: LossContext,
) -> tuple[list[str], list[torch.Tensor]]:
    """Update the adversary in a separate pass, so that gradients do not mix."""
    assert state.adversary_optimizer is not None
    # Discard the gradients that the model's loss left in the adversary.
    state.adversary_optimizer.zero_grad()
    loss = objective.adversary_loss(state.model, batch, context)
    loss.total.backward()
    state.adversary_optimizer.step()
    names, row = _parts(loss)
    return [f"adversary_{name}" for name in names], row


def _parts(loss: Loss) -> tuple[list[str], list[torch.Tensor]]:
    parts = {"total": loss.total, **loss.terms}
    return list(parts), [part.detach() for part in parts.values()]


def _check_finite(table: NDArray[np.float64], names: list[str], first: int) -> None:
    if np.isfinite(table).all():
        return
    row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
    bad = [
        name
        for name, value in zip(names, table[row], strict=True)
        if not np.isfinite(value) and name != "total"
    ] or ["total"]
    raise TrainingDivergedError(step=first + row, terms=tuple(bad))


def _check_weights(state: TrainingState) -> None:
    """Require finite weights; the last step may spoil them despite a finite loss."""
    weights = list(state.model.parameters())
    if state.extra is not None:
        weights += list(state.extra.parameters())
    if not math.isfinite(get_total_norm(weights)):
        raise TrainingDivergedError(step=state.step - 1, terms=("weights",))


def _gradient_norm(state: TrainingState) -> float:
    gradients = [
        parameter.grad
        for parameter in state.model.parameters()
        if parameter.grad is not None
    ]
    if not gradients:
        return 0.0
    # In double precision, in which the squares of single precision cannot overflow.
    norms = [gradient.norm(dtype=torch.float64) for gradient in gradients]
    norm = float(torch.stack(norms).norm())
    if not math.isfinite(norm):
        raise TrainingDivergedError(step=state.step - 1, terms=("gradient",))
    return norm


def _mean(rows: list[torch.Tensor]) -> NDArray[np.float64] | None:
    if not rows:
        return None
    return torch.stack(rows).double().mean(dim=0).cpu().numpy()
