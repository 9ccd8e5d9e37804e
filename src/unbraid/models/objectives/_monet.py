"""MONet: a VAE of the parts of a scene, which an attention network chooses."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch

from unbraid.data import Batch
from unbraid.foundation import check_integer, check_positive
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._likelihood import Gaussian
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number
from unbraid.models.networks import MONetComponents, SlotDecoder, SlotEncoder

from ._base import AbstractObjective, LossContext


@dataclass(frozen=True, kw_only=True)
class MONet(AbstractObjective):
    r"""Mixture likelihood of slots, their divergence, and that of their masks.

    An attention network divides the image among :math:`K` slots with masks
    :math:`m_k = q(c = k \mid x)`. Every slot has a code :math:`z_k`, from which the
    decoder draws an image :math:`\hat x_k` and a mask logit. The softmax of the logits
    over slots is :math:`p(c \mid z)`.

    .. math::
        - \sum_i \log \sum_k m_{ki} \,
        \mathcal{N}(x_i; \hat x_{ki}, \sigma_k^2 I)
        + \beta \sum_k KL(q(z_k \mid x, m_k) \| p(z))
        + \gamma \sum_i KL(q(c_i \mid x) \| p(c_i \mid z))

    The sums over :math:`i` run over pixels, each with all of its channels.

    Args:
        beta: Weight of the divergence of the codes, from 0.
        gamma: Weight of the divergence of the masks, from 0.
        first_sigma: Standard deviation of the pixels of the first slot, above 0. It is
            smaller than the others, so that the first slot prefers the background.
        sigma: Standard deviation of the pixels of the other slots, above 0.
        n_slots: Number of slots of the network, at least 2.
        n_filters: Filters per layer of the network.
        scale: ``"sum"``, or ``"mean"``: likelihood and masks are averaged over the
            numbers of an image, the divergence of the codes over latents.

    Example:
        >>> import unbraid
        >>> from unbraid.data import SpriteScenes
        >>> scenes = SpriteScenes(n_sprites=2, image_size=8)
        >>> objective = MONet(n_slots=3, n_filters=8)
        >>> run = unbraid.fit(objective, scenes, steps=2, n_latents=12)
        >>> run.model.encode(torch.zeros(1, 3, 8, 8)).mean.shape
        torch.Size([1, 12])

    References:
        Burgess et al. (2019), MONet: Unsupervised Scene Decomposition and
        Representation, Eq. 3. https://arxiv.org/abs/1901.11390
    """

    scales_all: ClassVar[bool] = False

    beta: Number = 0.5
    gamma: Number = 0.5
    first_sigma: float = 0.09
    sigma: float = 0.11
    n_slots: int = 5
    n_filters: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta", "gamma")
        check_positive("first_sigma", self.first_sigma)
        check_positive("sigma", self.sigma)
        check_integer("n_slots", self.n_slots, least=2)
        check_integer("n_filters", self.n_filters, least=1)

    def default_network(self) -> MONetComponents:
        """Attention network, encoder and decoder of slots."""
        return MONetComponents(n_slots=self.n_slots, n_filters=self.n_filters)

    def default_likelihood(self) -> Gaussian:
        """Gaussian, because the decoder gives colors and not logits."""
        return Gaussian(variance=self.sigma**2)

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Mixture likelihood plus weighted divergences of codes and masks."""
        encoder, decoder = _slot_networks(model)
        images = model.standardize(batch.images)
        log_masks = encoder.attend(images)
        output = encoder.encode_slots(images, log_masks)
        posterior = DiagonalGaussian(*output.chunk(2, dim=1))
        codes = posterior.sample(generator=context.generator)
        drawn, logits = decoder.draw_slots(codes)
        reconstruction = self._mixture_loss(images, drawn, log_masks).mean()
        mask_kl = mask_divergence(log_masks, logits.log_softmax(dim=1)).mean()
        kl_per_latent = posterior.kl_to_prior().mean(dim=0)
        kl = kl_per_latent.sum()
        total = self.combine_terms(
            model,
            reconstruction + context.value(self.gamma) * mask_kl,
            context.value(self.beta) * kl,
        )
        terms = {"reconstruction": reconstruction, "kl": kl, "mask_kl": mask_kl}
        return Loss(total, terms, kl_per_latent)

    def _mixture_loss(
        self, images: torch.Tensor, drawn: torch.Tensor, log_masks: torch.Tensor
    ) -> torch.Tensor:
        """Negative log-likelihood of each image, ``(batch,)``."""
        n_slots, n_channels = drawn.shape[1:3]
        sigmas = drawn.new_full((n_slots, 1, 1), self.sigma)
        sigmas[0] = self.first_sigma
        squares = (images[:, None] - drawn).square().sum(dim=2)
        log_densities = -squares / (2 * sigmas.square()) - n_channels * (
            sigmas.log() + 0.5 * math.log(2 * math.pi)
        )
        mixed = torch.logsumexp(log_masks + log_densities, dim=1)
        return -mixed.sum(dim=(1, 2))


def mask_divergence(
    log_masks: torch.Tensor, log_drawn_masks: torch.Tensor
) -> torch.Tensor:
    """Divergence of masks from drawn masks, summed over pixels, ``(batch,)``.

    Args:
        log_masks: Logarithms of the masks of the attention, ``(batch, n_slots, height,
            width)``.
        log_drawn_masks: Logarithms of the masks of the decoder, same shape.
    """
    return (log_masks.exp() * (log_masks - log_drawn_masks)).sum(dim=(1, 2, 3))


def _slot_networks(model: Autoencoder) -> tuple[SlotEncoder, SlotDecoder]:
    encoder, decoder = model.encoder, model.decoder
    if not isinstance(encoder, SlotEncoder) or not isinstance(decoder, SlotDecoder):
        raise ValueError(
            "MONet needs the network MONetComponents, got the encoder "
            f"{type(encoder).__name__}. Leave network='auto'."
        )
    return encoder, decoder
