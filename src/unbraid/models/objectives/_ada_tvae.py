"""Ada-TVAE and Ada-TAE: the adaptive triplet loss."""

import abc
from dataclasses import dataclass
from typing import Any, Self

import torch

from unbraid.foundation import check_option
from unbraid.models._posterior import DiagonalGaussian, Posterior
from unbraid.models._schedules import Linear, Number

from ._adaptive import SharedBy, latent_differences
from ._adaptive_weights import AdaptiveSchedule, adaptive_schedule, adaptive_weights
from ._base import LossContext
from ._triplet_base import (
    AbstractTripletAE,
    AbstractTripletObjective,
    AbstractTripletVAE,
)
from ._triplet_rows import TripletRows


@dataclass(frozen=True, kw_only=True)
class AbstractAdaptiveTriplets(AbstractTripletObjective, abc.ABC):
    r"""Adaptive triplet loss, in which latents that differ little have less weight.

    Args:
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1.
        omega: Shared weight :math:`\omega`, between 0 and 1 (plain triplet loss).
    """

    eta: Number = 0.5
    omega: Number = Linear(start=1.0, end=0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("eta", "omega", most=1.0)

    @classmethod
    def scheduled(cls, name: AdaptiveSchedule, **options: Any) -> Self:
        """Create an objective with schedules of Table 5.2.

        Args:
            name: Name of the schedules: ``"threshold"``, ``"weight_weak"``,
                ``"weight_strong"``, ``"both_weak"`` or ``"both_strong"``.
            options: Other fields of the objective.
        """
        return cls(**adaptive_schedule(name), **options)

    @abc.abstractmethod
    def _differences(self, posterior: Posterior, rows: TripletRows) -> torch.Tensor:
        """Return differences of anchors and negatives, ``(n_triplets, n_latents)``."""

    def _negative_weights(
        self, posterior: Posterior, rows: TripletRows, context: LossContext
    ) -> torch.Tensor:
        """Return weights below 1 for latents that anchor and negative share."""
        return adaptive_weights(
            self._differences(posterior, rows),
            eta=context.value(self.eta),
            omega=context.value(self.omega),
        )


@dataclass(frozen=True, kw_only=True)
class AdaTVAE(AbstractAdaptiveTriplets, AbstractTripletVAE):
    r"""beta-VAE with the adaptive triplet loss.

    The triplet loss is small if the anchor's code is closer to the positive's than to
    the negative's. In the distance to the negative, latents that differ little have
    less weight, so that it is best to encode a difference in few latents.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} L_{\beta\text{-VAE}}(x)
        + \alpha \max \Bigl( 0, \psi + \|\mu^a - \mu^p\|_p
        - \|w \odot (\mu^a - \mu^n)\|_p \Bigr)

    with :math:`w_i = \omega` for latents whose difference is below
    :math:`\tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i`, and 1 for others.

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1.
        omega: Shared weight :math:`\omega`, between 0 and 1 (plain triplet loss).
        shared_by: Difference :math:`\delta`: the ``"distance"`` of the means, or
            ``"kl"``, the symmetric divergence of the posteriors.
        alpha: Weight of the triplet loss, at least 0. ``scale`` does not apply to the
            triplet loss, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: Kind of margin, ``"hard"`` or ``"soft"``.
        margin: Margin :math:`\psi`, at least 0; kind ``"hard"`` only.
        p: Order of the norm, at least 1.
        decoder_gradient: Whether the reconstruction loss trains the encoder.
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
        >>> AdaTVAE.scheduled("both_strong").over(100).omega.at(50)
        0.5
        >>> AdaTVAE(triplets="perceived").sampler()
        Singles()

    References:
        Michlo (2022), dissertation, Eq. 5.16 to 5.22; without labels, section 5.5;
        defaults, Table A.5 and schedule 2 of Table 5.2. If perceived, the first term is
        the mean over the batch in which the triplets are drawn, and triplets whose
        distances are equal are left out.
    """

    shared_by: SharedBy = "distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("shared_by", self.shared_by, SharedBy)

    def _differences(self, posterior: Posterior, rows: TripletRows) -> torch.Tensor:
        """Return distances of the means, or divergences of the posteriors."""
        assert isinstance(posterior, DiagonalGaussian)
        anchor_mean, _, negative_mean = rows.of(posterior.mean)
        anchor_spread, _, negative_spread = rows.of(posterior.log_variance)
        return latent_differences(
            DiagonalGaussian(anchor_mean, anchor_spread),
            DiagonalGaussian(negative_mean, negative_spread),
            shared_by=self.shared_by,
        )


@dataclass(frozen=True, kw_only=True)
class AdaTAE(AbstractAdaptiveTriplets, AbstractTripletAE):
    r"""Autoencoder with the adaptive triplet loss.

    Like :class:`AdaTVAE`, but with codes instead of means, and without a prior.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} -\log p(x \mid e(x))
        + \alpha \max \Bigl( 0, \psi + \|z^a - z^p\|_p
        - \|w \odot (z^a - z^n)\|_p \Bigr)

    Args:
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1.
        omega: Shared weight :math:`\omega`, between 0 and 1 (plain triplet loss).
        alpha: Weight of the triplet loss, at least 0. ``scale`` does not apply to the
            triplet loss, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: Kind of margin, ``"hard"`` or ``"soft"``.
        margin: Margin :math:`\psi`, at least 0; kind ``"hard"`` only.
        p: Order of the norm, at least 1.
        decoder_gradient: Whether the reconstruction loss trains the encoder.
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
        Michlo (2022), dissertation, Table 5.1, right column, and Eq. 5.16 to 5.21.
    """

    def _differences(self, posterior: Posterior, rows: TripletRows) -> torch.Tensor:
        """Return distances of the codes."""
        anchors, _, negatives = rows.of(posterior.mean)
        return (anchors - negatives).abs()
