import pytest
import torch

from unbraid.models import Bernoulli, PointMass, build_model
from unbraid.models.networks import Convolutional, Dense


def build(seed=0, network=None, image_shape=(3, 16, 16), **options):
    return build_model(
        network or Convolutional(n_filters=4, n_units=8),
        image_shape=image_shape,
        n_latents=3,
        likelihood=Bernoulli(),
        seed=seed,
        **options,
    )


def weights(model):
    return list(model.state_dict().values())


def test_the_seed_decides_the_weights_and_nothing_else_does():
    first = weights(build())
    torch.manual_seed(1234)
    again, other = weights(build()), weights(build(seed=1))
    assert all(map(torch.equal, first, again))
    # Biases are zero under any seed.
    matrices = [pair for pair in zip(first, other, strict=True) if pair[0].ndim > 1]
    assert not any(torch.equal(*pair) for pair in matrices)


def test_building_leaves_torchs_own_generator_as_it_was():
    state = torch.get_rng_state()
    build()
    assert torch.equal(state, torch.get_rng_state())


def test_plain_autoencoders_have_half_as_many_outputs():
    model = build(is_variational=False)
    posterior = model.encode(torch.zeros(2, 3, 16, 16))
    assert isinstance(posterior, PointMass)
    assert posterior.mean.shape == (2, 3)


def test_constants_of_standardization_reach_the_model():
    model = build(mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 4.0))
    pixel = model.standardize(torch.full((1, 3, 16, 16), 0.5))[0, :, 0, 0]
    assert pixel.tolist() == pytest.approx([0.4, 0.15, 0.05])


def test_filters_are_laid_out_for_images_with_channels_last():
    model = build()
    filters = [weight for weight in model.parameters() if weight.ndim == 4]
    assert filters
    assert all(
        weight.is_contiguous(memory_format=torch.channels_last) for weight in filters
    )


def test_vectors_have_models_too():
    model = build(network=Dense(widths=(8,)), image_shape=(5,))
    assert model(torch.zeros(2, 5)).shape == (2, 5)
