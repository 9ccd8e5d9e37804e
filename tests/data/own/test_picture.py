"""What becomes of one picture, seen through a folder that holds it alone."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from unbraid.data import ImageFolder
from unbraid.foundation import DataFormatError, numpy_generator

NOISE = numpy_generator(0, "pictures").integers(0, 256, (8, 8, 3)).astype(np.uint8)


def only_image(folder, **options):
    (image,) = ImageFolder(folder, **{"image_size": 8, **options}).images([0])
    return image


def test_picture_of_the_right_size_keeps_every_pixel(folder, save):
    save("a.png", NOISE)
    assert np.array_equal(only_image(folder), NOISE.transpose(2, 0, 1))


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif", "tiff", "ppm", "PNG", "Tiff"])
def test_lossless_formats_are_read_whatever_the_case_of_the_suffix(
    folder, save, suffix
):
    save(f"a.{suffix}", NOISE)
    assert np.array_equal(only_image(folder), NOISE.transpose(2, 0, 1))


@pytest.mark.parametrize("suffix", ["jpg", "jpeg", "webp"])
def test_lossy_formats_are_read_nearly_right(folder, save, suffix):
    save(f"a.{suffix}", np.full((40, 40, 3), (200, 100, 50), dtype=np.uint8))
    image = only_image(folder).astype(int)
    assert np.abs(image - np.array([200, 100, 50])[:, None, None]).max() <= 6


def test_wrong_suffix_of_a_picture_does_no_harm(folder, save):
    save("a.png", NOISE).rename(folder / "a.jpg")
    assert np.array_equal(only_image(folder), NOISE.transpose(2, 0, 1))


def test_gray_picture_gets_three_equal_channels(folder, save):
    save("a.png", NOISE[..., 0])
    assert np.array_equal(only_image(folder), np.stack([NOISE[..., 0]] * 3))


def test_one_channel_is_luminance(folder, save):
    save("a.png", np.full((8, 8, 3), (200, 100, 50), dtype=np.uint8))
    image = only_image(folder, channels=1)
    # ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B.
    assert image.shape == (1, 8, 8)
    assert np.abs(image.astype(float) - 124.2).max() <= 1


def test_luminance_of_a_jpeg_equals_that_of_its_colors(folder, save):
    save("a.jpg", np.full((8, 8, 3), (200, 100, 50), dtype=np.uint8))
    assert np.abs(only_image(folder, channels=1).astype(float) - 124.2).max() <= 2


@pytest.mark.parametrize("suffix", ["png", "tif", "pgm"])
def test_sixteen_bit_gray_is_scaled_and_not_clipped(folder, save, suffix):
    levels = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    save(f"a.{suffix}", levels)
    expected = np.rint(levels / 257.0)
    assert np.array_equal(only_image(folder, channels=1)[0], expected)
    assert np.array_equal(only_image(folder, channels=3)[1], expected)


def test_big_endian_sixteen_bit_gray_is_scaled_too(folder, save):
    levels = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    native = Image.fromarray(levels)
    swapped = Image.frombytes("I;16B", (8, 8), levels.astype(">u2").tobytes())
    assert native.mode != swapped.mode
    save("a.tif", swapped)
    assert np.array_equal(only_image(folder, channels=1)[0], np.rint(levels / 257.0))


def test_sixteen_bit_color_is_scaled_and_not_clipped(folder):
    # Pillow writes no such file, so that it is put together by hand.
    rows = (NOISE.astype(">u2") * 257).reshape(8, -1)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", 8, 8, 16, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    (folder / "a.png").write_bytes(png)
    assert np.array_equal(only_image(folder), NOISE.transpose(2, 0, 1))


@pytest.mark.parametrize("picture", [np.ones((8, 8), np.float32) / 2, np.eye(8) * 1e6])
def test_pixels_of_unknown_range_are_an_error(folder, save, picture):
    dtype = picture.dtype if picture.dtype == np.float32 else np.int32
    save("a.tif", picture.astype(dtype))
    with pytest.raises(DataFormatError, match=r"'a.tif' .* of unknown range"):
        ImageFolder(folder)


@pytest.mark.parametrize(("background", "expected"), [(255, 255), (0, 0), (100, 100)])
def test_transparent_pixels_show_the_background(folder, save, background, expected):
    clear = np.dstack([NOISE, np.zeros((8, 8), np.uint8)])
    save("a.png", clear)
    image = only_image(folder, background=background)
    assert (image == expected).all()


def test_half_transparent_pixels_are_mixed_with_the_background(folder, save):
    save("a.png", np.full((8, 8, 4), (0, 100, 200, 128), dtype=np.uint8))
    image = only_image(folder).astype(float)[:, 0, 0]
    share = 128 / 255
    expected = np.array([0, 100, 200]) * share + 255 * (1 - share)
    assert np.abs(image - expected).max() <= 1


def test_opaque_rgba_equals_rgb(folder, save):
    save("a.png", np.dstack([NOISE, np.full((8, 8), 255, np.uint8)]))
    assert np.array_equal(only_image(folder), NOISE.transpose(2, 0, 1))


def test_gray_with_alpha_is_mixed_with_the_background(folder, save):
    levels = np.full((8, 8, 2), (10, 0), dtype=np.uint8)
    levels[:4, :, 1] = 255
    save("a.png", Image.frombytes("LA", (8, 8), levels.tobytes()))
    image = only_image(folder)
    assert (image[:, :4] == 10).all()
    assert (image[:, 4:] == 255).all()


def test_palette_becomes_its_colors(folder, save):
    picture = Image.new("P", (8, 8), 1)
    picture.putpalette([0, 0, 0, 200, 100, 50])
    save("a.png", picture)
    assert (only_image(folder) == np.array([200, 100, 50])[:, None, None]).all()


@pytest.mark.parametrize("transparency", [1, b"\xff\x00"])
def test_transparent_palette_entry_shows_the_background(folder, save, transparency):
    picture = Image.new("P", (8, 8), 1)
    picture.putpalette([0, 0, 0, 200, 100, 50])
    save("a.png", picture, transparency=transparency)
    assert (only_image(folder, background=7) == 7).all()


def test_transparent_color_shows_the_background(folder, save):
    save("a.png", np.full((8, 8, 3), (9, 8, 7), np.uint8), transparency=(9, 8, 7))
    assert (only_image(folder) == 255).all()


@pytest.mark.parametrize("channels", [1, 3])
def test_one_bit_picture_becomes_black_and_white(folder, save, channels):
    bits = np.eye(8, dtype=bool)
    save("a.png", bits)
    image = only_image(folder, channels=channels)
    assert np.array_equal(image, np.stack([bits * 255] * channels))


@pytest.mark.parametrize("channels", [1, 3])
def test_cmyk_is_converted(folder, save, channels):
    save("a.jpg", Image.new("CMYK", (8, 8), (0, 255, 255, 0)), quality=95)
    image = only_image(folder, channels=channels)[:, 0, 0].astype(int)
    expected = [76] if channels == 1 else [255, 0, 0]
    assert np.abs(image - expected).max() <= 3


@pytest.mark.parametrize("suffix", ["jpg", "png"])
@pytest.mark.parametrize(
    ("orientation", "upright"),
    [(1, "AB"), (2, "BA"), (3, "BA"), (4, "AB"), (6, "A/B"), (8, "B/A")],
)
def test_picture_is_turned_upright(folder, save, suffix, orientation, upright):
    exif = Image.Exif()
    exif[0x0112] = orientation
    lying = np.zeros((64, 128), np.uint8)
    lying[:, 64:] = 255  # dark A to the left of light B
    save(f"a.{suffix}", lying, exif=exif)
    image = only_image(folder, crop="stretch", channels=1)[0]
    is_light = image[[2, 2, 5, 5], [2, 5, 2, 5]] > 127
    expected = {
        "AB": [False, True, False, True],
        "BA": [True, False, True, False],
        "A/B": [False, False, True, True],
        "B/A": [True, True, False, False],
    }
    assert is_light.tolist() == expected[upright]


def test_center_crop_keeps_the_middle_of_the_longer_side(folder, save):
    wide = np.zeros((16, 48, 3), np.uint8)
    wide[:, 16:32] = 255
    save("a.png", wide)
    assert (only_image(folder, image_size=16) == 255).all()


def test_center_crop_may_be_a_rectangle(folder, save):
    save(
        "a.png", np.pad(np.full((20, 40, 3), 255, np.uint8), ((10, 10), (0, 0), (0, 0)))
    )
    image = only_image(folder, image_size=(20, 40))
    assert image.shape == (3, 20, 40)
    assert (image == 255).all()


def test_stretch_ignores_proportions(folder, save):
    save("a.png", np.repeat(np.array([[0, 255]], np.uint8), [20, 20], axis=1))
    image = only_image(folder, crop="stretch", channels=1)[0]
    assert image[:, :3].max() < 25
    assert image[:, 5:].min() > 230


def test_pad_keeps_all_of_the_picture_on_the_background(folder, save):
    save("a.png", np.full((10, 20), 200, np.uint8))
    image = only_image(folder, crop="pad", channels=1, background=3)[0]
    assert (image[2:6] == 200).all()
    assert (image[:2] == 3).all()
    assert (image[6:] == 3).all()


@pytest.mark.parametrize("crop", ["centre", "stretch", "pad"])
@pytest.mark.parametrize("shape", [(1, 5000), (5000, 1), (1, 1)])
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_extreme_proportions_are_framed(folder, save, crop, shape, suffix):
    save(f"a.{suffix}", np.full(shape, 90, np.uint8))
    image = only_image(folder, image_size=(64, 48), crop=crop)
    assert image.shape == (3, 64, 48)
    assert (np.abs(image.astype(int) - 90) <= 1).any()


def test_scaling_down_averages_and_does_not_pick_pixels(folder, save):
    stripes = np.zeros((512, 512), np.uint8)
    stripes[:, ::2] = 255
    save("a.png", stripes)
    image = only_image(folder, channels=1).astype(int)
    assert np.abs(image - 127).max() <= 3


def test_fast_decoding_of_a_large_jpeg_agrees_with_slow_decoding(folder, save):
    coarse = Image.fromarray(NOISE).resize((640, 480), Image.Resampling.BICUBIC)
    save("a.jpg", coarse, quality=95)
    with Image.open(folder / "a.jpg") as picture:
        slow = picture.convert("RGB").crop((80, 0, 560, 480))
        slow = np.asarray(slow.resize((32, 32), Image.Resampling.LANCZOS))
    image = only_image(folder, image_size=32).transpose(1, 2, 0)
    assert np.abs(image.astype(int) - slow).max() <= 4


def truncated_jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.tile(NOISE, (20, 20, 1))).save(buffer, "JPEG")
    return buffer.getvalue()[: len(buffer.getvalue()) // 2]


BROKEN = {
    "empty.png": (b"", "empty"),
    "text.png": (b"I am not a picture.\n", "not a picture"),
    "script.jpg": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a pict"),
    "short.jpg": (truncated_jpeg(), "truncated"),
    "header.png": (b"\x89PNG\r\n\x1a\n", "not a picture"),
    "header.gif": (b"GIF89a", "not a picture"),
    "header.tif": (b"II*\0\x08\0\0\0", "."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_picture_is_named_with_the_reason(folder, save, name):
    content, reason = BROKEN[name]
    save("good.png", NOISE)
    (folder / name).write_bytes(content)
    with pytest.raises(DataFormatError, match=rf"'{name}' \(.*{reason}"):
        ImageFolder(folder)
    pictures = ImageFolder(folder, on_error="skip")
    assert pictures.paths == ("good.png",)
    assert list(pictures.skipped) == [name]


@pytest.mark.parametrize("excess", [1.5, 3])
def test_bomb_is_an_error_and_no_warning(folder, save, monkeypatch, excess):
    # Pillow warns above its limit, and raises only above twice its limit.
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", int(64 / excess))
    save("bomb.png", NOISE)
    with pytest.raises(DataFormatError, match=r"'bomb.png' \(more than \d+ pixels"):
        ImageFolder(folder)
