import colorsys
import math

import numpy as np
import pytest

from unbraid.data import SpriteScenes
from unbraid.testing import check_dataset


def literal_coverage(factors, column, row, side):
    """How much of one pixel a sprite covers, as the docstring says."""
    x, y, shape, size, _ = factors
    right, down = column + 0.5 - side * x, row + 0.5 - side * y
    area = math.pi * (side * size) ** 2
    if shape == 0:
        distance = max(abs(right), abs(down)) - math.sqrt(area) / 2
    elif shape == 1:
        # An equilateral triangle with one side below: area = 3 sqrt(3) inradius^2.
        inradius = math.sqrt(area / (3 * math.sqrt(3)))
        normals = [(0.0, 1.0)]
        normals += [(math.cos(a), math.sin(a)) for a in (-math.pi / 6, 7 * math.pi / 6)]
        distance = max(right * u + down * v for u, v in normals) - inradius
    else:
        distance = math.hypot(right, down) - side * size
    return min(max(0.5 - distance, 0.0), 1.0)


def literal_scene(sprites, side, n_colors):
    """Image and masks, pixel by pixel, painted from back to front."""
    image = np.zeros((3, side, side))
    masks = np.zeros((1 + len(sprites), side, side))
    masks[0] = 1
    for k, factors in enumerate(sprites, start=1):
        color = colorsys.hsv_to_rgb(factors[4] / n_colors, 1.0, 1.0)
        for row in range(side):
            for column in range(side):
                covered = literal_coverage(factors, column, row, side)
                masks[:, row, column] *= 1 - covered
                masks[k, row, column] = covered
                for c in range(3):
                    image[c, row, column] *= 1 - covered
                    image[c, row, column] += covered * color[c]
    return np.rint(255 * image), masks


@pytest.mark.parametrize(
    "scenes",
    [
        SpriteScenes(n_sprites=1, image_size=16),
        SpriteScenes(n_sprites=4, image_size=16, n_colors=5, largest=0.3),
        SpriteScenes(image_size=32, n_colors=12),
    ],
    ids=["one", "four", "three"],
)
def test_images_and_masks_equal_a_drawing_pixel_by_pixel(scenes):
    rows = [0, 7, 99_999, 1234]
    factors = scenes.factors(rows).reshape(len(rows), -1, 5)
    for i, row in enumerate(rows):
        image, masks = literal_scene(
            factors[i].tolist(), scenes.image_size, scenes.n_colors
        )
        np.testing.assert_allclose(scenes.masks([row])[0], masks, atol=1e-6)
        assert np.abs(scenes.images([row])[0] - image).max() <= 1


def test_shapes_of_the_same_size_have_the_same_area():
    scenes = SpriteScenes(
        n_sprites=1, image_size=128, smallest=0.1, largest=0.1, n_scenes=300
    )
    rows = np.arange(300)
    areas = scenes.masks(rows)[:, 1].sum(axis=(1, 2)) / 128**2
    shapes = scenes.factors(rows)[:, 2]
    assert set(shapes) == {0, 1, 2}
    # A triangle can reach beyond the border: its corner is at 1.56 radii.
    np.testing.assert_allclose(areas[shapes != 1], math.pi * 0.1**2, rtol=0.02)
    assert np.median(areas[shapes == 1]) == pytest.approx(math.pi * 0.1**2, rel=0.02)


def test_masks_add_up_to_one():
    masks = SpriteScenes(n_sprites=5, image_size=16, largest=0.4).masks(np.arange(50))
    assert masks.min() >= 0
    np.testing.assert_allclose(masks.sum(axis=1), 1, atol=1e-6)


def test_factors_are_uniform_and_independent_of_each_other():
    scenes = SpriteScenes(n_sprites=2)
    factors = scenes.factors(np.arange(20_000))
    correlations = np.corrcoef(factors.T) - np.eye(10)
    assert np.abs(correlations).max() < 0.03
    x, _, shape, size, color = factors.T[:5]
    assert x.min() >= 0.1
    assert x.max() <= 0.9
    assert x.mean() == pytest.approx(0.5, abs=0.01)
    assert (size.min(), size.max()) == pytest.approx((0.1, 0.16), abs=1e-3)
    np.testing.assert_allclose(
        np.bincount(shape.astype(int)) / 20_000, 1 / 3, atol=0.02
    )
    np.testing.assert_allclose(
        np.bincount(color.astype(int)) / 20_000, 1 / 6, atol=0.02
    )


def test_the_seed_decides_the_scenes():
    first, second = SpriteScenes(seed=1), SpriteScenes(seed=2)
    assert not np.array_equal(first.factors([5]), second.factors([5]))
    assert np.array_equal(first.factors([5]), SpriteScenes(seed=1).factors([5]))


@pytest.mark.parametrize("n_sprites", [1, 2])
def test_scenes_conform(n_sprites):
    check_dataset(SpriteScenes(n_sprites=n_sprites, image_size=16, n_scenes=500))


@pytest.mark.parametrize(
    "options",
    [
        {"n_sprites": 0},
        {"image_size": 7},
        {"n_scenes": 0},
        {"n_colors": 0},
        {"smallest": 0.0},
        {"smallest": 0.3, "largest": 0.2},
        {"seed": -1},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match=list(options)[-1]):
        SpriteScenes(**options)
