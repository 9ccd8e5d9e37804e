"""All that a run is at one moment: enough to go on bit for bit."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unbraid.foundation import require_memory, torch_generator
from unbraid.models import Autoencoder, build_model, value_at
from unbraid.models.objectives import AbstractAdversarialObjective

from ._specification import TrainingSpec


@dataclass
class TrainingState:
    """A model in training.

    Randomness needs no place here: batches and noise are functions of the seed and the
    step.

    Attributes:
        model: The model.
        optimiser: Of the model, and of the second network unless it is an adversary.
        extra: Second network of the objective, if it has one.
        adversary_optimiser: Of the second network, if it is an adversary.
        step: Updates done.
    """

    model: Autoencoder
    optimiser: torch.optim.Optimizer
    extra: nn.Module | None = None
    adversary_optimiser: torch.optim.Optimizer | None = None
    step: int = 0

    @classmethod
    def create(
        cls, spec: TrainingSpec, *, device: torch.device | str = "cpu"
    ) -> "TrainingState":
        """The state before the first step.

        Args:
            spec: Settings of the run.
            device: Where to train.
        """
        _require_memory(spec)
        model = build_model(
            spec.network,
            image_shape=spec.image_shape,
            n_latents=spec.n_latents,
            likelihood=spec.likelihood,
            seed=spec.seed,
            is_variational=spec.objective.is_variational,
            mean=spec.mean or None,
            std=spec.std or None,
        ).to(device)
        extra = _build_extra(spec, model)
        parameters = list(model.parameters())
        adversary_optimiser = None
        if extra is not None:
            extra = extra.to(device)
            if isinstance(spec.objective, AbstractAdversarialObjective):
                adversary_optimiser = spec.objective.adversary_optimiser(extra)
            else:
                parameters += list(extra.parameters())
        optimiser = _build_optimiser(spec, parameters)
        return cls(model, optimiser, extra, adversary_optimiser)

    def set_learning_rate(self, rate: float) -> None:
        """Of the optimiser of the model, which keeps its averages."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate


def _require_memory(spec: TrainingSpec) -> None:
    """Refuse models and batches that do not fit into memory, before building any."""
    n_weights = _n_weights(spec)
    # The weights, their gradients and the two averages of Adam.
    require_memory(
        4 * 4 * n_weights,
        f"A model with n_latents={spec.n_latents:,} and {n_weights:,} weights",
    )
    n_values = spec.batch_size * (math.prod(spec.image_shape) + spec.n_latents)
    # Images, reconstructions and their gradients, at least.
    require_memory(
        4 * 4 * n_values,
        f"A batch with batch_size={spec.batch_size:,}, n_latents={spec.n_latents:,}",
    )


def _n_weights(spec: TrainingSpec) -> int:
    """Number of weights, from layers that have a shape and no memory."""
    try:
        with torch.device("meta"), torch.random.fork_rng(devices=[]):
            n_outputs = spec.n_latents * (2 if spec.objective.is_variational else 1)
            networks = (
                spec.network.encoder(spec.image_shape, n_outputs),
                spec.network.decoder(spec.image_shape, spec.n_latents),
            )
    except Exception:  # networks of other packages may do more than make layers
        return 0
    return sum(part.numel() for net in networks for part in net.parameters())


def _build_extra(spec: TrainingSpec, model: Autoencoder) -> nn.Module | None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_generator(spec.seed, "second network").initial_seed())
        return spec.objective.build_extra(model)


def _build_optimiser(
    spec: TrainingSpec, parameters: list[nn.Parameter]
) -> torch.optim.Optimizer:
    kind = getattr(torch.optim, spec.optimiser)
    options: dict[str, Any] = dict(spec.optimiser_options)
    if spec.optimiser in ("Adam", "AdamW", "SGD", "Adagrad"):
        # One kernel for all parameters; on a CPU most of a small model's update.
        options.setdefault("fused", True)
    try:
        return kind(parameters, lr=value_at(spec.learning_rate, 0), **options)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"fit: expected options of torch.optim.{spec.optimiser}, got {options}: "
            f"{error}"
        ) from error
