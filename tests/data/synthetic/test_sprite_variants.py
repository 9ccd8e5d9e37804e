import numpy as np
import pytest
from PIL import Image

from unbraid.data import (
    ColoredSprites,
    LabeledImages,
    NoisySprites,
    PhotographCrops,
    PictureSprites,
    Reweighted,
    ScreamSprites,
    Sprites2D,
    XYSquares,
    open_dataset,
)
from unbraid.foundation import DataFormatError, numpy_generator

VARIANTS = (ColoredSprites, NoisySprites, ScreamSprites, PictureSprites)


@pytest.fixture(scope="module")
def rows():
    return numpy_generator(0).integers(0, 737_280, 100)


@pytest.fixture(scope="module")
def sprites(rows):
    return Sprites2D().images(rows)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_has_the_factors_of_its_sprites(variant, rows):
    dataset = variant()
    assert dataset.is_grid
    assert dataset.factor_space == Sprites2D().factor_space
    np.testing.assert_array_equal(dataset.factors(rows), Sprites2D().factors(rows))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_seed_changes_the_picture_and_nothing_else_does(variant, rows):
    a, b, c = (variant(seed=seed).images(rows) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_colored_sprites_have_one_bright_color_each(rows, sprites):
    images = ColoredSprites().images(rows)
    inside = np.broadcast_to(sprites > 0, images.shape)
    assert (images[~inside] == 0).all()
    for image, mask in zip(images, sprites[:, 0] > 0, strict=True):
        colors = np.unique(image[:, mask], axis=1)
        assert colors.shape == (3, 1)
        assert colors.min() >= 128


def test_colors_are_uniform_from_a_half_to_one(rows, sprites):
    colors = ColoredSprites().images(rows).max(axis=(2, 3))
    # 300 draws of a uniform variable on [128, 255]: standard error 2.1.
    assert abs(colors.mean() - 191.5) < 5 * 2.1


def test_noise_is_uniform_outside_the_sprite_and_white_inside(rows, sprites):
    images = NoisySprites().images(rows)
    inside = np.broadcast_to(sprites == 255, images.shape)
    assert (images[inside] == 255).all()
    outside = images[~inside]
    shares = np.bincount(outside, minlength=256) / outside.size
    assert np.abs(shares - 1 / 256).max() < 3e-4


def test_scream_sprites_invert_the_background_where_they_stand(rows, sprites):
    with_sprites = ScreamSprites().images(rows)
    inside = np.broadcast_to(sprites == 255, with_sprites.shape)
    # The same seed and row give the same background under an empty sprite.
    empty = ScreamSprites(sprites=no_sprites()).images(rows)
    np.testing.assert_array_equal(with_sprites[~inside], empty[~inside])
    np.testing.assert_array_equal(with_sprites[inside], 255 - empty[inside])


def no_sprites():
    """As many empty images as there are sprites, in the memory of one."""
    one = np.zeros((1, 64, 64), dtype=np.uint8)
    return LabeledImages(np.broadcast_to(one, (737_280, 64, 64)))


@pytest.mark.parametrize("where", ["behind", "inside"])
def test_pictures_of_no_visibility_leave_the_plain_sprites(where, rows, sprites):
    images = PictureSprites(where=where, visibility=0).images(rows)
    np.testing.assert_array_equal(images, np.broadcast_to(sprites, images.shape))


def test_full_visibility_shows_the_picture_behind_or_inside(rows, sprites):
    behind = PictureSprites(where="behind").images(rows)
    inside = PictureSprites(where="inside").images(rows)
    mask = np.broadcast_to(sprites == 255, behind.shape)
    assert (behind[mask] == 255).all()
    assert (inside[~mask] == 0).all()
    # Both versions carry the same picture: together they are the whole of it.
    whole = np.where(mask, inside, behind)
    crops = PhotographCrops()
    words = [crop.tobytes() for crop in crops.images(range(len(crops)))]
    assert all(np.ascontiguousarray(picture).tobytes() in words for picture in whole)


@pytest.mark.parametrize("visibility", [25, 50, 75])
def test_visibility_fades_to_black_behind_and_to_white_inside(
    visibility, rows, sprites
):
    share = visibility / 100
    mask = np.broadcast_to(sprites == 255, (len(rows), 3, 64, 64))
    full = PictureSprites(where="behind").images(rows)
    faded = PictureSprites(where="behind", visibility=visibility).images(rows)
    expected = share * full[~mask].astype(float)
    assert np.abs(faded[~mask] - expected).max() <= 1
    full = PictureSprites(where="inside").images(rows)
    faded = PictureSprites(where="inside", visibility=visibility).images(rows)
    expected = share * full[mask].astype(float) + (1 - share) * 255
    assert np.abs(faded[mask] - expected).max() <= 1


def test_gray_edges_are_blended(rows):
    small = Sprites2D(image_size=32)
    soft = small.images(rows)
    images = PictureSprites(sprites=small, where="inside", visibility=0).images(rows)
    np.testing.assert_array_equal(images, np.broadcast_to(soft, images.shape))
    assert ((soft > 0) & (soft < 255)).any()


def test_pictures_come_from_any_dataset_of_the_right_shape(rows, sprites):
    stock = LabeledImages(np.full((3, 64, 64, 3), 200, dtype=np.uint8))
    images = PictureSprites(pictures=stock).images(rows)
    mask = np.broadcast_to(sprites == 255, images.shape)
    assert (images[~mask] == 200).all()


def test_weights_of_the_sprites_are_those_of_the_variant():
    part = LabeledImages(np.zeros((3, 64, 64), dtype=np.uint8))
    weighted = Reweighted(part, np.array([1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(
        ColoredSprites(sprites=weighted).weights, weighted.weights
    )


def test_any_changed_sprite_changes_the_fingerprint():
    pixels = np.full((2000, 16, 16), 200, dtype=np.uint8)
    before = ColoredSprites(sprites=LabeledImages(pixels)).fingerprint()
    pixels[3] ^= 255
    assert ColoredSprites(sprites=LabeledImages(pixels)).fingerprint() != before
    assert ColoredSprites(sprites=LabeledImages(pixels), seed=1).fingerprint() not in (
        before,
        ColoredSprites(sprites=LabeledImages(pixels)).fingerprint(),
    )


def test_many_pictures_and_tints_are_used(rows):
    images = ScreamSprites(sprites=no_sprites()).images(rows)
    assert len(np.unique(images.reshape(100, -1), axis=0)) == 100
    gray = LabeledImages(np.full((2, 64, 64, 3), 100, dtype=np.uint8))
    tinted = ScreamSprites(sprites=no_sprites(), pictures=gray).images(rows)
    assert len(np.unique(tinted.reshape(100, -1), axis=0)) > 95


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="sprites must have one channel"):
        ColoredSprites(sprites=XYSquares())
    with pytest.raises(ValueError, match=r"pictures must have shape \(3, 64, 64\)"):
        PictureSprites(pictures=PhotographCrops(image_size=32))
    with pytest.raises(ValueError, match="'behind' or 'inside'"):
        PictureSprites(where="beside")
    with pytest.raises(ValueError, match="visibility must be between 0 and 100"):
        PictureSprites(visibility=101)


def test_crops_are_windows_of_the_photographs():
    from sklearn.datasets import load_sample_image

    crops = PhotographCrops()
    row = crops.factor_space.indices(np.array([[1, 3, 5]]))
    expected = load_sample_image("flower.jpg")[24:88, 40:104].transpose(2, 0, 1)
    np.testing.assert_array_equal(crops.images(row)[0], expected)
    with pytest.raises(ValueError, match="image_size must be between 1 and 427"):
        PhotographCrops(image_size=428)


@pytest.fixture
def painting(tmp_path):
    """A picture of 700 x 600 pixels, which is scaled to 320 x 274."""
    pixels = np.indices((600, 700)).sum(axis=0)[:, :, None] // [5, 6, 7] % 256
    path = tmp_path / "painting.png"
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return path


def test_a_scream_takes_the_published_crops_of_one_picture(painting, rows):
    dataset = open_dataset(f"scream_sprites:picture={painting}")
    with Image.open(painting) as picture:
        picture.thumbnail((350, 274))
        scaled = np.asarray(picture).transpose(2, 0, 1)
    assert scaled.shape == (3, 274, 320)
    stock = dataset._stock
    assert len(stock) == (274 - 64) * (320 - 64)
    crop = stock.images(stock.factor_space.indices(np.array([[20, 30]])))[0]
    np.testing.assert_array_equal(crop, scaled[:, 20:84, 30:94])
    # Blank sprites show the mean of a crop and a tint.
    images = ScreamSprites(sprites=no_sprites(), picture=painting).images(rows)
    tints = images.astype(int) - dataset._pictures(rows) // 2
    assert (tints == tints[:, :, :1, :1]).all()


def test_a_picture_counts_by_its_content(painting):
    before = ScreamSprites(picture=painting).fingerprint()
    moved = painting.with_name("moved.png")
    painting.rename(moved)
    dataset = ScreamSprites(picture=moved)
    assert dataset.fingerprint() == before
    assert before == ScreamSprites(pictures=dataset._stock).fingerprint()
    assert before != ScreamSprites().fingerprint()
    Image.new("RGB", (300, 300)).save(moved)
    assert ScreamSprites(picture=moved).fingerprint() != before


def test_crops_scale_with_the_sprites(painting):
    small = ScreamSprites(sprites=Sprites2D(image_size=32), picture=painting)
    assert small.image_shape == (3, 32, 32)
    assert len(small._stock) == (137 - 32) * (160 - 32)


def test_a_picture_that_does_not_fit_is_refused(painting, tmp_path):
    with pytest.raises(ValueError, match="cannot be given together"):
        ScreamSprites(picture=painting, pictures=PhotographCrops())
    with pytest.raises(DataFormatError, match="No such file"):
        ScreamSprites(picture=tmp_path / "missing.jpg")
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(DataFormatError, match="not a picture"):
        ScreamSprites(picture=tmp_path / "text.png")
    Image.new("RGB", (64, 200)).save(tmp_path / "narrow.png")
    with pytest.raises(ValueError, match="must be larger"):
        ScreamSprites(picture=tmp_path / "narrow.png")


def test_the_fingerprint_of_a_scream_without_a_picture_has_not_changed():
    # Run ids depend on it.
    expected = "39c5d142717debe4d79669d0ea3cbacb63df7213c6afe14a7c51ab7036c466a1"
    assert ScreamSprites().fingerprint() == expected
