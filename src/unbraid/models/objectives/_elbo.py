"""The evidence lower bound of images, in the parts that objectives combine."""

from dataclasses import dataclass

import torch

from unbraid.models._autoencoder import Autoencoder
from unbraid.models._posterior import DiagonalGaussian


@dataclass(frozen=True)
class Evidence:
    """One pass of images through a variational model.

    Attributes:
        posterior: What the encoder says.
        codes: A sample of it, ``(batch, n_latents)``.
        reconstruction: Negative log-likelihood of each image, ``(batch,)``.
        kl: Divergence from the prior, ``(batch, n_latents)``.
    """

    posterior: DiagonalGaussian
    codes: torch.Tensor
    reconstruction: torch.Tensor
    kl: torch.Tensor

    @property
    def mean_reconstruction(self) -> torch.Tensor:
        """Mean over images."""
        return self.reconstruction.mean()

    @property
    def kl_per_latent(self) -> torch.Tensor:
        """Mean over images, ``(n_latents,)``."""
        return self.kl.mean(dim=0)

    @property
    def mean_kl(self) -> torch.Tensor:
        """Sum over latents, mean over images."""
        return self.kl.mean(dim=0).sum()


def encode_gaussian(model: Autoencoder, images: torch.Tensor) -> DiagonalGaussian:
    """The posterior of a model that must be variational."""
    posterior = model.encode(images)
    if not isinstance(posterior, DiagonalGaussian):
        raise ValueError(
            "objective: expected a variational model, got a plain autoencoder. Build "
            "it with is_variational=True."
        )
    return posterior


def measure_evidence(
    model: Autoencoder,
    images: torch.Tensor,
    *,
    generator: torch.Generator,
    posterior: DiagonalGaussian | None = None,
) -> Evidence:
    """Encode, sample, decode and compare.

    Args:
        model: Variational.
        images: ``(batch, *image_shape)``.
        generator: Of the sample.
        posterior: To be used in place of what the encoder says.
    """
    if posterior is None:
        posterior = encode_gaussian(model, images)
    codes = posterior.sample(generator=generator)
    return Evidence(
        posterior=posterior,
        codes=codes,
        reconstruction=model.reconstruction_loss(images, codes),
        kl=posterior.kl_to_prior(),
    )
