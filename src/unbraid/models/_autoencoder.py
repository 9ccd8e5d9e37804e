"""Autoencoder: an encoder, a decoder, and how images are compared with pictures."""

import math

import torch
from torch import nn

from unbraid.data import Framing

from ._inputs import checked_codes, checked_images, normal_codes
from ._likelihood import AbstractLikelihood
from ._posterior import DiagonalGaussian, PointMass, Posterior


class Autoencoder(nn.Module):
    """Images to codes and back.

    Users give and get images with pixels from 0 to 1; if the model was made for
    standardized pixels, it converts them at its own border.

    Args:
        encoder: From images ``(batch, *image_shape)`` to ``(batch, 2 * n_latents)``,
            means first and log-variances after them, or to a pair of these; of a model
            that is not variational, to codes ``(batch, n_latents)``.
        decoder: From codes ``(batch, n_latents)`` to what the likelihood takes,
            ``(batch, *image_shape)``.
        likelihood: How images are compared with the decoder's output.
        image_shape: Channels, height and width; or one number, the length of vectors.
        n_latents: Length of a code.
        is_variational: Whether codes have an uncertainty.
        mean: Subtracted from every channel; zeros when not given.
        std: Every channel is divided by it; ones when not given.

    Example:
        >>> from unbraid.models import Gaussian
        >>> model = Autoencoder(
        ...     nn.Linear(5, 4),
        ...     nn.Linear(2, 5),
        ...     likelihood=Gaussian(),
        ...     image_shape=(5,),
        ...     n_latents=2,
        ... )
        >>> posterior = model.encode(torch.zeros(3, 5))
        >>> posterior.mean.shape, model.decode(posterior.mean).shape
        (torch.Size([3, 2]), torch.Size([3, 5]))
    """

    mean: torch.Tensor
    std: torch.Tensor
    framing: Framing | None = None
    """How pictures became the images that the model learned from."""

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        likelihood: AbstractLikelihood,
        image_shape: tuple[int, ...],
        n_latents: int,
        is_variational: bool = True,
        mean: torch.Tensor | None = None,
        std: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.likelihood = likelihood
        self.image_shape = tuple(image_shape)
        self.n_latents = n_latents
        self.is_variational = is_variational
        per_channel = (image_shape[0], *(1 for _ in image_shape[1:]))
        # Kept out of the parameters that are saved: they belong to the settings.
        self.register_buffer("mean", _constants(mean, 0.0, per_channel), False)
        self.register_buffer("std", _constants(std, 1.0, per_channel), False)
        self.is_standardizing = mean is not None or std is not None

    @property
    def n_pixels(self) -> int:
        """Numbers in an image."""
        return math.prod(self.image_shape)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Reconstructions of images, from the means of their codes."""
        return self.decode(self.encode(images).mean)

    def encode(self, images: torch.Tensor) -> Posterior:
        """What the model says about the codes of images.

        Args:
            images: ``(batch, *image_shape)``, floats from 0 to 1, or bytes.
        """
        images = checked_images(images, self.image_shape, network=self.encoder)
        return self._read(self.encoder(self.standardize(images)), len(images))

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Expected images ``(batch, *image_shape)`` of codes ``(batch, n_latents)``."""
        codes = checked_codes(codes, self.n_latents, network=self.decoder)
        expected = self.likelihood.mean(self.decoder(codes))
        return expected * self.std + self.mean if self.is_standardizing else expected

    def sample(self, n: int, *, generator: torch.Generator) -> torch.Tensor:
        """Images ``(n, *image_shape)`` of codes drawn from a standard normal."""
        return self.decode(
            normal_codes(n, self.n_latents, like=self.mean, generator=generator)
        )

    def reconstruction_loss(
        self, images: torch.Tensor, codes: torch.Tensor
    ) -> torch.Tensor:
        """Negative log-likelihood of images given codes, ``(batch,)``, in nats."""
        output = self.decoder(codes)
        if output.shape != images.shape:
            raise ValueError(
                f"The decoder must return shape {tuple(images.shape)}, got "
                f"{tuple(output.shape)}."
            )
        return self.likelihood.loss(self.standardize(images), output)

    def perceived_distance(
        self, images: torch.Tensor, others: torch.Tensor
    ) -> torch.Tensor:
        """How far apart images look to the reconstruction loss, ``(batch,)``."""
        images, others = self.standardize(images), self.standardize(others)
        return self.likelihood.distance(images, others)

    def standardize(self, images: torch.Tensor) -> torch.Tensor:
        """Images as encoder and likelihood see them."""
        return (images - self.mean) / self.std if self.is_standardizing else images

    def _read(self, output: object, n_images: int) -> Posterior:
        width = self.n_latents * (2 if self.is_variational else 1)
        if isinstance(output, tuple) and len(output) == 2:
            output = torch.cat(output, dim=1)
        if not isinstance(output, torch.Tensor) or output.shape != (n_images, width):
            got = tuple(output.shape) if isinstance(output, torch.Tensor) else output
            raise ValueError(
                f"The encoder must return shape ({n_images}, {width}), got {got}."
            )
        if not self.is_variational:
            return PointMass(output)
        return DiagonalGaussian(*output.chunk(2, dim=1))


def _constants(
    given: torch.Tensor | None, fallback: float, shape: tuple[int, ...]
) -> torch.Tensor:
    if given is None:
        return torch.full(shape, fallback)
    constants = torch.as_tensor(given, dtype=torch.float32).reshape(shape).clone()
    # A channel that never varies is only shifted.
    return torch.where(constants == 0, fallback, constants)
