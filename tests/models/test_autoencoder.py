import pytest
import torch
from torch import nn

from unbraid.foundation import torch_generator
from unbraid.models import Autoencoder, Bernoulli, DiagonalGaussian, Gaussian, PointMass


class TwoHeads(nn.Module):
    def forward(self, images):
        flat = images.flatten(1)
        return flat[:, :2], flat[:, 2:4]


def make(encoder=None, decoder=None, **options):
    given = {
        "likelihood": Gaussian(),
        "image_shape": (1, 2, 3),
        "n_latents": 2,
        **options,
    }
    encoder = encoder or nn.Sequential(nn.Flatten(), nn.Linear(6, 4))
    decoder = decoder or nn.Sequential(nn.Linear(2, 6), nn.Unflatten(1, (1, 2, 3)))
    return Autoencoder(encoder, decoder, **given)


@pytest.fixture
def images():
    return torch.rand(5, 1, 2, 3, generator=torch_generator(0, "images"))


def test_means_come_first_and_log_variances_after_them(images):
    model = make(encoder=nn.Flatten(), n_latents=3)
    posterior = model.encode(images)
    assert isinstance(posterior, DiagonalGaussian)
    assert torch.equal(posterior.mean, images.flatten(1)[:, :3])
    assert torch.equal(posterior.log_variance, images.flatten(1)[:, 3:])


def test_encoder_may_give_two_tensors(images):
    posterior = make(encoder=TwoHeads()).encode(images)
    assert torch.equal(posterior.log_variance, images.flatten(1)[:, 2:4])


def test_a_plain_autoencoder_gives_codes_without_uncertainty(images):
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(6, 2))
    posterior = make(encoder=encoder, is_variational=False).encode(images)
    assert isinstance(posterior, PointMass)
    assert posterior.mean.shape == (5, 2)


def test_forward_decodes_the_mean(images):
    model = make(likelihood=Bernoulli())
    expected = model.decoder(model.encode(images).mean).sigmoid()
    assert torch.equal(model(images), expected)


def test_standardized_models_take_and_give_plain_pixels(images):
    mean, std = torch.tensor([0.4]), torch.tensor([0.2])
    identity = nn.Flatten()
    back = nn.Unflatten(1, (1, 2, 3))
    model = make(identity, back, n_latents=6, is_variational=False, mean=mean, std=std)
    codes = model.encode(images).mean
    torch.testing.assert_close(codes, ((images - 0.4) / 0.2).flatten(1))
    torch.testing.assert_close(model.decode(codes), images)
    assert model.reconstruction_loss(images, codes).abs().max() < 1e-9
    apart = model.perceived_distance(images, images + 0.1)
    torch.testing.assert_close(apart, torch.full((5,), 6 * 0.25))


def test_a_channel_that_never_varies_is_only_shifted(images):
    model = make(mean=torch.tensor([0.4]), std=torch.tensor([0.0]))
    torch.testing.assert_close(model.standardize(images), images - 0.4)


def test_constants_of_standardization_are_not_among_the_weights():
    model = make(mean=torch.tensor([0.4]), std=torch.tensor([0.2]))
    assert not {"mean", "std"} & set(model.state_dict())


def test_sample_is_a_function_of_the_generator():
    model = make()
    first, again = (
        model.sample(4, generator=torch_generator(0, "codes")) for _ in range(2)
    )
    assert first.shape == (4, 1, 2, 3)
    assert torch.equal(first, again)


def test_sample_of_a_model_in_double_precision():
    pictures = make().double().sample(2, generator=torch_generator(0, "codes"))
    assert pictures.dtype == torch.float64


def test_pixels_are_counted():
    assert make().n_pixels == 6


@pytest.mark.parametrize("shape", [(5, 1, 2, 2), (1, 2, 3), (5, 3, 2, 3)])
def test_images_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"images must have shape \(batch, 1, 2, 3\)"):
        make().encode(torch.zeros(shape))


@pytest.mark.parametrize("shape", [(5, 3), (2,)])
def test_codes_of_another_length_are_refused(shape):
    with pytest.raises(ValueError, match=r"codes must have shape \(batch, 2\)"):
        make().decode(torch.zeros(shape))


def test_modules_that_do_not_fit_are_refused(images):
    with pytest.raises(
        ValueError, match=r"encoder must return .*\(5, 4\), got \(5, 6\)"
    ):
        make(encoder=nn.Flatten()).encode(images)
    with pytest.raises(ValueError, match="encoder must return"):
        make(encoder=TwoHeads(), n_latents=3).encode(images)
    with pytest.raises(ValueError, match="decoder must return"):
        make(decoder=nn.Linear(2, 6)).reconstruction_loss(images, torch.zeros(5, 2))


def test_bytes_are_scaled_and_floats_may_have_any_precision(images):
    model = make()
    raw = (images * 255).round().to(torch.uint8)
    expected = model.encode(raw.float() / 255).mean
    torch.testing.assert_close(model.encode(raw).mean, expected)
    torch.testing.assert_close(model.encode(raw.double() / 255).mean, expected)
    codes = torch.zeros(2, 2)
    torch.testing.assert_close(model.decode(codes.double()), model.decode(codes))


def test_what_is_no_tensor_of_numbers_is_refused_in_a_sentence(images):
    model = make()
    with pytest.raises(TypeError, match="images must be a tensor, got ndarray"):
        model.encode(images.numpy())
    with pytest.raises(TypeError, match="images must be .* got torch.int64"):
        model.encode(images.long())
    with pytest.raises(TypeError, match="codes must be a tensor, got list"):
        model.decode([[0.0, 0.0]])
    for n in (-1, 1.5):
        with pytest.raises(ValueError, match=f"^n must be .* got {n}"):
            model.sample(n, generator=torch_generator(0, "codes"))
