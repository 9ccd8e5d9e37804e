"""TVAE and TAE: the triplet loss between codes."""

from dataclasses import dataclass

from unbraid.models._posterior import Posterior

from ._base import LossContext
from ._triplet_base import AbstractTripletAE, AbstractTripletVAE
from ._triplet_rows import TripletRows


@dataclass(frozen=True, kw_only=True)
class TVAE(AbstractTripletVAE):
    r"""beta-VAE with the triplet loss between means.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} L_{\beta\text{-VAE}}(x)
        + \alpha \max \bigl( 0, \psi + \|\mu^a - \mu^p\|_p - \|\mu^a - \mu^n\|_p \bigr)

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        alpha: Weight of the triplet loss, at least 0. ``scale`` does not apply to the
            triplet loss, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: Kind of margin: ``"hard"``, as in the formula, or ``"soft"``,
            :math:`\ln(1 + \exp(d^+ - d^-))`.
        margin: Margin :math:`\psi`, at least 0; kind ``"hard"`` only.
        p: Order of the norm, at least 1.
        decoder_gradient: Whether the reconstruction loss trains the encoder. If not,
            the divergence and the triplet loss train it, or the latter alone if
            ``beta=0``.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, ``"category"``, whether one factor differs, or
            ``"perceived"`` between images, without labels.
        n_triplets: Number of triplets per batch; used if ``triplets="perceived"`` only.
        category: Name of the factor that is the class; ``triplets="category"`` only.
        cyclic: Distance of values of cyclic factors: the difference of the integers
            (``"line"``), or the shorter way around the ``"circle"``.
        decoder: Whether the model has a decoder. Without one, the reconstruction loss
            is left out, and the model can only encode.
        scale: Whether the loss is a ``"mean"`` over pixels and latents, as in the
            dissertation, or a ``"sum"``.

    Example:
        >>> TVAE().sampler()
        Triplets(distance='scaled', category=None, ties='resample', cyclic='line')
        >>> TVAE(triplets="category", category="shape", decoder=False).needs_decoder
        False

    References:
        Michlo (2022), dissertation, Eq. 5.1, 5.2 and 5.12; triplets, section 5.2; norm,
        Eq. 5.21; decoder's gradient, Figure 5.3; no decoder, section 5.3.3; defaults,
        Table A.5. After Ishfaq, Hoogi and Rubin (2018), TVAE.
        https://arxiv.org/abs/1802.04403
    """

    def _negative_weights(
        self, posterior: Posterior, rows: TripletRows, context: LossContext
    ) -> float:
        """All latents count alike."""
        del posterior, rows, context
        return 1.0


@dataclass(frozen=True, kw_only=True)
class TAE(AbstractTripletAE):
    r"""Autoencoder with the triplet loss between codes.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} -\log p(x \mid e(x))
        + \alpha \max \bigl( 0, \psi + \|z^a - z^p\|_p - \|z^a - z^n\|_p \bigr)

    Args:
        alpha: Weight of the triplet loss, at least 0. ``scale`` does not apply to the
            triplet loss, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: Kind of margin: ``"hard"``, as in the formula, or ``"soft"``,
            :math:`\ln(1 + \exp(d^+ - d^-))`.
        margin: Margin :math:`\psi`, at least 0; kind ``"hard"`` only.
        p: Order of the norm, at least 1.
        decoder_gradient: Whether the reconstruction loss trains the encoder. If not,
            only the triplet loss does.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, ``"category"``, whether one factor differs, or
            ``"perceived"`` between images, without labels.
        n_triplets: Number of triplets per batch; used if ``triplets="perceived"`` only.
        category: Name of the factor that is the class; ``triplets="category"`` only.
        cyclic: Distance of values of cyclic factors: the difference of the integers
            (``"line"``), or the shorter way around the ``"circle"``.
        decoder: Whether the model has a decoder. Without one, the reconstruction loss
            is left out, and the model can only encode.
        scale: Whether the loss is a ``"mean"`` over pixels, as in the dissertation, or
            a ``"sum"``.

    References:
        Michlo (2022), dissertation, Eq. 5.1, 5.2 and 5.12, without the prior.
    """

    def _negative_weights(
        self, posterior: Posterior, rows: TripletRows, context: LossContext
    ) -> float:
        """All latents count alike."""
        del posterior, rows, context
        return 1.0
