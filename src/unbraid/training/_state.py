"""State of training, from which a run can be continued exactly."""

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

    It holds no random state, because batches and noise depend on seed and step only.

    Attributes:
        model: The model.
        optimizer: Optimizer of the model, and of the second network unless that is an
            adversary.
        extra: Second network of the objective, if it has one.
        adversary_optimizer: Optimizer of the second network, if that is an adversary.
        step: Number of updates done.
    """

    model: Autoencoder
    optimizer: torch.optim.Optimizer
    extra: nn.Module | None = None
    adversary_optimizer: torch.optim.Optimizer | None = None
    step: int = 0

    @classmethod
    def create(
        cls, spec: TrainingSpec, *, device: torch.device | str = "cpu"
    ) -> "TrainingState":
        """Return the state before the first step.

        Args:
            spec: Settings of the run.
            device: Device to train on.
        """
        _require_memory(spec)
        model = build_model(
            spec.network,
            image_shape=spec.image_shape,
            n_latents=spec.n_latents,
            likelihood=spec.likelihood,
            seed=spec.seed,
            is_variational=spec.objective.is_variational,
            has_decoder=spec.objective.needs_decoder,
            mean=spec.mean or None,
            std=spec.std or None,
        ).to(device)
        extra = _build_extra(spec, model)
        parameters = list(model.parameters())
        adversary_optimizer = None
        if extra is not None:
            extra = extra.to(device)
            if isinstance(spec.objective, AbstractAdversarialObjective):
                adversary_optimizer = spec.objective.adversary_optimizer(extra)
            else:
                parameters += list(extra.parameters())
        optimizer = _build_optimizer(spec, parameters)
        return cls(model, optimizer, extra, adversary_optimizer)

    def set_learning_rate(self, rate: float) -> None:
        """Set the learning rate of the model's optimizer, which keeps its averages."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate


def _require_memory(spec: TrainingSpec) -> None:
    """Raise an error if the model or a batch does not fit into memory."""
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
    """Return the number of weights, from layers without memory (device meta)."""
    try:
        with torch.device("meta"), torch.random.fork_rng(devices=[]):
            n_outputs = spec.n_latents * (2 if spec.objective.is_variational else 1)
            networks = [spec.network.encoder(spec.image_shape, n_outputs)]
            if spec.objective.needs_decoder:
                networks.append(spec.network.decoder(spec.image_shape, spec.n_latents))
    except Exception:  # custom networks may do more than create layers
        return 0
    return sum(part.numel() for net in networks for part in net.parameters())


def _build_extra(spec: TrainingSpec, model: Autoencoder) -> nn.Module | None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_generator(spec.seed, "second network").initial_seed())
        return spec.objective.build_extra(model)


def _build_optimizer(
    spec: TrainingSpec, parameters: list[nn.Parameter]
) -> torch.optim.Optimizer:
    kind = getattr(torch.optim, spec.optimizer)
    options: dict[str, Any] = dict(spec.optimizer_options)
    if spec.optimizer in ("Adam", "AdamW", "SGD", "Adagrad"):
        # One kernel for all parameters, which makes small models on a CPU much faster.
        options.setdefault("fused", True)
    try:
        return kind(parameters, lr=value_at(spec.learning_rate, 0), **options)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"torch.optim.{spec.optimizer} does not accept the options {options}: "
            f"{error}"
        ) from error
