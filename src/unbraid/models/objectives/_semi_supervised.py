"""Semi-supervised objectives: an unsupervised objective and a few labels."""

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
    r"""An unsupervised objective, plus a supervised term for a few labeled images.

    Latent ``i`` should encode factor ``i``: images drawn from the labeled ones are
    encoded, and their means are compared with the labels.

    .. math:: L_{\text{base}} + \gamma \, R(\mu, y)

    Args:
        base: Unsupervised objective, such as ``AnnealedVAE()``. It must not use pairs
            or triplets. For adversarial objectives, use
            :class:`SemiSupervisedAdversarial`.
        kind: Supervised term: ``"l2"``, the squared error of means times a learned
            scale; ``"l2_sigmoid"``, the squared error of the sigmoid of means;
            ``"cross_entropy"``, with means as logits of labels divided by their number
            of values; ``"covariance"``, the covariance of latents with factors of other
            latents; or ``"embedding"``, the cross-entropy with a learned position for
            each value.
        gamma: Weight of the supervised term, at least 0. It may be a schedule, such as
            ``Linear(start=0, end=gamma, steps=n)``.
        n_labels: Number of images whose labels are used.
        label_seed: Seed of the choice of labeled images.
        sigma: Sharpness of the embeddings, positive; kind ``"embedding"`` only.
        is_ordered: Whether embeddings keep the order of the values; kind
            ``"embedding"`` only.
        factor_sizes: Number of values of each factor; filled in from the data.
        scale: Scale of the whole loss, ``"sum"`` or ``"mean"``.

    Example:
        >>> from unbraid.data import XYSquares
        >>> objective = SemiSupervised(base=BetaVAE(beta=2.0), kind="l2")
        >>> objective.for_data(XYSquares(n_squares=1)).factor_sizes
        (8, 8)

    References:
        Locatello et al. (2020), Disentangling Factors of Variation Using Few Labels.
        https://arxiv.org/abs/1905.01258. The terms are those of disentanglement_lib,
        averaged over labeled images, where its first three are sums over the batch: our
        ``gamma`` is its weight times the batch size, by default 1 times 64. Its
        ``"l2_sigmoid"`` compares every image with every label; ours compares an image
        with its own label.
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
                "base must use single images, got "
                f"{type(self.base).__name__}, which uses pairs or triplets."
            )


@dataclass(frozen=True, kw_only=True)
class SemiSupervisedAdversarial(AbstractSemiSupervised, AbstractAdversarialObjective):
    r"""An adversarial objective, plus a supervised term for a few labeled images.

    Like :class:`SemiSupervised`, for a base whose second network is trained against the
    model. Parameters of the supervised term (a scale, or positions of values) are
    trained with the adversary, by its optimizer.

    .. math:: L_{\text{base}} + \gamma \, R(\mu, y)

    Args:
        base: Unsupervised adversarial objective, such as ``FactorVAE()``.
        kind: Supervised term, as in :class:`SemiSupervised`.
        gamma: Weight of the supervised term, at least 0.
        n_labels: Number of images whose labels are used.
        label_seed: Seed of the choice of labeled images.
        sigma: Sharpness of the embeddings, positive; kind ``"embedding"`` only.
        is_ordered: Whether embeddings keep the order of the values; kind
            ``"embedding"`` only.
        factor_sizes: Number of values of each factor; filled in from the data.
        scale: Scale of the whole loss, ``"sum"`` or ``"mean"``.

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
        """Return the adversary's loss, plus the supervised term if it is learned."""
        seen = without_labels(batch)
        loss = self.base.adversary_loss(model, seen, base_context(context))
        term = part_of(context.extra, "labels")
        if not list(term.parameters()):
            return loss
        images, labels = labeled_images(batch, caller=type(self).__name__)
        with torch.no_grad():
            codes = model.encode(images).mean
        supervised = term(codes, labels)
        return Loss(
            loss.total + supervised,
            {**loss.terms, "supervised": supervised},
            loss.kl_per_latent,
        )

    def adversary_optimizer(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """Return the base's optimizer, with the parameters of the supervised term."""
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
