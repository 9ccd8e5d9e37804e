"""check_objective: the conformance suite of objectives."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import torch
from torch import nn

from unbraid.data import AbstractDataset, Batch, BatchStream, XYSquares
from unbraid.foundation import from_plain, to_plain, torch_generator
from unbraid.models import (
    RECORDS,
    AbstractSchedule,
    Autoencoder,
    Bernoulli,
    Constant,
    Loss,
    build_model,
)
from unbraid.models.networks import Dense
from unbraid.models.objectives import (
    AbstractAdversarialObjective,
    AbstractObjective,
    LossContext,
)

_N_LATENTS = 4
_N_STEPS = 10


def check_objective(
    objective: AbstractObjective, *, dataset: AbstractDataset | None = None
) -> None:
    """Check that an objective fulfills the contract of ``AbstractObjective``.

    The loss of a tiny dense model, or of one with the default network of the objective,
    is computed for a batch of the sampler.

    Args:
        objective: Objective to check. Schedules without an end get one.
        dataset: Dataset of small images, for an objective that needs certain labels.

    Raises:
        AssertionError: If a requirement is violated; the message says which.

    Example:
        >>> from unbraid.models.objectives import BetaVAE
        >>> check_objective(BetaVAE(beta=2.0))
    """
    dataset = dataset or XYSquares(image_size=8, square_size=1, n_squares=1)
    objective = objective.for_data(dataset).over(_N_STEPS)
    stream = BatchStream(dataset=dataset, size=16, sampler=objective.sampler())
    trial = _Trial.prepare(objective, stream.batch(0), dataset.image_shape)
    _check_parts(trial)
    _check_randomness(trial)
    _check_gradients(trial)
    _check_scales(trial)
    _check_schedules(trial)
    _check_record(objective)
    least = dataclasses.replace(stream, size=objective.least_batch)
    smallest = dataclasses.replace(trial, batch=least.batch(0))
    _require(
        bool(smallest.loss().total.isfinite()),
        f"the loss of {objective.least_batch} images, its least_batch, must be finite",
    )
    _check_improvement(trial)


@dataclass(frozen=True)
class _Trial:
    """An objective, and everything that is needed to compute its loss."""

    objective: AbstractObjective
    batch: Batch
    model: Autoencoder
    extra: nn.Module | None

    @classmethod
    def prepare(
        cls, objective: AbstractObjective, batch: Batch, image_shape: tuple[int, ...]
    ) -> "_Trial":
        model = build_model(
            objective.default_network() or Dense(widths=(16,)),
            image_shape=image_shape,
            n_latents=_N_LATENTS,
            likelihood=objective.default_likelihood() or Bernoulli(),
            seed=0,
            is_variational=objective.is_variational,
            has_decoder=objective.needs_decoder,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            extra = objective.build_extra(model)
        return cls(objective, batch, model, extra)

    def loss(
        self, objective: AbstractObjective | None = None, *, seed: int = 0
    ) -> Loss:
        chosen = objective or self.objective
        return chosen.loss(self.model, self.batch, self._context(seed))

    def adversary_loss(self, objective: AbstractAdversarialObjective) -> Loss:
        return objective.adversary_loss(self.model, self.batch, self._context(0))

    def _context(self, seed: int) -> LossContext:
        generator = torch_generator(seed, "check_objective")
        return LossContext(generator=generator, extra=self.extra)

    def networks(self) -> list[nn.Module]:
        return [self.model] if self.extra is None else [self.model, self.extra]


def _check_parts(trial: _Trial) -> None:
    weights = _weights(trial)
    loss = trial.loss()
    _require(loss.total.ndim == 0, "the total must be a scalar")
    _require(bool(loss.total.isfinite()), "the total must be finite")
    _require("total" not in loss.terms, "no term must be named total")
    for name, term in loss.terms.items():
        _require(term.ndim == 0, f"the term {name!r} must be a scalar")
        _require(bool(term.isfinite()), f"the term {name!r} must be finite")
    if loss.kl_per_latent is not None:
        _require(
            loss.kl_per_latent.shape == (_N_LATENTS,),
            "there must be one divergence for each latent",
        )
    is_same = all(map(torch.equal, weights, _weights(trial)))
    _require(is_same, "computing the loss must not change a network")


def _check_randomness(trial: _Trial) -> None:
    state = torch.get_rng_state()
    first, again = trial.loss().total, trial.loss().total
    _require(bool(first == again), "the same seed must give the same loss")
    # Without a decoder, no codes are sampled.
    if trial.objective.is_variational and trial.objective.needs_decoder:
        other = trial.loss(seed=1).total
        _require(bool(first != other), "another seed must give another loss")
    _require(
        torch.equal(state, torch.get_rng_state()),
        "torch's global generator must not be used",
    )


def _check_gradients(trial: _Trial) -> None:
    objective = trial.objective
    is_adversarial = isinstance(objective, AbstractAdversarialObjective)
    trained = [trial.model] if is_adversarial else trial.networks()
    trial.loss().total.backward()
    for network in trained:
        _require_gradients(network)
    if isinstance(objective, AbstractAdversarialObjective):
        assert trial.extra is not None
        _require_no_gradients(
            trial.extra, "the loss must not have gradients in the adversary"
        )
        _forget_gradients(trial)
        adversary_loss = trial.adversary_loss(objective).total
        _require(
            adversary_loss.ndim == 0 and bool(adversary_loss.isfinite()),
            "the adversary's loss must be a finite scalar",
        )
        adversary_loss.backward()
        _require_gradients(trial.extra)
        _require_no_gradients(
            trial.model, "the adversary's loss must not have gradients in the model"
        )
    _forget_gradients(trial)


def _require_gradients(network: nn.Module) -> None:
    for name, weight in network.named_parameters():
        weight_name = f"{type(network).__name__}.{name}"
        gradient = weight.grad
        _require(gradient is not None, f"{weight_name} must have gradients")
        assert gradient is not None
        _require(
            bool(gradient.isfinite().all()),
            f"gradients of {weight_name} must be finite",
        )
        _require(
            bool(gradient.any()), f"gradients of {weight_name} must not all be zero"
        )


def _require_no_gradients(network: nn.Module, requirement: str) -> None:
    gradients = [weight.grad for weight in network.parameters()]
    _require(all(each is None or not each.any() for each in gradients), requirement)


def _forget_gradients(trial: _Trial) -> None:
    for network in trial.networks():
        network.zero_grad(set_to_none=True)


def _check_scales(trial: _Trial) -> None:
    """Check that scale 'mean' divides the two parts by pixels and by latents."""
    summed = trial.loss(dataclasses.replace(trial.objective, scale="sum"))
    averaged = trial.loss(dataclasses.replace(trial.objective, scale="mean"))
    for name, term in summed.terms.items():
        _require(
            bool(term == averaged.terms[name]), f"the scale must not change {name!r}"
        )
    if "reconstruction" not in summed.terms or not trial.objective.scales_all:
        return
    reconstruction = summed.terms["reconstruction"]
    latent = summed.total - reconstruction
    expected = reconstruction / trial.model.n_pixels + latent / trial.model.n_latents
    is_close = torch.isclose(averaged.total, expected, rtol=1e-4, atol=1e-5)
    _require(
        bool(is_close),
        "scale 'mean' must divide the reconstruction by pixels, the rest by latents",
    )


def _check_schedules(trial: _Trial) -> None:
    wanted = trial.loss().total
    hints = get_type_hints(type(trial.objective))
    for part in dataclasses.fields(trial.objective):
        value = getattr(trial.objective, part.name)
        if AbstractSchedule in get_args(hints[part.name]) and isinstance(
            value, int | float
        ):
            changed: Any = {part.name: Constant(value=value)}
            same = trial.loss(dataclasses.replace(trial.objective, **changed)).total
            _require(bool(same == wanted), f"{part.name} must accept a schedule")


def _check_record(objective: AbstractObjective) -> None:
    table = {**RECORDS, "this objective": type(objective)}
    plain = to_plain(objective, table)
    again = from_plain(json.loads(json.dumps(plain)), table)
    _require(
        to_plain(again, table) == plain,
        "settings must be the same after conversion to plain data",
    )
    try:
        type(objective).__setattr__(objective, "scale", objective.scale)
    except dataclasses.FrozenInstanceError:
        return
    raise AssertionError("check_objective: an objective must be a frozen dataclass.")


def _check_improvement(trial: _Trial) -> None:
    weights = [
        weight for network in trial.networks() for weight in network.parameters()
    ]
    if isinstance(trial.objective, AbstractAdversarialObjective):
        weights = list(trial.model.parameters())
    optimizer = torch.optim.Adam(weights, lr=1e-3)
    before = trial.loss().total.detach()
    for _ in range(_N_STEPS):
        optimizer.zero_grad()
        trial.loss().total.backward()
        optimizer.step()
    after = trial.loss().total.detach()
    _require(bool(after < before), f"{_N_STEPS} steps must decrease the loss")


def _weights(trial: _Trial) -> list[torch.Tensor]:
    return [
        value.clone()
        for network in trial.networks()
        for value in network.state_dict().values()
    ]


def _require(is_true: bool, requirement: str) -> None:
    if not is_true:
        raise AssertionError(f"check_objective: {requirement}.")
