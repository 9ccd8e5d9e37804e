"""The training loop: a generator of snapshots, from which the caller pulls."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import get_total_norm

from unbraid.data import Batch, BatchStream
from unbraid.errors import TrainingDivergedError
from unbraid.models import Loss
from unbraid.models.objectives import AbstractAdversarialObjective, AbstractObjective
from unbraid.randomness import torch_generator

from ._denormals import flushed_denormals
from ._state import TrainingState


@dataclass(frozen=True)
class Snapshot:
    """What happened since the last one.

    Attributes:
        step: Updates done.
        state: The state now; it changes when the loop goes on.
        terms: Mean of each part of the loss over the steps since the last snapshot, and
            ``"total"``.
        kl_per_latent: Likewise, ``(n_latents,)``; ``None`` without a prior.
        gradient_norm: Of the last step.
        images_per_second: Images seen per second, with their companions.
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
    every: int = 100,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Iterator[Snapshot]:
    """Train, and say how it goes.

    Batch and noise of a step depend on the seed of the stream and the step alone, so
    that a state which is saved, loaded and trained on ends where it would have ended.

    Args:
        state: Changed in place.
        stream: Batches of the sampler that the objective asks for.
        objective: Its schedules must have an end.
        steps: Train until so many updates are done in all.
        every: Updates between snapshots; the last step has one in any case.
        is_interrupted: Asked after every step; if true, there is a snapshot at once.

    Yields:
        Snapshots, at steps that are multiples of ``every``, and at the end.

    Raises:
        TrainingDivergedError: If a part of the loss is not finite; says which and when.
    """
    while state.step < steps:
        stop = min(steps, (state.step // every + 1) * every)
        with flushed_denormals():
            snapshot = _train_until(state, stream, objective, stop, is_interrupted)
        yield snapshot


def _train_until(
    state: TrainingState,
    stream: BatchStream,
    objective: AbstractObjective,
    stop: int,
    is_interrupted: Callable[[], bool],
) -> Snapshot:
    started, first = time.perf_counter(), state.step
    names: list[str] = []
    rows: list[torch.Tensor] = []
    divergences: list[torch.Tensor] = []
    n_images = 0
    while state.step < stop:
        batch = stream.batch(state.step)
        device = batch.images.device
        generator = torch_generator(stream.seed, "noise", state.step, device=device)
        loss = objective.loss(
            state.model,
            batch,
            step=state.step,
            generator=generator,
            extra=state.extra,
        )
        state.optimiser.zero_grad()
        loss.total.backward()
        state.optimiser.step()
        names, row = _record(loss)
        if isinstance(objective, AbstractAdversarialObjective):
            extra_names, extra_row = _train_adversary(
                state, objective, batch, generator
            )
            names, row = names + extra_names, row + extra_row
        rows += row
        if loss.kl_per_latent is not None:
            divergences.append(loss.kl_per_latent.detach())
        n_images += len(batch.images) * (1 + len(batch.partner_images))
        state.step += 1
        if is_interrupted():
            break
    table = torch.stack(rows).double().cpu().numpy().reshape(-1, len(names))
    _check_finite(table, names, first)
    _check_weights(state)
    seconds = time.perf_counter() - started
    return Snapshot(
        step=state.step,
        state=state,
        terms=dict(zip(names, table.mean(axis=0).tolist(), strict=True)),
        kl_per_latent=_mean(divergences),
        gradient_norm=_gradient_norm(state),
        images_per_second=n_images / max(seconds, 1e-9),
    )


def _train_adversary(
    state: TrainingState,
    objective: AbstractAdversarialObjective,
    batch: Batch,
    generator: torch.Generator,
) -> tuple[list[str], list[torch.Tensor]]:
    """A separate pass, after the model's own: neither sees the other's gradients."""
    assert state.extra is not None
    assert state.adversary_optimiser is not None
    # What the model's loss left in the adversary's gradients is thrown away here.
    state.adversary_optimiser.zero_grad()
    loss = objective.adversary_loss(
        state.model, state.extra, batch, step=state.step, generator=generator
    )
    loss.total.backward()
    state.adversary_optimiser.step()
    names, row = _record(loss)
    return [f"adversary_{name}" for name in names], row


def _record(loss: Loss) -> tuple[list[str], list[torch.Tensor]]:
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
    """A last step may spoil the weights with a loss that was finite still."""
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
