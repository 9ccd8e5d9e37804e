import base64
import json

import pytest
import torch
from safetensors.torch import load, save

import unbraid
from unbraid.data import XYSquares
from unbraid.models import (
    Bernoulli,
    FeatureAugmented,
    Gaussian,
    Laplace,
    choose_likelihood,
    load_likelihood,
    save_likelihood,
)
from unbraid.reports import write_explorer


def random_layers(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        (
            torch.randn(shape, generator=generator),
            torch.randn(shape[0], generator=generator),
        )
        for shape in shapes
    ]


LAYERS = random_layers((4, 1, 3, 3), (2, 4, 4, 4))


def packed(**tensors):
    return base64.b64encode(save(tensors)).decode()


def literal_convolution(image, kernels, biases, stride, padding):
    """One layer, pixel by pixel."""
    n_inputs, height, width = image.shape
    side = kernels.shape[-1]
    padded = torch.zeros(n_inputs, height + 2 * padding, width + 2 * padding)
    padded[:, padding : padding + height, padding : padding + width] = image
    n_rows = (height + 2 * padding - side) // stride + 1
    n_columns = (width + 2 * padding - side) // stride + 1
    output = torch.empty(len(kernels), n_rows, n_columns)
    for k, kernel in enumerate(kernels):
        for row in range(n_rows):
            for column in range(n_columns):
                top, left = row * stride, column * stride
                part = padded[:, top : top + side, left : left + side]
                output[k, row, column] = (part * kernel).sum() + biases[k]
    return output


def literal_features(image):
    (first, first_bias), (second, second_bias) = LAYERS
    hidden = literal_convolution(image, first, first_bias, stride=1, padding=1)
    hidden = hidden / (1 + torch.exp(-hidden))
    return literal_convolution(hidden, second, second_bias, stride=2, padding=1)


def test_loss_is_that_of_pixels_plus_squared_distance_of_features():
    images, output = torch.rand(2, 3, 1, 8, 6, generator=torch.Generator())
    loss = FeatureAugmented.from_layers(LAYERS, weight=0.3)
    assert loss.features(images).shape == (3, 2, 4, 3)
    for row in range(3):
        apart = literal_features(images[row]) - literal_features(output[row])
        expected = (images[row] - output[row]).square().sum()
        expected = expected + 0.3 * apart.square().sum()
        found = loss.loss(images, output)[row]
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_features_are_those_of_the_expected_images():
    loss = FeatureAugmented.from_layers(LAYERS, base=Bernoulli(), weight=2.0)
    images, logits = torch.rand(2, 2, 1, 8, 8, generator=torch.Generator())
    apart = loss.features(images) - loss.features(logits.sigmoid())
    expected = Bernoulli().loss(images, logits) + 2.0 * apart.square().sum((1, 2, 3))
    torch.testing.assert_close(loss.loss(images, logits), expected)
    assert torch.equal(loss.mean(logits), logits.sigmoid())


def test_gradients_reach_the_output_and_agree_with_finite_differences():
    loss = FeatureAugmented.from_layers(LAYERS, weight=0.3)
    images, output = torch.rand(2, 1, 1, 4, 4, generator=torch.Generator()).double()
    assert torch.autograd.gradcheck(
        lambda output: loss.loss(images, output), output.requires_grad_()
    )


@pytest.mark.parametrize("base", [Gaussian(), Laplace(scale=0.1), Bernoulli()])
def test_file_and_record_keep_every_digit(base, tmp_path):
    likelihood = FeatureAugmented.from_layers(LAYERS, base=base, weight=1 / 3)
    path = save_likelihood(likelihood, tmp_path / "loss.json")
    assert load_likelihood(path) == likelihood
    assert choose_likelihood(str(path)) == likelihood
    written = json.loads(path.read_text())["likelihood"]
    tensors = load(base64.b64decode(written["extractor"]))
    assert torch.equal(tensors["1.weight"], LAYERS[1][0])
    assert len(repr(likelihood)) < 200


def test_equal_layers_in_another_layout_give_the_same_text():
    other = [
        (kernels.to(memory_format=torch.channels_last), biases)
        for kernels, biases in LAYERS
    ]
    assert FeatureAugmented.from_layers(other) == FeatureAugmented.from_layers(LAYERS)


def test_a_run_is_resumed_loaded_and_explored_with_its_features(tmp_path):
    data = XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)
    likelihood = FeatureAugmented.from_layers(LAYERS, weight=0.1)
    options = {"steps": 4, "n_latents": 2, "network": "dense", "progress": False}
    path = save_likelihood(likelihood, tmp_path / "loss.json")
    run = unbraid.fit("vae", data, likelihood=str(path), out=tmp_path / "r", **options)
    path.unlink()
    again = unbraid.fit(
        "vae", data, likelihood=likelihood, out=tmp_path / "r", **options
    )
    assert again.history == run.history
    model = unbraid.load(tmp_path / "r")
    assert model.likelihood == likelihood
    page = write_explorer(model, data, tmp_path / "explorer.html")
    assert page.stat().st_size > 1000


def test_standardized_data_are_refused():
    data = XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)
    likelihood = FeatureAugmented.from_layers(LAYERS)
    with pytest.raises(ValueError, match="not a likelihood for standardized data"):
        unbraid.fit("vae", data, likelihood=likelihood, standardize=True, steps=1)


@pytest.mark.parametrize("shape", [(2, 3, 8, 8), (2, 64)])
def test_other_images_are_refused(shape):
    likelihood = FeatureAugmented.from_layers(LAYERS)
    with pytest.raises(ValueError, match=r"images must have shape \(batch, 1, height"):
        likelihood.features(torch.zeros(shape))


def test_images_that_are_too_small_are_refused():
    likelihood = FeatureAugmented.from_layers(LAYERS)
    with pytest.raises(ValueError, match="1x8 pixels are too small for layer 1"):
        likelihood.features(torch.zeros(1, 1, 1, 8))


ONE = {"0.weight": torch.ones(2, 1, 3, 3), "0.bias": torch.zeros(2)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a safetensors file in base64"),
        ("no base64!", "must be a safetensors file in base64"),
        ("\u00e4", "must be a safetensors file in base64"),
        (base64.b64encode(b"\x80\x04pickle").decode(), "must be a safetensors file"),
        (packed(), "must have tensors 0.weight, .* got none"),
        (packed(x=torch.ones(1)), "must have tensors 0.weight, .* got x"),
        (packed(**ONE, x=torch.ones(1)), "must have tensors 0.weight"),
        (packed(**ONE | {"0.bias": torch.zeros(3)}), "0.bias .* got shape"),
        (packed(**ONE | {"0.weight": torch.ones(2, 9)}), "0.weight .* got shape"),
        (packed(**ONE | {"0.weight": torch.ones(2, 1, 3, 4)}), "0.weight .* got sha"),
        (packed(**ONE | {"0.bias": torch.tensor([1, 2])}), "finite numbers only"),
        (packed(**ONE | {"0.bias": torch.tensor([1, torch.nan])}), "finite numbers"),
        (
            packed(
                **ONE, **{"1.weight": torch.ones(1, 3, 3, 3), "1.bias": torch.zeros(1)}
            ),
            "1.weight .* got shape",
        ),
        (3, "extractor must be a text, got int"),
    ],
)
def test_other_content_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        FeatureAugmented(extractor=text)
    with pytest.raises(ValueError, match="weight must be at least 0, got -1"):
        FeatureAugmented.from_layers(LAYERS, weight=-1)
