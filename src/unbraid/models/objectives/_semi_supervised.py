"""Semi-supervised: an objective of single images, and a few labels."""

from dataclasses import dataclass, field

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractAdversarialObjective, AbstractObjective
from ._beta_vae import BetaVAE
from ._semi_supervised_base import (
    AbstractSemiSupervised,
    labelled_images,
    part_of,
    without_labels,
)


@dataclass(frozen=True, kw_only=True)
class SemiSupervised(AbstractSemiSupervised):
    r"""An objective without labels, plus a term that few labelled images get.

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
        the mean over labelled images, where its first three are sums over the batch:
        our ``gamma`` is its weight times the batch size, by default 1 times 64. Its
        squared error of squeezed means compares every image with every label; ours
        compares an image with its own.
    """

    base: AbstractObjective = field(default_factory=BetaVAE)

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """The base's loss, and the supervised term."""
        images, labels = labelled_images(batch, who="SemiSupervised")
        loss = self.base.loss(
            model,
            without_labels(batch),
            step=step,
            generator=generator,
            extra=part_of(extra, "base"),
        )
        term = part_of(extra, "labels")
        assert term is not None
        supervised = term(model.encode(images).mean, labels)
        return self._add_supervised(model, loss, supervised, step)

    def _check_base(self) -> None:
        super()._check_base()
        if isinstance(self.base, AbstractAdversarialObjective):
            raise ValueError(
                "SemiSupervised: expected a base without an adversary, got "
                f"{type(self.base).__name__}. Use SemiSupervisedAdversarial."
            )
        if self.base.sampler().n_companions:
            raise ValueError(
                "SemiSupervised: expected a base that sees images one by one, got "
                f"{type(self.base).__name__}, which has labels of its own kind: images "
                "that go together."
            )
