"""Slots: the codes of the objects in an image."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.models import Autoencoder, LinearModel
from unbraid.models.networks import SlotEncoder

Encoder = Autoencoder | LinearModel | Callable[[torch.Tensor], torch.Tensor]


@torch.no_grad()
def read_slots(
    encoder: Encoder, images: NDArray[np.uint8], masks: NDArray[np.floating]
) -> torch.Tensor:
    """Encode the objects of scenes.

    A model with slots of its own, as MONet is, finds the objects by itself. Any other
    encoder sees one object at a time on black: the pixels in which it is the most
    visible object, as they are.

    Args:
        encoder: A model, or a function from images ``(batch, channels, height, width)``
            from 0 to 1 to codes ``(batch, n_latents)``.
        images: Images of scenes, ``(n, channels, height, width)``.
        masks: True masks of background and objects, ``(n, 1 + n_objects, height,
            width)``.

    Returns:
        Codes, ``(n, n_slots, n_latents)``.

    Example:
        >>> from unbraid.data import SpriteScenes
        >>> scenes = SpriteScenes(n_sprites=2, image_size=8)
        >>> def mean_color(images):
        ...     return images.mean(dim=(2, 3))
        >>> read_slots(mean_color, scenes.images([0]), scenes.masks([0])).shape
        torch.Size([1, 2, 3])
    """
    pixels = torch.from_numpy(images.astype(np.float32) / 255)
    if isinstance(encoder, Autoencoder) and isinstance(encoder.encoder, SlotEncoder):
        codes = encoder.encode(pixels).mean
        return codes.unflatten(1, (encoder.encoder.n_slots, -1))
    visible = torch.from_numpy(np.float32(masks[:, 1:]))
    is_own = (visible > 0) & (visible == visible.amax(dim=1, keepdim=True))
    objects = (pixels[:, None] * is_own[:, :, None]).flatten(0, 1)
    if isinstance(encoder, Autoencoder | LinearModel):
        codes = encoder.encode(objects).mean
    else:
        codes = encoder(objects)
    return codes.unflatten(0, (len(images), -1)).float()
