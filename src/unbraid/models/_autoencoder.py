"""Autoencoder: an encoder, a decoder and a likelihood."""

import math

import torch
from torch import nn

from unbraid.data import Framing

from ._inputs import check_codes, check_images, normal_codes
from ._likelihood import AbstractLikelihood
from ._posterior import DiagonalGaussian, PointMass, Posterior

NO_DECODER = (
    "The model has no decoder: it was trained with decoder=False, so that it can "
    "encode images but not decode codes."
)
"""Message about a model that only encodes."""


class NoDecoder(nn.Module):
    """Stands for the decoder of a model that only encodes; calling it is an error."""

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Raise an error."""
        del codes
        raise ValueError(NO_DECODER)


class Autoencoder(nn.Module):
    """Model that encodes images to codes and decodes codes to images.

    All methods take and return images with pixels between 0 and 1. A model of
    standardized pixels converts them internally.

    Args:
        encoder: Network from images ``(batch, *image_shape)`` to ``(batch, 2 *
            n_latents)``, means followed by log-variances, or to a pair of these. In a
            model that is not variational, to codes ``(batch, n_latents)``.
        decoder: Network from codes ``(batch, n_latents)`` to the parameters of the
            likelihood, ``(batch, *image_shape)``; ``None`` for a model that only
            encodes.
        likelihood: Distribution of images given the output of the decoder.
        image_shape: Channels, height and width; or one number, the length of vectors.
        n_latents: Number of latents in a code.
        is_variational: Whether the encoder returns distributions of codes.
        mean: Mean of each channel, which is subtracted. Default: zeros.
        std: Standard deviation of each channel, by which it is divided. Default: ones.

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
    """Size and crop with which pictures were converted to the training images."""

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module | None,
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
        self.decoder = NoDecoder() if decoder is None else decoder
        self.likelihood = likelihood
        self.image_shape = tuple(image_shape)
        self.n_latents = n_latents
        self.is_variational = is_variational
        per_channel = (image_shape[0], *(1 for _ in image_shape[1:]))
        # Not saved with the weights: they belong to the settings.
        self.register_buffer("mean", _constants(mean, 0.0, per_channel), False)
        self.register_buffer("std", _constants(std, 1.0, per_channel), False)
        self.is_standardizing = mean is not None or std is not None

    @property
    def n_pixels(self) -> int:
        """Number of values in an image."""
        return math.prod(self.image_shape)

    @property
    def has_decoder(self) -> bool:
        """Whether codes can be decoded to images."""
        return not isinstance(self.decoder, NoDecoder)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return reconstructions of images from the means of their codes."""
        return self.decode(self.encode(images).mean)

    def encode(self, images: torch.Tensor) -> Posterior:
        """Return the posteriors of images.

        Args:
            images: Images ``(batch, *image_shape)``, floats between 0 and 1, or bytes.
        """
        images = check_images(images, self.image_shape, network=self.encoder)
        return self._to_posterior(self.encoder(self.standardize(images)), len(images))

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the expected images of codes ``(batch, n_latents)``."""
        codes = check_codes(codes, self.n_latents, network=self.decoder)
        expected = self.likelihood.mean(self.decoder(codes))
        return expected * self.std + self.mean if self.is_standardizing else expected

    def sample(self, n: int, *, generator: torch.Generator) -> torch.Tensor:
        """Draw images ``(n, *image_shape)`` of codes from a standard normal."""
        return self.decode(
            normal_codes(n, self.n_latents, like=self.mean, generator=generator)
        )

    def reconstruction_loss(
        self, images: torch.Tensor, codes: torch.Tensor
    ) -> torch.Tensor:
        """Return the negative log-likelihood of images given codes, ``(batch,)``."""
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
        """Return the reconstruction loss between pairs of images, ``(batch,)``."""
        images, others = self.standardize(images), self.standardize(others)
        return self.likelihood.distance(images, others)

    def standardize(self, images: torch.Tensor) -> torch.Tensor:
        """Standardize images for the encoder and the likelihood."""
        return (images - self.mean) / self.std if self.is_standardizing else images

    def _to_posterior(self, output: object, n_images: int) -> Posterior:
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
    # A channel that never varies is not scaled.
    return torch.where(constants == 0, fallback, constants)
