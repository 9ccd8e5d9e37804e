"""What an objective is: a record of hyperparameters with a loss."""

import abc
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

import torch
from torch import nn

from unbraid.data import AbstractDataset, AbstractSampler, Batch, Singles
from unbraid.foundation import is_number, is_whole
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import fill_steps, schedule_ends, value_at

Scale = Literal["sum", "mean"]


@dataclass(frozen=True, kw_only=True)
class AbstractObjective(abc.ABC):
    """Hyperparameters, and the loss that they define.

    An objective never changes, never optimises and owns no network. To write one:
    subclass this as a frozen dataclass, one field per hyperparameter (a number, or a
    schedule of it), implement :meth:`loss`, and run ``unbraid.testing.check_objective``
    on it.

    Args:
        scale: ``"sum"``: nats per image, summed over pixels and over latents, so that
            beta means what it does in Higgins et al. (2017). ``"mean"``: averaged over
            pixels, and over latents, as in the dissertation (section A.2.1), so that
            ``beta_mean = beta_sum * n_latents / n_pixels``.
    """

    is_variational: ClassVar[bool] = True
    """Whether it needs a model whose codes have an uncertainty."""

    least_batch: ClassVar[int] = 1
    """Images that a batch must have for the loss to be defined."""

    scales_all: ClassVar[bool] = True
    """Whether the scale applies to every part of the loss."""

    scale: Scale = "sum"

    def __post_init__(self) -> None:
        if self.scale not in get_args(Scale):
            raise ValueError(
                f"{type(self).__name__}: expected scale 'sum' or 'mean', got "
                f"{self.scale!r}."
            )

    @abc.abstractmethod
    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """What to make small at a step.

        Args:
            model: Is not changed.
            batch: What the sampler of this objective gives.
            step: Counted from 0, for hyperparameters that change.
            generator: Of all randomness, on the device of the model.
            extra: What :meth:`build_extra` made.
        """

    def sampler(self) -> AbstractSampler:
        """Which images it must see together."""
        return Singles()

    def build_extra(self, model: Autoencoder) -> nn.Module | None:
        """A second network that the loss needs, trained along with the model."""
        del model

    def for_data(self, dataset: AbstractDataset) -> Self:
        """This objective with what it must know of the data, if that is anything."""
        del dataset
        return self

    def over(self, n_steps: int) -> Self:
        """This objective with schedules that end when a run of so many steps does."""
        return fill_steps(self, n_steps)

    def weighed(
        self, model: Autoencoder, reconstruction: torch.Tensor, latent: torch.Tensor
    ) -> torch.Tensor:
        """Sum of two scalars in nats, in the objective's scale.

        Args:
            model: Whose pixels and latents are counted.
            reconstruction: Summed over pixels.
            latent: Weighted terms, summed over latents.
        """
        if self.scale == "mean":
            return reconstruction / model.n_pixels + latent / model.n_latents
        return reconstruction + latent

    def _at(self, name: str, step: int) -> float:
        """Value of a hyperparameter at a step."""
        return value_at(getattr(self, name), step)

    def _check_numbers(
        self, *names: str, least: float = 0.0, most: float = math.inf
    ) -> None:
        """Refuse hyperparameters out of range, infinite, or not a number."""
        for name in names:
            value: Any = getattr(self, name)
            for number in schedule_ends(value):
                if not is_number(number, least=least, most=most):
                    limit = f" to {most:g}" if most < math.inf else ""
                    raise ValueError(
                        f"{type(self).__name__}: expected {name} to be a number from "
                        f"{least:g}{limit}, got {number!r}."
                    )

    def _check_whole(self, *names: str, least: int = 1) -> None:
        """Refuse hyperparameters that are not whole numbers."""
        for name in names:
            value: Any = getattr(self, name)
            if not is_whole(value, least=least):
                raise ValueError(
                    f"{type(self).__name__}: expected {name} to be a whole number from "
                    f"{least}, got {value!r}."
                )

    def _check_option(self, name: str, options: tuple[Any, ...]) -> None:
        """Refuse a choice that is not among the options."""
        value: Any = getattr(self, name)
        if value not in options:
            raise ValueError(
                f"{type(self).__name__}: expected {name} to be one of "
                f"{', '.join(map(repr, options))}, got {value!r}."
            )


class AbstractAdversarialObjective(AbstractObjective):
    """An objective whose second network is trained against the model.

    The loop makes two separate passes: first :meth:`loss`, which changes the model
    only, then :meth:`adversary_loss`, which changes the adversary only.
    """

    @abc.abstractmethod
    def adversary_loss(
        self,
        model: Autoencoder,
        adversary: nn.Module,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
    ) -> Loss:
        """What the adversary makes small; it must not reach the model's weights."""

    @abc.abstractmethod
    def adversary_optimiser(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """Optimiser of the adversary's parameters."""
