"""Tiny models and batches of images that go together, for objectives."""

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models import Autoencoder, Gaussian, build_model
from unbraid.models.networks import Dense
from unbraid.models.objectives import LossContext


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def context(step=0, extra=None):
    """The context of a loss, with the same noise every time."""
    return LossContext(step=step, generator=seeded(), extra=extra)


def tiny_model(n_latents=3, n_pixels=5, is_variational=True):
    """A dense model of vectors, in double precision."""
    model = build_model(
        Dense(widths=(7,)),
        image_shape=(n_pixels,),
        n_latents=n_latents,
        likelihood=Gaussian(),
        seed=0,
        is_variational=is_variational,
    )
    return model.double()


def batch_of(n_together, size=4, n_pixels=5, seed=1, factors=None):
    """Random images, anchors first; factors are a list of tables or nothing."""
    images = torch.rand(
        n_together, size, n_pixels, generator=seeded(seed), dtype=torch.float64
    )
    tables = () if factors is None else tuple(torch.as_tensor(t) for t in factors)
    return Batch(
        images=images[0],
        factors=tables[0] if tables else None,
        partner_images=tuple(images[1:]),
        partner_factors=tables[1:],
    )


class _Columns(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.columns = list(columns)

    def forward(self, images):
        return images[:, self.columns]


def transparent_model(n_latents, is_variational=True):
    """Images are their own codes: means in the first columns, log-variances after."""
    n_pixels = n_latents * (2 if is_variational else 1)
    return Autoencoder(
        _Columns(range(n_pixels)),
        nn.Linear(n_latents, n_pixels).double(),
        likelihood=Gaussian(),
        image_shape=(n_pixels,),
        n_latents=n_latents,
        is_variational=is_variational,
    )
