import gzip
import itertools

import numpy as np
import pytest

from unbraid.data import FactorSpace, SmallNORB, open_dataset
from unbraid.foundation import DataFormatError, DatasetNotFoundError, numpy_generator
from unbraid.testing import check_dataset

TRAIN = "smallnorb-5x46789x9x18x6x2x96x96-training"
TEST = "smallnorb-5x01235x9x18x6x2x96x96-testing"
# As published but fewer: the instances are split over the two sets, the azimuths even.
INSTANCES = {TRAIN: (4, 6), TEST: (0, 1)}
AZIMUTHS = (0, 2, 34)
SIZES = (2, 4, 2, 3, 2)
MAGIC = {"int32": 0x1E3D4C54, "uint8": 0x1E3D4C55}


def matrix(array):
    """Bytes of a NORB matrix: magic, number of axes, at least three sizes, numbers."""
    sizes = (*array.shape, 1, 1)[: max(3, array.ndim)]
    header = np.array([MAGIC[array.dtype.name], array.ndim, *sizes], dtype="<i4")
    return header.tobytes() + array.tobytes()


def arrays():
    """Content of the six files, the rows in no order."""
    generator = numpy_generator(0, "smallnorb")
    content = {}
    for part, instances in INSTANCES.items():
        axes = (range(2), instances, range(2), AZIMUTHS, range(2))
        rows = np.array(list(itertools.product(*axes)), dtype=np.int32)
        rows = generator.permutation(rows)
        content[f"{part}-cat"] = rows[:, 0].copy()
        content[f"{part}-info"] = rows[:, 1:].copy()
        content[f"{part}-dat"] = generator.integers(
            0, 256, (len(rows), 2, 12, 12), dtype=np.uint8
        )
    return content


def write(root, content, compress=True):
    folder = root / "smallnorb"
    folder.mkdir(exist_ok=True)
    for name, array in content.items():
        data = array if isinstance(array, bytes) else matrix(array)
        if compress:
            (folder / f"{name}.mat.gz").write_bytes(gzip.compress(data))
        else:
            (folder / f"{name}.mat").write_bytes(data)
    return folder


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("camera", ["left", "right"])
def test_both_sets_together_are_sorted_into_the_grid(tmp_path, camera, compress):
    content = arrays()
    write(tmp_path, content, compress)
    dataset = SmallNORB(root=tmp_path, camera=camera, image_size=12)
    check_dataset(dataset)
    assert dataset.factor_space == FactorSpace(
        ("category", "instance", "elevation", "azimuth", "lighting"),
        SIZES,
        ("categorical", "categorical", "ordinal", "cyclic", "categorical"),
    )
    instances, camera_index = [0, 1, 4, 6], ["left", "right"].index(camera)
    for part in (TRAIN, TEST):
        info = content[f"{part}-info"]
        factors = np.column_stack(
            [
                content[f"{part}-cat"],
                np.searchsorted(instances, info[:, 0]),
                info[:, 1],
                np.searchsorted(AZIMUTHS, info[:, 2]),
                info[:, 3],
            ]
        )
        images = dataset.images(dataset.factor_space.indices(factors))
        expected = content[f"{part}-dat"][:, camera_index]
        np.testing.assert_array_equal(images[:, 0], expected)


def test_images_are_64_pixels_wide_when_nothing_is_said(tmp_path):
    content = arrays()
    for part in (TRAIN, TEST):
        content[f"{part}-dat"] = np.full((48, 2, 96, 96), 200, dtype=np.uint8)
        content[f"{part}-dat"][:, :, :, 48:] = 10
    write(tmp_path, content)
    dataset = SmallNORB(root=tmp_path)
    assert dataset.image_shape == (1, 64, 64)
    image = dataset.images([3])[0, 0]
    assert (image[:, :28] == 200).all()
    assert (image[:, 36:] == 10).all()


def test_cameras_and_sizes_are_kept_apart(tmp_path):
    folder = write(tmp_path, arrays())
    left, right = (SmallNORB(root=tmp_path, camera=c) for c in ("left", "right"))
    assert left.fingerprint() != right.fingerprint()
    assert SmallNORB(root=tmp_path, image_size=8).image_shape == (1, 8, 8)
    assert len(list(folder.glob("*.npy"))) == 3


