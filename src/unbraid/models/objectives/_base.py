"""Base classes of objectives: hyperparameters and the loss they define."""

import abc
import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import torch
from torch import nn

from unbraid.data import AbstractDataset, AbstractSampler, Batch, Singles
from unbraid.foundation import check_number, check_option
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._likelihood import AbstractLikelihood
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number, fill_steps, schedule_ends, value_at
from unbraid.models.networks import AbstractNetwork

Scale = Literal["sum", "mean"]


@dataclass(frozen=True, kw_only=True)
class LossContext:
    """What a loss may depend on besides the model and the batch.

    Attributes:
        generator: Source of all randomness, on the device of the model.
        step: Number of updates so far, for hyperparameters that change.
        extra: Second network, made by :meth:`AbstractObjective.build_extra`.

    Example:
        >>> from unbraid.models import Linear
        >>> context = LossContext(generator=torch.Generator(), step=50)
        >>> context.value(4.0), context.value(Linear(start=0.0, end=1.0, steps=100))
        (4.0, 0.5)
    """

    generator: torch.Generator
    step: int = 0
    extra: nn.Module | None = None

    def value(self, number: Number) -> float:
        """Value of a hyperparameter, which may be a schedule, at this step."""
        return value_at(number, self.step)


@dataclass(frozen=True, kw_only=True)
class AbstractObjective(abc.ABC):
    """Hyperparameters, and the loss that they define.

    An objective is immutable and owns no network and no optimizer. To write one,
    subclass this as a frozen dataclass with one field per hyperparameter (of type
    ``Number`` if it may be a schedule), implement :meth:`loss`, and test it with
    ``unbraid.testing.check_objective``.

    Args:
        scale: ``"sum"``: nats per image, summed over pixels and over latents, so that
            beta means what it does in Higgins et al. (2017). ``"mean"``: averaged over
            pixels, and over latents, as in the dissertation (section A.2.1), so that
            ``beta_mean = beta_sum * n_latents / n_pixels``.
    """

    is_variational: ClassVar[bool] = True
    """Whether the objective needs a variational model."""

    least_batch: ClassVar[int] = 1
    """Smallest batch for which the loss is defined."""

    scales_all: ClassVar[bool] = True
    """Whether the scale applies to every part of the loss."""

    scale: Scale = "sum"

    def __post_init__(self) -> None:
        check_option("scale", self.scale, Scale)

    @abc.abstractmethod
    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Compute the loss of a batch.

        Args:
            model: Model to train; it is not changed.
            batch: Images drawn by the :meth:`sampler` of this objective.
            context: Step, source of randomness, and second network.
        """

    @property
    def needs_decoder(self) -> bool:
        """Whether the model needs a decoder; if not, none is built."""
        return True

    def sampler(self) -> AbstractSampler:
        """Return the sampler of batches: single images, pairs or triplets."""
        return Singles()

    def default_network(self) -> AbstractNetwork | None:
        """Network to use unless another is chosen; ``None`` if any will do."""
        return None

    def default_likelihood(self) -> AbstractLikelihood | None:
        """Likelihood to use unless another is chosen; ``None`` if any will do."""
        return None

    def build_extra(self, model: Autoencoder) -> nn.Module | None:
        """Build a second network that the loss needs, trained along with the model."""
        del model

    def for_data(self, dataset: AbstractDataset) -> Self:
        """Return this objective with settings that depend on the dataset."""
        del dataset
        return self

    def over(self, n_steps: int) -> Self:
        """Return this objective with schedules that end after ``n_steps`` steps."""
        return fill_steps(self, n_steps)

    def combine_terms(
        self,
        model: Autoencoder,
        reconstruction: torch.Tensor,
        latent: torch.Tensor | float = 0.0,
    ) -> torch.Tensor:
        """Add the two sides of a loss in the objective's scale.

        Args:
            model: Model whose pixels and latents are counted.
            reconstruction: Reconstruction loss, summed over pixels, a scalar.
            latent: Weighted terms of the codes, summed over latents, a scalar.
        """
        if self.scale == "mean":
            return reconstruction / model.n_pixels + latent / model.n_latents
        return reconstruction + latent

    def check_numbers(
        self, *names: str, least: float = 0.0, most: float = math.inf
    ) -> None:
        """Require hyperparameters, or the ends of their schedules, to be in a range.

        Args:
            names: Names of the fields.
            least: Smallest value allowed.
            most: Largest value allowed.
        """
        for name in names:
            for number in schedule_ends(getattr(self, name)):
                check_number(name, number, least=least, most=most)


class AbstractAdversarialObjective(AbstractObjective):
    """An objective whose second network is trained against the model.

    The training loop makes two separate passes: first :meth:`loss`, which changes the
    model only, then :meth:`adversary_loss`, which changes the adversary only.
    """

    @abc.abstractmethod
    def adversary_loss(
        self, model: Autoencoder, batch: Batch, context: LossContext
    ) -> Loss:
        """Compute the loss of the adversary, ``context.extra``.

        It must not reach the weights of the model.
        """

    @abc.abstractmethod
    def adversary_optimizer(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """Return an optimizer of the adversary's parameters."""
