"""Convolutional networks of two published protocols, for images of 64x64 pixels."""

from dataclasses import dataclass

from torch import nn

from unbraid.foundation import check_option

from ._base import AbstractNetwork, Initialization, initialize


@dataclass(frozen=True, kw_only=True)
class DisentanglementLibConvolutional(AbstractNetwork):
    """Network of the study of Locatello et al., for images of 64x64 pixels.

    Encoder: 32 and 32 filters of 4x4, 64 and 64 of 2x2, all with stride 2, then 256
    units. Decoder: 256 and 1,024 units, then 64, 32 and 32 filters of 4x4, stride 2.

    Args:
        initialisation: Initialization of all layers; ``"glorot_uniform"`` is published.

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, table of architectures.
        https://arxiv.org/abs/1811.12359
    """

    initialisation: Initialization = "glorot_uniform"

    def __post_init__(self) -> None:
        check_option("initialisation", self.initialisation, Initialization)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return an encoder to ``(batch, n_outputs)``."""
        n_channels = _check_channels("DisentanglementLibConvolutional", image_shape)
        # "Same" padding of a filter of 4 with stride 2 is one pixel on every side.
        layers = nn.Sequential(
            *_down(n_channels, 32, size=4, padding=1),
            *_down(32, 32, size=4, padding=1),
            *_down(32, 64, size=2, padding=0),
            *_down(64, 64, size=2, padding=0),
            nn.Flatten(),
            nn.Linear(1024, 256),
            nn.ReLU(),
            nn.Linear(256, n_outputs),
        )
        return initialize(layers, self.initialisation)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a decoder of ``(batch, n_latents)``."""
        n_channels = _check_channels("DisentanglementLibConvolutional", image_shape)
        return initialize(_upwards(n_channels, n_latents), self.initialisation)


@dataclass(frozen=True, kw_only=True)
class DissertationConvolutional(AbstractNetwork):
    """Network of the dissertation of Michlo, for images of 64x64 pixels.

    Encoder: 32, 32, 64 and 64 filters of 4x4 with stride 2, then 256 units. Decoder:
    256 and 1,024 units, then 64, 32 and 32 filters of 4x4, stride 2.

    Args:
        initialisation: Initialization of all layers; ``"glorot_normal"`` is published.

    References:
        Michlo (2022), dissertation, Table A.1. The text does not state the padding; in
        the accompanying library it is 2, so that the sides are 33, 17, 9 and 5.
    """

    initialisation: Initialization = "glorot_normal"

    def __post_init__(self) -> None:
        check_option("initialisation", self.initialisation, Initialization)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return an encoder to ``(batch, n_outputs)``."""
        n_channels = _check_channels("DissertationConvolutional", image_shape)
        layers = nn.Sequential(
            *_down(n_channels, 32, size=4, padding=2),
            *_down(32, 32, size=4, padding=2),
            *_down(32, 64, size=4, padding=2),
            *_down(64, 64, size=4, padding=2),
            nn.Flatten(),
            nn.Linear(1600, 256),
            nn.ReLU(),
            nn.Linear(256, n_outputs),
        )
        return initialize(layers, self.initialisation)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a decoder of ``(batch, n_latents)``."""
        n_channels = _check_channels("DissertationConvolutional", image_shape)
        return initialize(_upwards(n_channels, n_latents), self.initialisation)


def _check_channels(network: str, image_shape: tuple[int, ...]) -> int:
    """Require images of 64x64 pixels, and return their number of channels."""
    if len(image_shape) != 3 or image_shape[1:] != (64, 64):
        raise ValueError(
            f"{network} needs images of 64x64 pixels, got shape {image_shape}. Use "
            "Convolutional for other sizes."
        )
    return image_shape[0]


def _down(n_inputs: int, n_outputs: int, *, size: int, padding: int) -> list[nn.Module]:
    layer = nn.Conv2d(n_inputs, n_outputs, size, stride=2, padding=padding)
    return [layer, nn.ReLU()]


def _upwards(n_channels: int, n_latents: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_latents, 256),
        nn.ReLU(),
        nn.Linear(256, 1024),
        nn.ReLU(),
        nn.Unflatten(1, (64, 4, 4)),
        nn.ConvTranspose2d(64, 64, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(32, n_channels, 4, stride=2, padding=1),
    )