def test_a_hidden_instance_leaves_the_four_published_factors(tmp_path):
    write(tmp_path, arrays())
    whole = SmallNORB(root=tmp_path, image_size=12)
    hidden = open_dataset(f"smallnorb:root={tmp_path},image_size=12,instance=hidden")
    check_dataset(hidden)
    assert hidden.factor_names == ("category", "elevation", "azimuth", "lighting")
    assert hidden.factor_space is not None
    assert hidden.factor_space.sizes == (2, 2, 3, 2)
    assert len(hidden) == len(whole) == 96
    assert not hidden.is_grid
    rows = np.arange(96)
    np.testing.assert_array_equal(hidden.images(rows), whole.images(rows))
    factors = whole.factors(rows)
    np.testing.assert_array_equal(hidden.factors(rows), factors[:, [0, 2, 3, 4]])
    assert hidden.fingerprint() != whole.fingerprint()
    with pytest.raises(ValueError, match="'factor' or 'hidden'"):
        SmallNORB(root=tmp_path, instance="random")


def test_changed_labels_convert_again(tmp_path):
    content = arrays()
    write(tmp_path, content)
    before = SmallNORB(root=tmp_path, image_size=12).fingerprint()
    content[f"{TRAIN}-info"][:, 3] = 1 - content[f"{TRAIN}-info"][:, 3]
    write(tmp_path, content)
    assert SmallNORB(root=tmp_path, image_size=12).fingerprint() != before


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("dat", lambda array: array[:-1], "must be uint8 of shape"),
        ("dat", lambda array: array[:, :1], "must be uint8 of shape"),
        ("dat", lambda array: array.astype(np.int32), "must be uint8 of shape"),
        ("dat", lambda array: matrix(array)[:-1], "cannot be read"),
        ("dat", lambda array: matrix(array)[:10], "cannot be read"),
        ("dat", lambda array: b"", "cannot be read"),
        ("dat", lambda array: b"MATLAB 5.0 MAT-file", "does not start like"),
        ("cat", lambda array: array[:, None], "must be int32 of shape"),
        ("cat", lambda array: array[:-1], "must be int32 of shape"),
        ("info", lambda array: array[:, :3], "must be int32 of shape"),
        ("info", lambda array: array * [[1, 1, 1, 0]], "each combination of"),
        ("info", lambda array: array + [[0, 0, 0, 1]], "each combination of"),
        ("info", lambda array: np.arange(4 * 48).reshape(48, 4), "each combination of"),
        ("info", lambda array: array[::-1] // 2 * 2, "each combination of"),
    ],
)
def test_wrong_file_is_refused_and_leaves_nothing(tmp_path, name, change, message):
    content = arrays()
    changed = change(content[f"{TEST}-{name}"])
    if isinstance(changed, np.ndarray) and changed.dtype == np.int64:
        changed = changed.astype(np.int32)
    folder = write(tmp_path, content | {f"{TEST}-{name}": changed})
    with pytest.raises(DataFormatError, match=message):
        SmallNORB(root=tmp_path)
    assert len(list(folder.iterdir())) == 6


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_cut_gzip_is_told_and_leaves_nothing(tmp_path, share):
    folder = write(tmp_path, arrays())
    path = folder / f"{TEST}-dat.mat.gz"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataFormatError, match="cannot be read"):
        SmallNORB(root=tmp_path)
    assert len(list(folder.iterdir())) == 6


def test_page_in_place_of_a_gzip_file_is_told(tmp_path):
    folder = write(tmp_path, arrays())
    (folder / f"{TEST}-cat.mat.gz").write_bytes(b"<!DOCTYPE html><html></html>")
    with pytest.raises(DataFormatError, match="cannot be read"):
        SmallNORB(root=tmp_path)


def test_only_the_missing_files_are_asked_for(tmp_path):
    folder = write(tmp_path, arrays())
    (folder / f"{TEST}-cat.mat.gz").unlink()
    (folder / f"{TRAIN}-dat.mat.gz").unlink()
    with pytest.raises(DatasetNotFoundError) as caught:
        SmallNORB(root=tmp_path)
    message = str(caught.value)
    assert str(folder / f"{TEST}-cat.mat.gz") in message
    assert str(folder / f"{TRAIN}-dat.mat.gz") in message
    assert f"{TEST}-info" not in message
    assert "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small" in message


@pytest.mark.parametrize(("option", "value"), [("camera", "middle"), ("image_size", 0)])
def test_impossible_options_are_refused(option, value):
    with pytest.raises(ValueError, match=f"{option} must be .*, got {value!r}"):
        SmallNORB(**{option: value})
