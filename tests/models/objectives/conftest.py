"""A tiny dense model in double precision, and images for it."""

import pytest
import torch

from unbraid.data import Batch
from unbraid.foundation import torch_generator
from unbraid.models import Gaussian, build_model
from unbraid.models.networks import Dense
from unbraid.models.objectives import LossContext


@pytest.fixture
def model():
    return build_model(
        Dense(widths=(7,)),
        image_shape=(5,),
        n_latents=3,
        likelihood=Gaussian(),
        seed=0,
    ).double()


@pytest.fixture
def batch():
    generator = torch_generator(0, "images")
    images = torch.rand(2, 6, 5, generator=generator, dtype=torch.float64)
    return Batch(images=images[0], partner_images=(images[1],))


@pytest.fixture
def compute(model, batch):
    """Loss of an objective for the tiny model, with the same noise every time."""

    def loss_of(objective, *, step=0, extra=None):
        generator = torch_generator(0, "noise")
        context = LossContext(step=step, generator=generator, extra=extra)
        return objective.loss(model, batch, context)

    return loss_of


@pytest.fixture
def posterior(model, batch):
    return model.encode(batch.images)
