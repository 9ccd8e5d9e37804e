"""Semi-supervised with an adversary: such as FactorVAE, and a few labels."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.func import functional_call

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractAdversarialObjective
from ._semi_supervised_base import (
    AbstractSemiSupervised,
    labelled_images,
    part_of,
    without_labels,
)


@dataclass(frozen=True, kw_only=True)
class SemiSupervisedAdversarial(AbstractSemiSupervised, AbstractAdversarialObjective):
    r"""An adversarial objective, plus a term that few labelled images get.

    As :class:`SemiSupervised`, for a base whose second network is trained against the
    model. What the supervised term learns (a scale, or places of values) is not the
    model's, and learns in the adversary's turn, by the adversary's optimiser.

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

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """The base's loss, and the supervised term; changes the model only."""
        images, labels = labelled_images(batch, who="SemiSupervisedAdversarial")
        loss = self.base.loss(
            model,
            without_labels(batch),
            step=step,
            generator=generator,
            extra=part_of(extra, "base"),
        )
        term = part_of(extra, "labels")
        assert term is not None
        fixed = {name: weight.detach() for name, weight in term.named_parameters()}
        codes = model.encode(images).mean
        supervised = functional_call(term, fixed, (codes, labels))
        return self._add_supervised(model, loss, supervised, step)

    def adversary_loss(
        self,
        model: Autoencoder,
        adversary: nn.Module,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
    ) -> Loss:
        """The adversary's loss, and what the supervised term has to learn."""
        base, term = part_of(adversary, "base"), part_of(adversary, "labels")
        assert base is not None
        assert term is not None
        loss = self.base.adversary_loss(
            model, base, without_labels(batch), step=step, generator=generator
        )
        if not list(term.parameters()):
            return loss
        images, labels = labelled_images(batch, who="SemiSupervisedAdversarial")
        with torch.no_grad():
            codes = model.encode(images).mean
        supervised = term(codes, labels)
        return Loss(
            loss.total + supervised,
            {**loss.terms, "supervised": supervised},
            loss.kl_per_latent,
        )

    def adversary_optimiser(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """The base's, for the supervised term as well."""
        base, term = part_of(adversary, "base"), part_of(adversary, "labels")
        assert base is not None
        assert term is not None
        optimiser = self.base.adversary_optimiser(base)
        learned = list(term.parameters())
        if learned:
            optimiser.add_param_group({"params": learned})
        return optimiser

    def _check_base(self) -> None:
        super()._check_base()
        if not isinstance(self.base, AbstractAdversarialObjective):
            raise ValueError(
                "SemiSupervisedAdversarial: expected a base with an adversary, got "
                f"{type(self.base).__name__}. Use SemiSupervised."
            )
