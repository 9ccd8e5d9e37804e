"""Build a model from its settings, reproducibly."""

import torch
from torch.nn.utils import convert_conv2d_weight_memory_format

from unbraid.foundation import torch_generator

from ._autoencoder import Autoencoder
from ._likelihood import AbstractLikelihood
from .networks import AbstractNetwork


def build_model(
    network: AbstractNetwork,
    *,
    image_shape: tuple[int, ...],
    n_latents: int,
    likelihood: AbstractLikelihood,
    seed: int,
    is_variational: bool = True,
    has_decoder: bool = True,
    mean: tuple[float, ...] | None = None,
    std: tuple[float, ...] | None = None,
) -> Autoencoder:
    """Build an untrained model.

    Args:
        network: Settings of encoder and decoder.
        image_shape: Shape of an image of the data.
        n_latents: Number of latents in a code.
        likelihood: Distribution of images given the output of the decoder.
        seed: Seed of the initial weights.
        is_variational: Whether the encoder returns distributions of codes.
        has_decoder: Whether to build a decoder.
        mean: Mean of each channel, which is subtracted. Default: zeros.
        std: Standard deviation of each channel, by which it is divided. Default: ones.

    Example:
        >>> from unbraid.models import Bernoulli
        >>> from unbraid.models.networks import Dense
        >>> model = build_model(
        ...     Dense(),
        ...     image_shape=(1, 8, 8),
        ...     n_latents=3,
        ...     likelihood=Bernoulli(),
        ...     seed=0,
        ... )
        >>> model(torch.zeros(2, 1, 8, 8)).shape
        torch.Size([2, 1, 8, 8])
    """
    # Layers draw from torch's global generator. Only this function seeds it, and it
    # restores the previous state.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_generator(seed, "initialisation").initial_seed())
        n_outputs = n_latents * (2 if is_variational else 1)
        encoder = network.encoder(image_shape, n_outputs)
        decoder = network.decoder(image_shape, n_latents) if has_decoder else None
    model = Autoencoder(
        encoder,
        decoder,
        likelihood=likelihood,
        image_shape=image_shape,
        n_latents=n_latents,
        is_variational=is_variational,
        mean=None if mean is None else torch.tensor(mean),
        std=None if std is None else torch.tensor(std),
    )
    if len(image_shape) == 3:
        # Convolutions are faster if the channels of a pixel are adjacent in memory.
        convert_conv2d_weight_memory_format(model, torch.channels_last)
    return model
