import base64

import numpy as np
import pytest
import torch
from torch import nn

from unbraid.models import (
    Autoencoder,
    Bernoulli,
    Gaussian,
    KernelAugmented,
    LinearModel,
)
from unbraid.models.networks import NETWORKS, MONetComponents
from unbraid.reports.explorer._network_description import (
    describe_layers,
    describe_model,
    plain_tensor,
)


def read(tensor):
    kind = {"float16": "<f2", "float32": "<f4"}[tensor["type"]]
    numbers = np.frombuffer(base64.b64decode(tensor["bytes"]), kind)
    return numbers.astype(np.float32) * tensor.get("scale", 1.0)


def computed(layers, values):
    """The literal meaning of a list of layers, by torch's functions."""
    for layer in layers:
        if "weight" in layer:
            weight = torch.from_numpy(read(layer["weight"])).reshape(layer["shape"])
            bias = torch.from_numpy(read(layer["bias"]))
        match layer["kind"]:
            case "dense":
                values = values @ weight.T + bias
            case "convolution":
                values = nn.functional.conv2d(
                    values, weight, bias, layer["stride"], layer["padding"]
                )
            case "transposed_convolution":
                values = nn.functional.conv_transpose2d(
                    values, weight, bias, layer["stride"], layer["padding"]
                )
            case "leaky_relu":
                values = nn.functional.leaky_relu(values, layer["slope"])
            case "flatten":
                values = values.flatten(1)
            case "unflatten":
                values = values.unflatten(1, layer["shape"])
            case "even_sides":
                odd = (0, values.shape[3] % 2, 0, values.shape[2] % 2)
                values = nn.functional.pad(values, odd, mode="replicate")
            case "cut":
                high, wide = layer["sides"]
                top = (values.shape[2] - high) // 2
                left = (values.shape[3] - wide) // 2
                values = values[:, :, top : top + high, left : left + wide]
            case "product":
                rows, columns = (
                    lines(layer[part], values) for part in ("rows", "columns")
                )
                channels = layer["channels"]
                weight = torch.from_numpy(read(channels["weight"]))
                values = torch.einsum(
                    "brk,bsk,ck->bcrs",
                    rows,
                    columns,
                    weight.reshape(channels["shape"]),
                )
                values += torch.from_numpy(read(channels["bias"]))[:, None, None]
            case kind:
                raise AssertionError(kind)
    return values


def lines(part, codes):
    """Features of every row or column, (codes, lines, features)."""
    offsets = torch.from_numpy(read(part["offsets"])).reshape(part["shape"])
    first = computed([part["code"]], codes)
    return computed(part["layers"], first[:, None] + offsets)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *((name, (3, 64, 64)) for name in NETWORKS if name != "monet_components"),
        ("convolutional", (1, 9, 14)),
        ("dense", (1, 9, 14)),
    ],
)
def test_every_network_is_described_by_layers_that_compute_the_same(name, shape):
    torch.manual_seed(0)
    network = NETWORKS[name]()
    encoder, decoder = network.encoder(shape, 6), network.decoder(shape, 3)
    images, codes = torch.rand(2, *shape), torch.randn(2, 3)
    with torch.no_grad():
        expected, pictures = encoder(images), decoder(codes)
        got = computed(describe_layers(encoder), images)
        drawn = computed(describe_layers(decoder), codes)
    assert expected.std() > 1e-3
    assert pictures.std() > 1e-4
    # Half precision keeps eleven bits of each weight.
    torch.testing.assert_close(got, expected, rtol=0, atol=2e-3 * expected.std().item())
    torch.testing.assert_close(
        drawn, pictures, rtol=0, atol=5e-3 * pictures.std().item()
    )


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (nn.BatchNorm2d(3), "BatchNorm2d"),
        (nn.GELU(), "GELU"),
        (nn.Conv2d(4, 4, 3, groups=2), "groups=2"),
        (nn.Conv2d(4, 4, 3, dilation=2), "dilation"),
        (nn.Conv2d(4, 4, 3, padding="same"), "padding=same"),
        (nn.ConvTranspose2d(4, 4, 3, 2, output_padding=1), "output_padding"),
        (nn.Flatten(2), "Flatten"),
    ],
)
def test_a_layer_that_the_page_cannot_compute_is_named(layer, text):
    with pytest.raises(
        ValueError, match=rf"there is the layer .*{text}.* in the decoder\.$"
    ):
        describe_layers(nn.Sequential(nn.ReLU(), layer), "decoder")


def test_a_network_of_slots_is_refused_by_name():
    decoder = MONetComponents(n_slots=2).decoder((3, 8, 8), 4)
    with pytest.raises(ValueError, match="but there is the layer SlotDecoder"):
        describe_layers(decoder, "decoder")


def test_numbers_beyond_half_precision_are_kept():
    large = torch.linspace(-1e7, 1e7, 20_001)
    kept = read(plain_tensor(large))
    assert np.abs(kept - large.numpy()).max() < 1e7 * 2**-11
    small = large * 1e-15
    assert np.abs(read(plain_tensor(small)) - small.numpy()).max() < 1e-8 * 2**-11
    assert not read(plain_tensor(torch.zeros(20_000))).any()


def test_small_tensors_are_exact():
    values = torch.randn(100)
    assert (read(plain_tensor(values)) == values.numpy()).all()


def test_the_likelihood_says_what_becomes_of_the_output():
    def output(likelihood):
        model = Autoencoder(
            nn.Sequential(nn.Flatten(), nn.Linear(16, 4)),
            nn.Sequential(nn.Linear(2, 16), nn.Unflatten(1, (1, 4, 4))),
            likelihood=likelihood,
            image_shape=(1, 4, 4),
            n_latents=2,
        )
        return describe_model(model)["output"]

    assert output(Bernoulli()) == "sigmoid"
    assert output(Gaussian()) == "identity"
    assert output(KernelAugmented(base=Bernoulli())) == "sigmoid"


def test_a_linear_model_is_a_dense_layer_each_way():
    torch.manual_seed(0)
    model = LinearModel((1, 4, 4), 3)
    for buffer in model.buffers():
        torch.nn.init.normal_(buffer)
    about = describe_model(model)
    images, codes = torch.rand(5, 1, 4, 4), torch.randn(5, 3)
    torch.testing.assert_close(
        computed(about["encoder"], images), model.encode(images).mean
    )
    torch.testing.assert_close(computed(about["decoder"], codes), model.decode(codes))
