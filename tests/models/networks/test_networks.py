import math

import pytest
import torch
from torch import nn

from unbraid.models.networks import (
    NETWORKS,
    Convolutional,
    Dense,
    Discriminator,
    DisentanglementLibConvolutional,
    DissertationConvolutional,
    Separable,
    choose_network,
    initialize,
)

IMAGE_SHAPES = [
    (n_channels, height, width)
    for n_channels in (1, 3, 4)
    for height, width in (
        (8, 8),
        (9, 13),
        (16, 16),
        (28, 28),
        (32, 32),
        (60, 80),
        (64, 64),
        (128, 128),
    )
]


def assert_shapes(network, shape):
    encoder, decoder = network.encoder(shape, 6), network.decoder(shape, 3)
    assert encoder(torch.rand(2, *shape)).shape == (2, 6)
    assert decoder(torch.rand(2, 3)).shape == (2, *shape)


def n_weights(module):
    return [weight.numel() for weight in module.parameters()]


@pytest.mark.parametrize("shape", [*IMAGE_SHAPES, (5,), (500,)], ids=str)
def test_automatic_network_takes_any_shape(shape):
    assert_shapes(choose_network("auto", shape), shape)


@pytest.mark.parametrize("shape", IMAGE_SHAPES, ids=str)
def test_convolutional_takes_any_image(shape):
    assert_shapes(Convolutional(n_filters=2, n_units=4), shape)


@pytest.mark.parametrize(
    "shape", [(1, 4, 4), (1, 5, 7), (3, 4, 64), (2, 100, 33)], ids=str
)
def test_convolutional_takes_odd_and_lengthy_images(shape):
    assert_shapes(Convolutional(n_filters=2, n_units=4), shape)


@pytest.mark.parametrize("shape", [(1, 9, 13), (1, 60, 80), (1, 5, 7)], ids=str)
def test_every_pixel_is_seen_and_made(shape):
    network = Convolutional(n_filters=8, n_units=32)
    image = torch.rand(1, *shape, requires_grad=True)
    network.encoder(shape, 6)(image).square().sum().backward()
    assert image.grad.count_nonzero() > 0.9 * image.numel()
    for edge in (image.grad[..., -1, :], image.grad[..., :, -1]):
        assert edge.any()
    codes = torch.rand(8, 3)
    assert (network.decoder(shape, 3)(codes).std(dim=0) > 0).float().mean() > 0.9


def test_convolutional_at_64_pixels_is_the_published_design():
    ours = Convolutional().encoder((3, 64, 64), 20)
    filters = [m.weight.shape for m in ours.modules() if isinstance(m, nn.Conv2d)]
    assert [tuple(shape) for shape in filters] == [
        (32, 3, 4, 4),
        (32, 32, 4, 4),
        (64, 32, 4, 4),
        (64, 64, 4, 4),
    ]


def test_weights_of_disentanglement_libs_network_are_as_many_as_by_hand():
    network = DisentanglementLibConvolutional()
    encoder = network.encoder((3, 64, 64), 20)
    assert n_weights(encoder) == [
        *(4 * 4 * 3 * 32, 32),
        *(4 * 4 * 32 * 32, 32),
        *(2 * 2 * 32 * 64, 64),
        *(2 * 2 * 64 * 64, 64),
        *(4 * 4 * 64 * 256, 256),
        *(256 * 20, 20),
    ]
    assert_published_decoder(network.decoder((3, 64, 64), 10))
    assert_shapes(network, (1, 64, 64))


def test_weights_of_the_dissertations_network_are_as_many_as_by_hand():
    network = DissertationConvolutional()
    encoder = network.encoder((3, 64, 64), 20)
    assert n_weights(encoder) == [
        *(4 * 4 * 3 * 32, 32),
        *(4 * 4 * 32 * 32, 32),
        *(4 * 4 * 32 * 64, 64),
        *(4 * 4 * 64 * 64, 64),
        *(5 * 5 * 64 * 256, 256),
        *(256 * 20, 20),
    ]
    assert_published_decoder(network.decoder((3, 64, 64), 10))
    assert_shapes(network, (4, 64, 64))


def assert_published_decoder(decoder):
    assert n_weights(decoder) == [
        *(10 * 256, 256),
        *(256 * 1024, 1024),
        *(64 * 64 * 4 * 4, 64),
        *(64 * 32 * 4 * 4, 32),
        *(32 * 32 * 4 * 4, 32),
        *(32 * 3 * 4 * 4, 3),
    ]


def test_automatic_choice_follows_the_shape():
    kinds = [
        type(choose_network("auto", shape))
        for shape in [(5,), (1, 8, 8), (3, 16, 16), (3, 60, 80), (3, 64, 64)]
    ]
    assert kinds == [
        Dense,
        Dense,
        Convolutional,
        Convolutional,
        DisentanglementLibConvolutional,
    ]
    assert {type(choose_network(name, (3, 64, 64))) for name in NETWORKS} == set(
        NETWORKS.values()
    )


