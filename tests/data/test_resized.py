import numpy as np
import pytest
from PIL import Image

from unbraid.data import (
    ImageFolder,
    LabeledImages,
    Resized,
    Subset,
    Vectors,
    find_framing,
    resize_dataset,
)
from unbraid.testing import check_dataset


def images(n, channels, height, width):
    generator = np.random.default_rng(0)
    return generator.integers(0, 256, (n, channels, height, width), dtype=np.uint8)


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    generator = np.random.default_rng(1)
    for number in range(3):
        pixels = generator.integers(0, 256, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def test_sides_that_divide_are_averaged_over_blocks():
    pixels = images(2, 3, 8, 12)
    small = Resized(LabeledImages(pixels), (3, 4, 6)).images([0, 1])
    blocks = pixels.reshape(2, 3, 4, 2, 6, 2).mean(axis=(3, 5))
    assert np.array_equal(small, np.round(blocks).astype(np.uint8))


def test_a_constant_image_stays_constant_at_any_size():
    constant = LabeledImages(np.full((1, 3, 10, 14), 77, np.uint8))
    for shape in [(3, 5, 7), (3, 8, 8), (3, 20, 20), (1, 9, 4)]:
        resized = Resized(constant, shape).images([0])
        assert resized.shape == (1, *shape)
        assert (resized == 77).all()


def test_other_proportions_keep_the_center():
    # Left and right thirds are black, the middle is white.
    wide = np.zeros((1, 1, 6, 18), np.uint8)
    wide[..., 6:12] = 255
    square = Resized(LabeledImages(wide), (1, 5, 5)).images([0])
    assert (square == 255).all()


def test_gray_is_the_luminance_that_pillow_computes():
    pixels = images(1, 3, 6, 6)
    gray = Resized(LabeledImages(pixels), (1, 6, 6)).images([0])[0, 0]
    expected = np.asarray(Image.fromarray(pixels[0].transpose(1, 2, 0)).convert("L"))
    assert np.abs(gray.astype(int) - expected.astype(int)).max() <= 1


def test_color_repeats_the_gray_level():
    pixels = images(2, 1, 6, 6)
    color = Resized(LabeledImages(pixels), (3, 6, 6)).images([0, 1])
    assert np.array_equal(color, np.repeat(pixels, 3, axis=1))


def test_labels_and_fingerprints():
    data = LabeledImages(images(6, 1, 8, 8), np.arange(6)[:, None])
    small = Resized(data, (1, 4, 4))
    assert small.factors([5]).tolist() == [[5]]
    assert small.fingerprint() != data.fingerprint()
    assert small.fingerprint() != Resized(data, (1, 2, 2)).fingerprint()
    check_dataset(small)


@pytest.mark.parametrize("shape", [(2, 4, 4), (1, 0, 4)])
def test_impossible_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="Cannot"):
        Resized(LabeledImages(images(1, 3, 8, 8)), shape)


def test_images_of_the_right_shape_and_vectors_stay_as_they_are():
    data, table = LabeledImages(images(1, 3, 8, 8)), Vectors(np.eye(3))
    assert resize_dataset(data, (3, 8, 8)) is data
    assert resize_dataset(table, (3, 8, 8)) is table
    assert resize_dataset(data, (192,)) is data


def test_pictures_are_read_again_instead_of_resized_twice(pictures, tmp_path):
    cache = tmp_path / "cache"
    direct = ImageFolder(pictures, image_size=16, channels=1, crop="pad", cache=cache)
    large = ImageFolder(pictures, image_size=32, cache=cache)
    again = resize_dataset(large, (1, 16, 16), direct.framing)
    assert np.array_equal(again.images([0, 1, 2]), direct.images([0, 1, 2]))


def test_the_framing_of_pictures_is_found_under_views(pictures, tmp_path):
    folder = ImageFolder(pictures, image_size=16, cache=tmp_path / "cache")
    assert find_framing(Subset(folder, [0, 2])) == folder.framing
    assert find_framing(LabeledImages(images(1, 3, 8, 8))) is None
