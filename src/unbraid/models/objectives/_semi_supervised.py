"""Semi-supervised: an objective of single images, and a few labels."""

from dataclasses import dataclass, field

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._frozen import apply_frozen
from unbraid.models._loss import Loss

from ._base import AbstractAdversarialObjective, AbstractObjective, LossContext
from ._beta_vae import BetaVAE
from ._semi_supervised_base import (
    AbstractSemiSupervised,
    base_context,
    labeled_images,
    part_of,
    without_labels,
)


@dataclass(frozen=True, kw_only=True)
class SemiSupervised(AbstractSemiSupervised):
    r"""An objective without labels, plus a term that few labeled images get.

    Latent ``i`` is told to hold factor ``i``; a batch of images drawn from the few is
    encoded, and their means compared with their labels.

    .. math:: L_{\text{base}} + \gamma \, R(\mu, y)

    Args:
        base: What is taught without labels, for example ``AnnealedVAE()``; not an
            objective of pairs or triplets, nor an adversarial one, for which there is
            :class:`SemiSupervisedAdversarial`.
        kind: ``"l2"``, the squared error of means times one learned number;
            ``"l2_sigmoid"``, that of means squeezed between 0 and 1;
            ``"cross_entropy"`` with means as logits of a label's share of the range;
            ``"covariance"`` of latents with factors of other latents; or
            ``"embedding"``, the cross-entropy of learned places of the values.
        gamma: Weight of the term, from 0. A schedule makes it grow: ``Linear(start=0,
            end=gamma, steps=n)``, or all at once with ``steps=1, first_step=n``.
        n_labels: Images whose labels are seen.
        label_seed: Of the choice of these images.
        sigma: How sharp embeddings are, above 0; kind ``"embedding"`` only.
        is_ordered: Whether embeddings keep the order of values; likewise.
        factor_sizes: Number of values of each factor; filled in from the data.
        scale: Of the whole loss, ``"sum"`` or ``"mean"``.

    Example:
        >>> from unbraid.data import XYSquares
        >>> objective = SemiSupervised(base=BetaVAE(beta=2.0), kind="l2")
        >>> objective.for_data(XYSquares(n_squares=1)).factor_sizes
        (8, 8)

    References:
        Locatello et al. (2020), Disentangling Factors of Variation Using Few Labels.
        https://arxiv.org/abs/1905.01258. Terms are those of disentanglement_lib, but
        the mean over labeled images, where its first three are sums over the batch:
        our ``gamma`` is its weight times the batch size, by default 1 times 64. Its
        squared error of squeezed means compares every image with every label; ours
        compares an image with its own.
    """

    base: AbstractObjective = field(default_factory=BetaVAE)

    def _supervise(
        self, term: nn.Module, codes: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        return term(codes, labels)

    def _check_base(self) -> None:
        super()._check_base()
        if isinstance(self.base, AbstractAdversarialObjective):
            raise ValueError(
                f"base must not have an adversary, got {type(self.base).__name__}. Use "
                "SemiSupervisedAdversarial."
            )
        if self.base.sampler().n_companions:
            raise ValueError(
                "base must see images one by one, got "
                f"{type(self.base).__name__}, which learns from images that go "
                "together."
            )


@dataclass(frozen=True, kw_only=True)
class SemiSupervisedAdversarial(AbstractSemiSupervised, AbstractAdversarialObjective):
    r"""An adversarial objective, plus a term that few labeled images get.

    As :class:`SemiSupervised`, for a base whose second network is trained against the
    model. What the supervised term learns (a scale, or places of values) is not the
    model's, and learns in the adversary's turn, by the adversary's optimizer.

    .. math:: L_{\text{base}} + \gamma \, R(\mu, y)

    Args:
        base: What is taught without labels, such as ``FactorVAE()``.
        kind: The supervised term, as in :class:`SemiSupervised`.
        gamma: Its weight, from 0.
        n_labels: Images whose labels are seen.
        label_seed: Of the choice of these images.
        sigma: How sharp embeddings are, above 0; kind ``"embedding"`` only.
        is_ordered: Whether embeddings keep the order of values; likewise.
        factor_sizes: Number of values of each factor; filled in from the data.
        scale: Of the whole loss, ``"sum"`` or ``"mean"``.

    References:
        Locatello et al. (2020), Disentangling Factors of Variation Using Few Labels.
        https://arxiv.org/abs/1905.01258
    """

    base: AbstractAdversarialObjective

    def _supervise(
        self, term: nn.Module, codes: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        return apply_frozen(term, codes, labels)

    def adversary_loss(
        self, model: Autoencoder, batch: Batch, context: LossContext
    ) -> Loss:
        """The adversary's loss, and what the supervised term has to learn."""
        seen = without_labels(batch)
        loss = self.base.adversary_loss(model, seen, base_context(context))
        term = part_of(context.extra, "labels")
        if not list(term.parameters()):
            return loss
        images, labels = labeled_images(batch, who=type(self).__name__)
        with torch.no_grad():
            codes = model.encode(images).mean
        supervised = term(codes, labels)
        return Loss(
            loss.total + supervised,
            {**loss.terms, "supervised": supervised},
            loss.kl_per_latent,
        )

    def adversary_optimizer(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """The base's, for the supervised term as well."""
        optimizer = self.base.adversary_optimizer(part_of(adversary, "base"))
        learned = list(part_of(adversary, "labels").parameters())
        if learned:
            optimizer.add_param_group({"params": learned})
        return optimizer

    def _check_base(self) -> None:
        super()._check_base()
        if not isinstance(self.base, AbstractAdversarialObjective):
            raise ValueError(
                f"base must have an adversary, got {type(self.base).__name__}. Use "
                "SemiSupervised."
            )
