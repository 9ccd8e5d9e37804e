"""Terms of the evidence lower bound, which objectives combine."""

from dataclasses import dataclass
from functools import cached_property

import torch

from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian

from ._base import LossContext


@dataclass(frozen=True)
class Evidence:
    """One pass of images through a variational model.

    Attributes:
        posterior: Posteriors of the images.
        codes: Codes sampled from the posteriors, ``(batch, n_latents)``.
        reconstruction: Negative log-likelihood of each image, ``(batch,)``.
        kl: Divergence from the prior, ``(batch, n_latents)``.
    """

    posterior: DiagonalGaussian
    codes: torch.Tensor
    reconstruction: torch.Tensor
    kl: torch.Tensor

    @cached_property
    def mean_reconstruction(self) -> torch.Tensor:
        """Mean reconstruction loss over images, a scalar."""
        return self.reconstruction.mean()

    @cached_property
    def kl_per_latent(self) -> torch.Tensor:
        """Mean divergence of each latent over images, ``(n_latents,)``."""
        return self.kl.mean(dim=0)

    @cached_property
    def mean_kl(self) -> torch.Tensor:
        """Divergence, summed over latents and averaged over images, a scalar."""
        return self.kl_per_latent.sum()

    def loss(self, total: torch.Tensor, **terms: torch.Tensor) -> Loss:
        """Return a loss that reports reconstruction and divergence.

        Args:
            total: The scalar to minimize.
            terms: Further terms to report.
        """
        reported = {"reconstruction": self.mean_reconstruction, "kl": self.mean_kl}
        return Loss(total, {**reported, **terms}, self.kl_per_latent)


def encode_gaussian(model: Autoencoder, images: torch.Tensor) -> DiagonalGaussian:
    """Encode images with a model that must be variational."""
    posterior = model.encode(images)
    if not isinstance(posterior, DiagonalGaussian):
        raise ValueError(
            "This objective needs a variational model, got a plain autoencoder. Build "
            "it with is_variational=True."
        )
    return posterior


def measure_evidence(
    model: Autoencoder,
    images: torch.Tensor,
    context: LossContext,
    *,
    posterior: DiagonalGaussian | None = None,
    decoder_gradient: bool = True,
) -> Evidence:
    """Encode images, sample codes, and compute reconstruction loss and divergence.

    Args:
        model: A variational model.
        images: Images ``(batch, *image_shape)``.
        context: Context whose generator samples the codes.
        posterior: Posteriors of the images. Default: those that the encoder returns.
        decoder_gradient: Whether the gradient of the reconstruction reaches the
            encoder.
    """
    if posterior is None:
        posterior = encode_gaussian(model, images)
    codes = posterior.sample(generator=context.generator)
    return Evidence(
        posterior=posterior,
        codes=codes,
        reconstruction=model.reconstruction_loss(
            images, codes if decoder_gradient else codes.detach()
        ),
        kl=posterior.kl_to_prior(),
    )
