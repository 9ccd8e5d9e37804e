"""Base class of semi-supervised objectives."""

import abc
import dataclasses
from dataclasses import dataclass
from typing import Self

import torch
from torch import nn

from unbraid.data import (
    AbstractDataset,
    AbstractSampler,
    Batch,
    LabeledRows,
    discrete_factors,
)
from unbraid.foundation import (
    check_integer,
    check_integers,
    check_option,
    check_positive,
)
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._base import AbstractObjective, LossContext
from ._supervised_terms import (
    CrossEntropy,
    Embedding,
    ScaledSquares,
    SigmoidSquares,
    StrayCovariance,
    SupervisedKind,
)


@dataclass(frozen=True, kw_only=True)
class AbstractSemiSupervised(AbstractObjective, abc.ABC):
    """An unsupervised objective, plus a supervised term for a few labeled images.

    Args:
        base: Unsupervised objective.
        kind: Supervised term, see :class:`SemiSupervised`.
        gamma: Weight of the supervised term, at least 0.
        n_labels: Number of images whose labels are used.
        label_seed: Seed of the choice of labeled images.
        sigma: Sharpness of the embeddings, positive; kind ``"embedding"`` only.
        is_ordered: Whether embeddings keep the order of the values; kind
            ``"embedding"`` only.
        factor_sizes: Number of values of each factor; filled in from the data.
        scale: Scale of the whole loss, ``"sum"`` or ``"mean"``.
    """

    base: AbstractObjective
    kind: SupervisedKind = "cross_entropy"
    gamma: Number = 64.0
    n_labels: int = 100
    label_seed: int = 0
    sigma: float = 1.0
    is_ordered: bool = False
    factor_sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("gamma")
        check_option("kind", self.kind, SupervisedKind)
        check_option("is_ordered", self.is_ordered, (True, False))
        check_integer("n_labels", self.n_labels, least=1)
        check_positive("sigma", self.sigma)
        check_integers("factor_sizes", self.factor_sizes, least=1)
        # Settings from a file contain lists.
        object.__setattr__(self, "factor_sizes", tuple(self.factor_sizes))
        self._check_base()
        if self.base.scale != self.scale:
            scaled = dataclasses.replace(self.base, scale=self.scale)
            object.__setattr__(self, "base", scaled)
        # Depends on the base, so that it cannot be a constant of the class.
        object.__setattr__(self, "least_batch", self.base.least_batch)

    @abc.abstractmethod
    def _supervise(
        self, term: nn.Module, codes: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """Apply the supervised term to codes of labeled images, a scalar."""

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return the base's loss plus the weighted supervised term."""
        images, labels = labeled_images(batch, caller=type(self).__name__)
        loss = self.base.loss(model, without_labels(batch), base_context(context))
        codes = model.encode(images).mean
        supervised = self._supervise(part_of(context.extra, "labels"), codes, labels)
        weight = context.value(self.gamma)
        nothing = torch.zeros_like(supervised)
        return Loss(
            loss.total + self.combine_terms(model, nothing, weight * supervised),
            {**loss.terms, "supervised": supervised},
            loss.kl_per_latent,
        )

    def sampler(self) -> AbstractSampler:
        """Return the sampler of the base, followed by a labeled image."""
        return LabeledRows(
            n_labels=self.n_labels, seed=self.label_seed, after=self.base.sampler()
        )

    def for_data(self, dataset: AbstractDataset) -> Self:
        """Return this objective with the sizes of the dataset's factors."""
        space = discrete_factors(dataset)
        return dataclasses.replace(
            self, base=self.base.for_data(dataset), factor_sizes=space.sizes
        )

    def build_extra(self, model: Autoencoder) -> nn.Module:
        """Build the supervised term, ``"labels"``, and the network of the base."""
        parts = {"labels": self._build_term(model)}
        base = self.base.build_extra(model)
        if base is not None:
            parts["base"] = base
        return nn.ModuleDict(parts)

    def _check_base(self) -> None:
        if not isinstance(self.base, AbstractObjective):
            raise ValueError(
                "base must be an objective, such as BetaVAE() or in settings "
                f"{{name: beta_vae}}, got {self.base!r}."
            )
        if not self.base.is_variational or isinstance(
            self.base, AbstractSemiSupervised
        ):
            raise ValueError(
                "base must be a variational objective without labels, got "
                f"{type(self.base).__name__}."
            )
        if (self.base.scale, self.scale) == ("mean", "sum"):
            raise ValueError("scale must be 'mean', as that of base, got 'sum'.")

    def _build_term(self, model: Autoencoder) -> nn.Module:
        sizes = self.factor_sizes
        if not sizes:
            raise ValueError(
                "factor_sizes is empty. Set it, or call for_data(dataset), as fit does."
            )
        if model.n_latents < len(sizes):
            raise ValueError(
                f"{type(self).__name__} needs a latent for each of the {len(sizes)} "
                f"factors, got {model.n_latents} latents."
            )
        match self.kind:
            case "l2":
                return ScaledSquares()
            case "l2_sigmoid":
                return SigmoidSquares(sizes)
            case "cross_entropy":
                return CrossEntropy(sizes)
            case "covariance":
                return StrayCovariance()
            case "embedding":
                return Embedding(sizes, sigma=self.sigma, is_ordered=self.is_ordered)


def without_labels(batch: Batch) -> Batch:
    """Return the batch of the base, without labeled images and without labels."""
    return Batch(images=batch.images, partner_images=batch.partner_images[:-1])


def labeled_images(batch: Batch, *, caller: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images whose labels are known, and these labels."""
    if not batch.partner_factors:
        raise ValueError(
            f"{caller} needs a batch with labeled images, got none. Draw batches with "
            "the sampler() of the objective."
        )
    return batch.partner_images[-1], batch.partner_factors[-1]


def part_of(extra: nn.Module | None, name: str) -> nn.Module:
    """Return a part of the result of :meth:`AbstractSemiSupervised.build_extra`."""
    assert isinstance(extra, nn.ModuleDict)
    return extra[name]


def base_context(context: LossContext) -> LossContext:
    """Return the context of the base, with its second network, if it has one."""
    assert isinstance(context.extra, nn.ModuleDict)
    parts = dict(context.extra.items())
    return dataclasses.replace(context, extra=parts.get("base"))
