"""DFC-VAE: images are compared by the features of a trained network."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.foundation import check_integers, check_number, check_sequence
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._frozen import apply_frozen
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._base import AbstractObjective, LossContext
from ._elbo import encode_gaussian


@dataclass(frozen=True, kw_only=True)
class DFCVAE(AbstractObjective):
    r"""Divergence plus the distance between features of images and reconstructions.

    .. math::
        \sum_l \frac{w_l}{2 n_l} \, \| \Phi_l(x) - \Phi_l(\hat{x}) \|^2
        + \beta \, KL(q(z \mid x) \| p(z))

    where layer :math:`l` of the network :math:`\Phi` returns :math:`n_l` numbers, and
    :math:`\hat{x}` is the expected image of a sampled code.

    Args:
        features: Network from images ``(batch, channels, height, width)`` with pixels
            between 0 and 1 to a tensor or a list of tensors, one per layer. It must be
            in evaluation mode and on the model's device, and is not trained. Saved
            settings only contain the name of its class: set the network again before
            training.
        layers: Indices of the layers to use in that list. Default: all.
        weights: Weight :math:`w_l` of each of these layers, at least 0. Default: one
            half, as published.
        beta: Weight of the divergence, at least 0.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    Example:
        >>> DFCVAE(features=nn.Flatten().eval(), weights=(100.0,)).beta
        1.0

    References:
        Hou, Shen, Sun and Qiu (2017), Deep Feature Consistent Variational Autoencoder,
        section 3. https://arxiv.org/abs/1610.00291
    """

    features: nn.Module | str | None = None
    layers: tuple[int, ...] | None = None
    weights: tuple[float, ...] | None = None
    beta: Number = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta")
        if not isinstance(self.features, nn.Module | str):
            raise ValueError(
                "features must be a network from images to tensors, got "
                f"{self.features!r}."
            )
        if isinstance(self.features, nn.Module) and self.features.training:
            raise ValueError(
                "features must be in evaluation mode, got a network in training mode. "
                "Call features.eval()."
            )
        if self.layers is not None:
            check_integers("layers", self.layers)
        if self.weights is not None:
            check_sequence("weights", self.weights)
            for index, weight in enumerate(self.weights):
                check_number(f"weights[{index}]", weight, least=0.0)

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return the distance of features plus weighted divergence."""
        posterior = encode_gaussian(model, batch.images)
        decoded = model.decode(posterior.sample(generator=context.generator))
        with torch.no_grad():
            targets = self._extract(batch.images)
        distances = [
            0.5 * (target - output).square().mean()
            for target, output in zip(targets, self._extract(decoded), strict=True)
        ]
        weights = (0.5,) * len(distances) if self.weights is None else self.weights
        check_sequence("weights", weights, length=len(distances))
        pairs = zip(weights, distances, strict=True)
        reconstruction = torch.stack([weight * each for weight, each in pairs]).sum()
        kl = posterior.kl_to_prior().mean(dim=0)
        return Loss(
            self.combine_terms(
                model, reconstruction, context.value(self.beta) * kl.sum()
            ),
            {"reconstruction": reconstruction, "kl": kl.sum()},
            kl,
        )

    def _extract(self, images: torch.Tensor) -> list[torch.Tensor]:
        """Return the features of images in the chosen layers."""
        if not isinstance(self.features, nn.Module):
            raise ValueError(
                f"features is only the name {self.features!r}, because saved settings "
                "do not contain the network. Set it with "
                "dataclasses.replace(objective, features=...)."
            )
        output = apply_frozen(self.features, images)
        maps = [output] if isinstance(output, torch.Tensor) else list(output)
        if self.layers is None:
            return maps
        if any(not -len(maps) <= layer < len(maps) for layer in self.layers):
            raise ValueError(
                f"layers must be among the {len(maps)} layers that features returns, "
                f"got {self.layers}."
            )
        return [maps[layer] for layer in self.layers]
