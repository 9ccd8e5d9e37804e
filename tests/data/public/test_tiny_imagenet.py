import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from unbraid.data import PictureSprites, TinyImageNet
from unbraid.foundation import DataFormatError, DatasetNotFoundError
from unbraid.testing import check_dataset


def jpeg(gray):
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (gray, gray, gray)).save(file, "JPEG", quality=95)
    return file.getvalue()


def write_archive(root, members):
    folder = root / "tiny_imagenet"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "tiny-imagenet-200.zip", "w") as archive:
        for name, data in members.items():
            archive.writestr(f"tiny-imagenet-200/{name}", data)


@pytest.fixture
def published(tmp_path):
    """The archive as it is published, with two categories of three pictures each."""
    members = {
        f"train/{word}/images/{word}_{number}.JPEG": jpeg(20 * number + 100 * kind)
        for kind, word in enumerate(("n01443537", "n01629819"))
        for number in range(3)
    }
    members["train/n01443537/n01443537_boxes.txt"] = b"n01443537_0.JPEG\t0\t10\t63\t58"
    members["val/images/val_0.JPEG"] = jpeg(255)
    members["words.txt"] = b"n01443537\tgoldfish"
    write_archive(tmp_path, members)
    return tmp_path


def test_training_pictures_and_their_categories_are_read(published):
    pictures = TinyImageNet(root=published)
    check_dataset(pictures)
    assert len(pictures) == 6
    np.testing.assert_array_equal(pictures.factors(range(6))[:, 0], [0, 0, 0, 1, 1, 1])
    grays = pictures.images(range(6)).mean(axis=(1, 2, 3))
    np.testing.assert_allclose(grays, [0, 20, 40, 100, 120, 140], atol=2)


def test_pictures_can_stand_behind_sprites(published):
    dataset = PictureSprites(pictures=TinyImageNet(root=published))
    assert dataset.images([0]).shape == (1, 3, 64, 64)


def test_a_missing_archive_is_named_with_its_place(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="tiny-imagenet-200.zip") as caught:
        TinyImageNet(root=tmp_path)
    assert "unbraid data fetch tiny_imagenet" in str(caught.value)


def test_an_archive_without_pictures_is_refused(tmp_path):
    write_archive(tmp_path, {"words.txt": b""})
    with pytest.raises(DataFormatError, match="contains no pictures"):
        TinyImageNet(root=tmp_path)


def test_a_picture_that_is_none_is_named(tmp_path):
    write_archive(tmp_path, {"train/n1/images/n1_0.JPEG": b"text"})
    with pytest.raises(DataFormatError, match="n1_0.JPEG cannot be read as a picture"):
        TinyImageNet(root=tmp_path)


def test_a_truncated_archive_is_refused(published):
    path = published / "tiny_imagenet" / "tiny-imagenet-200.zip"
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DataFormatError, match="cannot be read as a .zip file"):
        TinyImageNet(root=published)


def test_files_that_are_not_the_published_ones_fail_verification(published):
    with pytest.raises(DataFormatError, match="the size must be 248100043 bytes"):
        TinyImageNet(root=published).verify_files()
