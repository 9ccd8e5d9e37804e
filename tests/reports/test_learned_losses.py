import numpy as np
import pytest
import torch

from unbraid.data import XYSquares
from unbraid.models import FeatureAugmented, Gaussian, KernelAugmented
from unbraid.reports import (
    augmented_traversals,
    draw_kernels,
    draw_loss_learning,
    factor_traversals,
)

SQUARES = XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)


def test_every_kernel_has_a_panel_with_its_values():
    generator = np.random.Generator(np.random.PCG64(0))
    own, three = generator.random((3, 3)), generator.random((3, 5, 5))
    figure = draw_kernels(
        {
            "box": KernelAugmented(),
            "own": KernelAugmented(kernel=own),
            "each": KernelAugmented(kernel=three),
        },
        image_sides=(8, 8),
    )
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [
        "box\n7x7 pixels",
        "own\n3x3 pixels",
        "each, channel 0\n5x5 pixels",
        "each, channel 1\n5x5 pixels",
        "each, channel 2\n5x5 pixels",
    ]
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes]
    np.testing.assert_allclose(shown[0], 1 / 49)
    np.testing.assert_array_equal(shown[1], own)
    np.testing.assert_array_equal(np.stack(shown[2:]), three)


def test_traversals_through_a_kernel_are_blurred_images():
    loss = KernelAugmented(kernel=((0.0, 1.0, 2.0),))
    raw, seen = factor_traversals(SQUARES), augmented_traversals(SQUARES, loss)
    assert seen.factors == raw.factors
    for plain, blurred in zip(raw.images, seen.images, strict=True):
        shifted = np.zeros_like(plain, dtype=float)
        shifted[..., 1:] = 2.0 * plain[..., :-1]
        expected = plain + shifted
        # The largest sum of all images is white.
        np.testing.assert_allclose(blurred, expected / 3, atol=0.51)


def test_features_are_shown_as_differences_from_their_mean():
    # A layer that adds up red features, at half of the size.
    kernels = torch.zeros(3, 1, 2, 2)
    kernels[0] = 1.0
    loss = FeatureAugmented.from_layers([(kernels, torch.tensor([5.0, 1.0, 0.0]))])
    seen = augmented_traversals(SQUARES, loss)
    pictures = np.concatenate(seen.images).astype(float)
    assert pictures.shape[1:] == (3, 8, 8)
    # One direction varies, so that the other two colors are gray.
    np.testing.assert_allclose(pictures[:, 1:], 127.5, atol=0.6)
    sums = np.concatenate(factor_traversals(SQUARES).images)[:, 0] / 255
    sums = sums.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4))
    apart = (sums - sums.mean(axis=0)).repeat(2, axis=1).repeat(2, axis=2)
    expected = 127.5 * apart / np.abs(apart).max()
    sign = np.sign((expected * (pictures[:, 0] - 127.5)).sum())
    np.testing.assert_allclose(pictures[:, 0] - 127.5, sign * expected, atol=0.6)


def test_a_loss_of_pixels_has_nothing_to_show():
    with pytest.raises(ValueError, match="a kernel or features, got Gaussian"):
        augmented_traversals(SQUARES, Gaussian())


@pytest.mark.parametrize("n_steps", [1, 3, 200])
def test_the_course_of_learning_is_drawn_for_any_length(n_steps):
    correlations = np.linspace(0, 1, n_steps)
    raw, smooth = draw_loss_learning(correlations).axes[0].lines
    np.testing.assert_array_equal(raw.get_ydata(), correlations)
    assert np.mean(smooth.get_ydata()) == pytest.approx(correlations.mean())
