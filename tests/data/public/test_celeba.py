import io
import os
import zipfile

import numpy as np
import pytest
from PIL import Image

from unbraid.data import CelebA
from unbraid.foundation import (
    DataFormatError,
    DatasetNotFoundError,
    DownloadError,
    numpy_generator,
)
from unbraid.testing import check_dataset

NAMES = tuple(f"Attribute_{number}" for number in range(38)) + ("Smiling", "Young")
N_IMAGES = 6


def photograph(number):
    """A JPEG of 178 x 218 that is bright at the center square's top edge only."""
    pixels = np.full((218, 178, 3), 20 * number, dtype=np.uint8)
    pixels[:20] = 255  # outside of the center square, which starts at row 20
    pixels[20:40] = 200
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95)
    return file.getvalue()


def labels():
    return numpy_generator(0, "celeba").integers(0, 2, (N_IMAGES, len(NAMES)))


def write_list(root, text=None):
    rows = [
        f"{row + 1:06}.jpg " + " ".join(f"{2 * value - 1:2}" for value in values)
        for row, values in enumerate(labels())
    ]
    if text is None:
        text = "\n".join([str(N_IMAGES), " ".join(NAMES) + " ", *rows]) + "\n"
    (root / "celeba").mkdir(exist_ok=True)
    (root / "celeba" / "list_attr_celeba.txt").write_text(text)
    return text


def write_zip(root, **changes):
    (root / "celeba").mkdir(exist_ok=True)
    path = root / "celeba" / "img_align_celeba.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("img_align_celeba")
        for row in range(N_IMAGES):
            name = f"{row + 1:06}.jpg"
            data = changes.get(f"image_{row}", photograph(row))
            if data is not None:
                archive.writestr(f"img_align_celeba/{name}", data)
    return path


def write_folder(root):
    write_zip(root)
    folder = root / "celeba"
    with zipfile.ZipFile(folder / "img_align_celeba.zip") as archive:
        archive.extractall(folder)
    (folder / "img_align_celeba.zip").unlink()


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_photographs_and_attributes_are_those_of_the_files(tmp_path, write):
    write(tmp_path)
    write_list(tmp_path)
    dataset = CelebA(root=tmp_path)
    check_dataset(dataset)
    assert len(dataset) == N_IMAGES
    assert dataset.image_shape == (3, 64, 64)
    assert dataset.factor_names == NAMES
    assert dataset.factor_space.sizes == (2,) * 40
    assert not dataset.is_grid
    np.testing.assert_array_equal(dataset.factors(range(N_IMAGES)), labels())
    images = dataset.images(range(N_IMAGES))
    # The brightest rows were cut off, the next ones are at the top.
    np.testing.assert_allclose(images[:, :, :5], 200, atol=4)
    for number, image in enumerate(images):
        np.testing.assert_allclose(image[:, 20:], 20 * number, atol=4)


def test_archive_and_folder_give_the_same_fingerprint(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for root, write in ((one, write_zip), (two, write_folder)):
        root.mkdir()
        write(root)
        write_list(root)
    assert CelebA(root=one).fingerprint() == CelebA(root=two).fingerprint()


def test_photographs_are_converted_once_for_each_size(tmp_path):
    path = write_zip(tmp_path)
    write_list(tmp_path)
    assert CelebA(root=tmp_path, image_size=16).image_shape == (3, 16, 16)
    CelebA(root=tmp_path)
    stat = path.stat()
    path.write_bytes(b"x" * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert CelebA(root=tmp_path, image_size=16).image_shape == (3, 16, 16)
    assert len(list(path.parent.glob("*.npy"))) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_3": None}, r"does not contain the photograph 000004\.jpg"),
        ({"image_3": b""}, r"000004\.jpg cannot be read as a photograph"),
        (
            {"image_3": photograph(3)[:-500]},
            r"000004\.jpg cannot be read as a photograph",
        ),
    ],
)
def test_missing_or_damaged_photograph_is_told_and_leaves_nothing(
    tmp_path, changes, message
):
    path = write_zip(tmp_path, **changes)
    write_list(tmp_path)
    with pytest.raises(DataFormatError, match=message):
        CelebA(root=tmp_path)
    assert not list(path.parent.glob("*.npy"))


def test_missing_photograph_in_the_folder_is_told(tmp_path):
    write_folder(tmp_path)
    write_list(tmp_path)
    (tmp_path / "celeba" / "img_align_celeba" / "000002.jpg").unlink()
    with pytest.raises(
        DataFormatError, match=r"does not contain the photograph 000002\.jpg"
    ):
        CelebA(root=tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_cut_archive_is_told(tmp_path, share):
    path = write_zip(tmp_path)
    write_list(tmp_path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataFormatError, match="cannot be read"):
        CelebA(root=tmp_path)


def test_flipped_byte_in_the_archive_is_told(tmp_path):
    path = write_zip(tmp_path)
    write_list(tmp_path)
    data = bytearray(path.read_bytes())
    data[2000] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="cannot be read"):
        CelebA(root=tmp_path)


def test_name_that_leads_out_of_the_folder_stays_inside(tmp_path):
    write_folder(tmp_path)
    text = write_list(tmp_path)
    (tmp_path / "evil.jpg").write_bytes(photograph(0))
    write_list(tmp_path, text.replace("000003.jpg", "../../evil.jpg"))
    with pytest.raises(DataFormatError, match="evil"):
        CelebA(root=tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: "six" + text[1:],
        lambda text: "7" + text[1:],
        lambda text: text.rsplit("\n", 2)[0],
        lambda text: text.replace(" Young", ""),
        lambda text: text.replace(" Young", " Smiling"),
        lambda text: text.replace("-1", " 0", 1),
        lambda text: text.replace("-1", " x", 1),
        lambda text: text.replace("-1", "", 1),
        lambda text: text[:-30],
        lambda text: f"{N_IMAGES}\n",
    ],
)
def test_wrong_list_of_attributes_is_refused(tmp_path, change):
    write_zip(tmp_path)
    text = write_list(tmp_path)
    write_list(tmp_path, change(text))
    with pytest.raises(DataFormatError, match="list_attr_celeba"):
        CelebA(root=tmp_path)


def test_missing_files_are_named_with_the_page_they_come_from(tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        CelebA(root=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "celeba" / "img_align_celeba.zip") in message
    assert str(tmp_path / "celeba" / "list_attr_celeba.txt") in message
    assert "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html" in message
    assert "download=True" not in message


def test_download_says_that_people_must_get_the_files(tmp_path):
    with pytest.raises(DownloadError, match="by hand from https://mmlab"):
        CelebA(root=tmp_path, download=True)
    assert not (tmp_path / "celeba").exists()


def test_size_below_one_is_refused():
    with pytest.raises(ValueError, match="image_size must be at least 1"):
        CelebA(image_size=0)
