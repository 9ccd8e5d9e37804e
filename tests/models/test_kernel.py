import numpy as np
import pytest
import torch
from torch.nn import functional

from unbraid.foundation import from_plain, to_plain, torch_generator
from unbraid.models import RECORDS, Bernoulli, Gaussian, KernelAugmented, Laplace
from unbraid.models._kernel import _bands, _spectrum

SHAPES = [(2, 1, 8, 8), (2, 3, 7, 12), (1, 4, 5, 3), (2, 1, 1, 6)]


def pictures(shape, name="images"):
    return torch.rand(shape, generator=torch_generator(0, name), dtype=torch.float64)


def convolved(images, kernel):
    """By torch's own convolution, which does not turn the kernel round."""
    kernel = torch.as_tensor(kernel, dtype=images.dtype).flip(0, 1)
    planes = images.flatten(0, 1)[:, None]
    padding = (kernel.shape[0] // 2, kernel.shape[1] // 2)
    return functional.conv2d(planes, kernel[None, None], padding=padding).reshape(
        images.shape
    )


def given_kernel(height, width):
    return np.random.Generator(np.random.PCG64(0)).normal(size=(height, width))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sides", [(1, 1), (3, 3), (3, 7), (9, 5), (21, 31)])
def test_blur_is_the_direct_convolution(shape, sides):
    images, kernel = pictures(shape), given_kernel(*sides)
    blurred, _ = KernelAugmented(kernel=kernel).blur(images)
    torch.testing.assert_close(blurred, convolved(images, kernel))


@pytest.mark.parametrize("base", [Gaussian(), Gaussian(variance=2.0), Laplace()])
@pytest.mark.parametrize("shape", SHAPES)
def test_loss_is_that_of_the_base_twice(base, shape):
    images, output = pictures(shape), pictures(shape, "output")
    kernel = given_kernel(5, 5)
    likelihood = KernelAugmented(base=base, kernel=kernel, weight=3.0)
    blurred = base.loss(convolved(images, kernel), convolved(output, kernel))
    expected = base.loss(images, output) + 3.0 * blurred
    torch.testing.assert_close(likelihood.loss(images, output), expected)
    torch.testing.assert_close(likelihood.distance(images, output), expected)


def test_bernoulli_is_blurred_as_chances_and_not_as_logits():
    images, logits = pictures((3, 1, 8, 8)), pictures((3, 1, 8, 8), "output") - 0.5
    box = np.full((7, 7), 1 / 49)
    likelihood = KernelAugmented(base=Bernoulli(), weight=2.0)
    x, y = convolved(images, box), convolved(logits.sigmoid(), box)
    entropy = -(x * y.log() + (1 - x) * (1 - y).log()).flatten(1).sum(dim=1)
    expected = Bernoulli().loss(images, logits) + 2.0 * entropy
    torch.testing.assert_close(likelihood.loss(images, logits), expected)
    chances = logits.sigmoid()
    torch.testing.assert_close(likelihood.mean(logits), chances)
    torch.testing.assert_close(likelihood.distance(images, chances), expected)
    assert likelihood.needs_unit_range
    assert not KernelAugmented().needs_unit_range


@pytest.mark.parametrize(
    ("sides", "radius"), [((64, 64), 31), ((8, 8), 3), ((60, 80), 29), ((128, 128), 63)]
)
def test_box_reaches_half_across_the_image_and_weighs_its_pixels(sides, radius):
    image = torch.zeros(1, 1, *sides)
    image[..., sides[0] // 2, sides[1] // 2] = 1.0
    blurred, weight = KernelAugmented().blur(image)
    lit = blurred > 1e-6
    assert lit.any(dim=3).sum() == lit.any(dim=2).sum() == 2 * radius + 1
    assert weight == pytest.approx((2 * radius + 1) ** 2)
    torch.testing.assert_close(blurred.max().item(), 1 / weight, rtol=1e-3, atol=0)


def test_radius_of_the_dissertation_has_its_weight():
    _, weight = KernelAugmented().blur(torch.zeros(1, 3, 64, 64))
    assert weight == pytest.approx(3969)


def test_gaussian_falls_off_and_sums_to_one():
    image = torch.zeros(1, 1, 21, 21, dtype=torch.float64)
    image[..., 10, 10] = 1.0
    blurred, _ = KernelAugmented(kernel="gaussian", radius=8).blur(image)
    assert blurred.sum().item() == pytest.approx(1.0)
    ratio = blurred[0, 0, 10, 12] / blurred[0, 0, 10, 10]
    assert ratio.item() == pytest.approx(np.exp(-0.5))  # two pixels are one deviation


def test_gaussian_may_have_another_width():
    image = torch.zeros(1, 1, 21, 21, dtype=torch.float64)
    image[..., 10, 10] = 1.0
    wide = KernelAugmented(kernel="gaussian", radius=6, relative_sigma=0.5)
    blurred, _ = wide.blur(image)
    ratio = blurred[0, 0, 10, 13] / blurred[0, 0, 10, 10]
    assert ratio.item() == pytest.approx(np.exp(-0.5))
    assert KernelAugmented(kernel="gaussian").relative_sigma == 0.25
    assert KernelAugmented().relative_sigma is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"kernel": "gaussian", "relative_sigma": 0},
            "relative_sigma must be positive, got 0",
        ),
        (
            {"kernel": "gaussian", "relative_sigma": "x"},
            "relative_sigma must .* got 'x'",
        ),
        ({"kernel": "box", "relative_sigma": 0.25}, "Gaussian kernel only, got 0.25"),
    ],
)
def test_a_width_that_makes_no_sense_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        KernelAugmented(**options)