def test_dense_decoder_mirrors_the_encoder():
    network = Dense(widths=(7, 5))
    assert n_weights(network.encoder((1, 2, 3), 4)) == [42, 7, 35, 5, 20, 4]
    assert n_weights(network.decoder((1, 2, 3), 2)) == [10, 5, 35, 7, 42, 6]
    assert Dense(widths=[7, 5]) == network
    straight = Dense(widths=()).encoder((5,), 4)
    assert n_weights(straight) == [20, 4]


@pytest.mark.parametrize("how", ["glorot_uniform", "glorot_normal"])
def test_weights_have_the_spread_of_glorot_and_biases_are_zero(how):
    layer = initialize(nn.Linear(300, 200), how)
    assert layer.weight.std().item() == pytest.approx(math.sqrt(2 / 500), rel=0.03)
    assert not layer.bias.any()
    bound = math.sqrt(6 / 500)
    assert (layer.weight.abs().max() <= bound) == (how == "glorot_uniform")


def test_torchs_own_initialization_can_be_kept():
    layer = nn.Linear(3, 2)
    kept = layer.weight.clone(), layer.bias.clone()
    initialize(layer, "torch")
    assert torch.equal(layer.weight, kept[0])
    assert torch.equal(layer.bias, kept[1])


def test_discriminator_gives_two_logits_from_leaky_layers():
    network = Discriminator(4, width=8, depth=3)
    assert network(torch.zeros(5, 4)).shape == (5, 2)
    leaks = [m for m in network.modules() if isinstance(m, nn.LeakyReLU)]
    assert [leak.negative_slope for leak in leaks] == [0.2] * 3
    assert n_weights(network) == [32, 8, 64, 8, 64, 8, 16, 2]


@pytest.mark.parametrize(
    "kind", [DisentanglementLibConvolutional, DissertationConvolutional]
)
def test_published_networks_take_64_pixels_only(kind):
    for shape in [(3, 32, 32), (3, 64, 60), (64,)]:
        with pytest.raises(ValueError, match="needs images of 64x64"):
            kind().encoder(shape, 4)
        with pytest.raises(ValueError, match="needs images of 64x64"):
            kind().decoder(shape, 4)


@pytest.mark.parametrize("shape", [(5,), (1, 3, 8), (1, 8, 3)], ids=str)
def test_convolutional_refuses_vectors_and_slivers(shape):
    with pytest.raises(ValueError, match="Use Dense"):
        Convolutional().encoder(shape, 4)


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match=r"widths\[1\] must be at least 1, got 0"):
        Dense(widths=(8, 0))
    with pytest.raises(ValueError, match="n_filters must be at least 1, got 0"):
        Convolutional(n_filters=0)
    with pytest.raises(ValueError, match="n_units must be at least 1, got 0"):
        Convolutional(n_units=0)
    for kind in (Dense, Convolutional, DissertationConvolutional):
        with pytest.raises(ValueError, match="initialisation must be .* got 'zeros'"):
            kind(initialisation="zeros")


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 13), (4, 60, 80)], ids=str)
def test_separable_takes_any_image(shape):
    assert_shapes(Separable(widths=(4,), n_units=4, rank=3), shape)


def test_separable_pixels_are_sums_of_products_of_rows_and_columns():
    torch.manual_seed(0)
    network = Separable(n_units=5, n_layers=3, rank=4, n_waves=1)
    decoder, code = network.decoder((2, 3, 6), 4), torch.randn(4)

    def features(lines, place, side):
        position = (2 * place + 1) / side - 1
        angle = torch.tensor(math.pi / 2 * position)
        seen = torch.tensor([position, angle.sin(), angle.cos()])
        values = lines.from_position.weight @ seen
        values = values + lines.from_code.weight @ code + lines.from_code.bias
        for layer in [m for m in lines.layers if isinstance(m, nn.Linear)]:
            values = layer.weight @ values.clamp_min(0.0) + layer.bias
        return values

    image = decoder(code[None])[0]
    for channel in range(2):
        weight, bias = decoder.channels.weight[channel], decoder.channels.bias[channel]
        for row in range(3):
            for column in range(6):
                pixel = bias
                first = features(decoder.rows, row, 3)
                second = features(decoder.columns, column, 6)
                for k in range(4):
                    pixel = pixel + weight[k] * first[k] * second[k]
                torch.testing.assert_close(image[channel, row, column], pixel)


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 13)], ids=str)
def test_separable_draws_all_channels_at_once_as_it_would_one_by_one(shape):
    torch.manual_seed(0)
    decoder = Separable(n_units=8, rank=6).decoder(shape, 4)
    codes = torch.randn(5, 4, requires_grad=True)
    rows, columns = decoder.rows(codes), decoder.columns(codes)
    weighted = rows[:, None] * decoder.channels.weight[:, None]
    slow = weighted @ columns[:, None].mT + decoder.channels.bias[:, None, None]
    torch.testing.assert_close(decoder(codes), slow)
    targets = torch.randn(slow.shape)
    (gradient,) = torch.autograd.grad((decoder(codes) * targets).sum(), codes)
    (expected,) = torch.autograd.grad((slow * targets).sum(), codes)
    torch.testing.assert_close(gradient, expected)


def test_separable_refuses_vectors():
    with pytest.raises(ValueError, match="Use Dense for vectors"):
        Separable().decoder((10,), 3)
