"""Networks of MONet: one code for each of several parts of an image."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.foundation import check_integer

from ._attention import UNet, divide_pixels
from ._base import AbstractNetwork
from ._convolutional import Convolutional


@dataclass(frozen=True, kw_only=True)
class MONetComponents(AbstractNetwork):
    """Encoder and decoder of images that consist of several objects.

    The encoder divides the image among slots and encodes each of them with the same
    network. A code is the codes of all slots, one after another, so that ``n_latents``
    must be a multiple of ``n_slots``. The decoder draws every slot by itself, with a
    mask, and mixes them.

    Args:
        n_slots: Number of slots, at least 2: the background and the objects.
        n_filters: Filters of every layer of the attention and of the decoder, and of
            the first layers of the encoder.

    Example:
        >>> network = MONetComponents(n_slots=3, n_filters=8)
        >>> encode = network.encoder((3, 16, 16), 24)
        >>> decode = network.decoder((3, 16, 16), 12)
        >>> encode(torch.zeros(2, 3, 16, 16)).shape, decode(torch.zeros(2, 12)).shape
        (torch.Size([2, 24]), torch.Size([2, 3, 16, 16]))

    References:
        Burgess et al. (2019), MONet: Unsupervised Scene Decomposition and
        Representation, appendix B. https://arxiv.org/abs/1901.11390
        The networks here have fewer layers, and the decoder pads its maps instead of
        starting with larger ones.
    """

    n_slots: int = 5
    n_filters: int = 32

    def __post_init__(self) -> None:
        check_integer("n_slots", self.n_slots, least=2)
        check_integer("n_filters", self.n_filters, least=1)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> "SlotEncoder":
        """From ``(batch, *image_shape)`` to means and log-variances of all slots."""
        channels, height, width = _checked(image_shape)
        per_slot = self._per_slot(n_outputs // 2)
        attention = UNet(channels + 1, (height, width), self.n_filters)
        single = Convolutional(n_filters=self.n_filters, n_units=4 * self.n_filters)
        component = single.encoder((channels + 1, height, width), 2 * per_slot)
        return SlotEncoder(attention, component, n_slots=self.n_slots)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> "SlotDecoder":
        """From ``(batch, n_latents)`` to ``(batch, *image_shape)``."""
        shape = _checked(image_shape)
        per_slot = self._per_slot(n_latents)
        return SlotDecoder(
            _broadcast_layers(per_slot + 2, shape[0] + 1, self.n_filters),
            n_slots=self.n_slots,
            sides=shape[1:],
        )

    def _per_slot(self, n_latents: int) -> int:
        if n_latents % self.n_slots:
            raise ValueError(
                f"n_latents must be a multiple of n_slots={self.n_slots}, got "
                f"{n_latents}."
            )
        return n_latents // self.n_slots


class SlotEncoder(nn.Module):
    """Divides images among slots, and encodes each slot with the same network.

    Args:
        attention: See :func:`divide_pixels`.
        component: Network from an image and the logarithm of a mask, ``(batch, channels
            + 1, height, width)``, to means and log-variances of one slot.
        n_slots: Number of slots.
    """

    def __init__(
        self, attention: nn.Module, component: nn.Module, *, n_slots: int
    ) -> None:
        super().__init__()
        self.attention = attention
        self.component = component
        self.n_slots = n_slots

    def attend(self, images: torch.Tensor) -> torch.Tensor:
        """Logarithms of the masks of all slots, ``(batch, n_slots, height, width)``."""
        return divide_pixels(images, self.attention, self.n_slots)

    def encode_slots(
        self, images: torch.Tensor, log_masks: torch.Tensor
    ) -> torch.Tensor:
        """Means of all slots and then their log-variances, ``(batch, n_outputs)``."""
        repeated = images[:, None].expand(-1, self.n_slots, -1, -1, -1)
        inputs = torch.cat([repeated, log_masks[:, :, None]], dim=2)
        output = self.component(inputs.flatten(0, 1))
        means, log_variances = output.unflatten(0, (-1, self.n_slots)).chunk(2, dim=2)
        return torch.cat([means.flatten(1), log_variances.flatten(1)], dim=1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Means and log-variances of images, ``(batch, n_outputs)``."""
        return self.encode_slots(images, self.attend(images))


class SlotDecoder(nn.Module):
    """Draws every slot and its mask with the same network, and mixes the slots.

    Args:
        layers: Network from the code of a slot, repeated at every pixel together with
            the coordinates of the pixel, to channels and a mask logit.
        n_slots: Number of slots.
        sides: Height and width of images.
    """

    coordinates: torch.Tensor

    def __init__(
        self, layers: nn.Module, *, n_slots: int, sides: tuple[int, int]
    ) -> None:
        super().__init__()
        self.layers = layers
        self.n_slots = n_slots
        axes = [torch.linspace(-1, 1, side) for side in sides]
        grid = torch.stack(torch.meshgrid(*axes, indexing="ij"))
        self.register_buffer("coordinates", grid, persistent=False)

    def draw_slots(self, codes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw every slot by itself.

        Args:
            codes: Codes of images, ``(batch, n_latents)``.

        Returns:
            Images ``(batch, n_slots, channels, height, width)`` and mask logits
            ``(batch, n_slots, height, width)``.
        """
        slots = codes.unflatten(1, (self.n_slots, -1)).flatten(0, 1)
        sides = self.coordinates.shape[1:]
        maps = torch.cat(
            [
                slots[:, :, None, None].expand(-1, -1, *sides),
                self.coordinates.expand(len(slots), -1, -1, -1),
            ],
            dim=1,
        )
        output = self.layers(maps).unflatten(0, (-1, self.n_slots))
        return output[:, :, :-1], output[:, :, -1]

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Mixed images, ``(batch, *image_shape)``."""
        images, logits = self.draw_slots(codes)
        return (logits.softmax(dim=1)[:, :, None] * images).sum(dim=1)


def _broadcast_layers(n_inputs: int, n_outputs: int, n_filters: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(n_inputs, n_filters, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(n_filters, n_filters, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(n_filters, n_filters, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(n_filters, n_outputs, 1),
    )


def _checked(image_shape: tuple[int, ...]) -> tuple[int, int, int]:
    if len(image_shape) != 3 or min(image_shape[1:]) < 8:
        raise ValueError(
            "MONetComponents needs images (channels, height, width) of at least 8x8 "
            f"pixels, got shape {image_shape}."
        )
    channels, height, width = image_shape
    return channels, height, width