def test_radius_zero_counts_the_loss_twice():
    images, output = pictures((2, 1, 8, 8)), pictures((2, 1, 8, 8), "output")
    for kernel in ("box", "gaussian"):
        doubled = KernelAugmented(kernel=kernel, radius=0).loss(images, output)
        torch.testing.assert_close(doubled, 2.0 * Gaussian().loss(images, output))


@pytest.mark.parametrize("base", [Gaussian(), Bernoulli()])
def test_gradients_are_those_of_finite_differences(base):
    images = pictures((2, 2, 4, 5))
    output = pictures((2, 2, 4, 5), "output").requires_grad_()
    likelihood = KernelAugmented(base=base)
    assert torch.autograd.gradcheck(lambda y: likelihood.loss(images, y), output)


@pytest.mark.parametrize("kernel", ["box", ((0.25, 0.5, 0.25),)])
def test_a_kernel_first_used_without_gradients_can_be_differentiated_later(kernel):
    _bands.cache_clear()
    _spectrum.cache_clear()
    likelihood = KernelAugmented(kernel=kernel)
    images = torch.rand(1, 1, 6, 6)
    with torch.inference_mode():
        likelihood.loss(images.clone(), images.clone())
    output = torch.zeros(1, 1, 6, 6, requires_grad=True)
    likelihood.loss(images, output).sum().backward()
    assert output.grad.any()


@pytest.mark.parametrize(
    ("kernel", "kept"), [("box", _bands), (np.ones((3, 3)), _spectrum)]
)
def test_what_a_kernel_needs_is_made_once(kernel, kept):
    kept.cache_clear()
    images = torch.rand(2, 1, 6, 6)
    for _ in range(3):
        KernelAugmented(kernel=kernel).loss(images, images)
    assert kept.cache_info().misses == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [0, 1, 3, 12])
def test_a_box_by_name_is_its_numbers(shape, radius):
    side = 2 * radius + 1
    images = pictures(shape)
    by_name, weight = KernelAugmented(radius=radius).blur(images)
    box = np.full((side, side), 1 / side**2)
    by_number, same = KernelAugmented(kernel=box).blur(images)
    torch.testing.assert_close(by_name, by_number)
    assert weight == pytest.approx(same) == pytest.approx(side**2)


def test_every_channel_may_have_a_kernel_of_its_own():
    images = pictures((2, 3, 7, 12))
    kernels = np.stack([given_kernel(3, 5) + channel for channel in range(3)])
    likelihood = KernelAugmented(kernel=kernels)
    blurred, weight = likelihood.blur(images)
    for channel, kernel in enumerate(kernels):
        plane = images[:, channel : channel + 1]
        expected = convolved(plane, kernel)
        torch.testing.assert_close(blurred[:, channel : channel + 1], expected)
    assert weight == pytest.approx(3 / np.square(kernels).sum())
    assert from_plain(to_plain(likelihood, RECORDS), RECORDS) == likelihood
    with pytest.raises(ValueError, match="3 channels, one for each kernel, got 1"):
        likelihood.blur(images[:, :1])


def test_settings_come_back_from_plain_data():
    for likelihood in (
        KernelAugmented(base=Laplace(scale=2.0), kernel="gaussian", radius=3),
        KernelAugmented(kernel=given_kernel(3, 5), weight=1.0),
    ):
        assert from_plain(to_plain(likelihood, RECORDS), RECORDS) == likelihood


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "round"}, "kernel must be 'box', .* got 'round'"),
        ({"kernel": np.ones((2, 3))}, r"kernel must .* got shape \(2, 3\)"),
        ({"kernel": np.ones(3)}, r"kernel must .* got shape \(3,\)"),
        ({"kernel": np.zeros((3, 3))}, "kernel must not be all zeros"),
        ({"kernel": np.full((3, 3), np.nan)}, r"kernel must be finite, .* is nan"),
        ({"kernel": np.ones((3, 3)), "radius": 1}, "radius must not be set .* got 1"),
        ({"radius": -1}, "radius must be at least 0, got -1"),
        ({"weight": -1.0}, "weight must be at least 0, got -1.0"),
        ({"weight": float("inf")}, "weight must be a finite number, got inf"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        KernelAugmented(**options)


def test_vectors_are_refused():
    with pytest.raises(ValueError, match="Vectors have no neighborhoods"):
        KernelAugmented().loss(torch.zeros(2, 5), torch.zeros(2, 5))
