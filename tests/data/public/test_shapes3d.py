import h5py
import numpy as np
import pytest

from unbraid.data import FactorSpace, Shapes3D
from unbraid.foundation import DataFormatError, DatasetNotFoundError, numpy_generator
from unbraid.testing import check_dataset

NAMES = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
KINDS = ("cyclic", "cyclic", "cyclic", "ordinal", "categorical", "ordinal")
SIZES = (3, 2, 2, 2, 4, 3)
# Values as published: hues from 0 to 0.9, scales around 1, angles around 0.
VALUES = [
    np.array(values)
    for values in (
        [0.0, 0.1, 0.2],
        [0.0, 0.5],
        [0.3, 0.4],
        [0.75, 1.25],
        [0.0, 1.0, 2.0, 3.0],
        [-30.0, 0.0, 30.0],
    )
]
COMPRESSED = {"chunks": (20, 4, 4, 1), "compression": "gzip"}


def arrays():
    classes = FactorSpace(NAMES, SIZES).factors(np.arange(np.prod(SIZES)))
    labels = np.stack(
        [values[column] for values, column in zip(VALUES, classes.T, strict=True)], 1
    )
    generator = numpy_generator(0, "shapes3d")
    images = generator.integers(0, 256, (len(classes), 8, 8, 3)).astype(np.uint8)
    return images, labels, classes


def write(root, images, labels, **options):
    path = root / "shapes3d" / "3dshapes.h5"
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, **options)
        file.create_dataset("labels", data=labels)
    return path


@pytest.mark.parametrize(("options", "n_files"), [({}, 1), (COMPRESSED, 2)])
def test_images_and_factors_are_those_of_the_file(tmp_path, options, n_files):
    images, labels, classes = arrays()
    path = write(tmp_path, images, labels, **options)
    dataset = Shapes3D(root=tmp_path)
    check_dataset(dataset)
    rows = np.array([7, 0, len(images) - 1])
    np.testing.assert_array_equal(
        dataset.images(rows), images[rows].transpose(0, 3, 1, 2)
    )
    np.testing.assert_array_equal(dataset.factors(rows), classes[rows])
    assert dataset.factor_space == FactorSpace(NAMES, SIZES, KINDS)
    assert len(list(path.parent.iterdir())) == n_files


def test_image_of_any_combination_is_found_by_its_index(tmp_path):
    images, labels, classes = arrays()
    write(tmp_path, images, labels)
    assert not Shapes3D.is_here(tmp_path / "elsewhere")
    assert Shapes3D.is_here(tmp_path)
    dataset = Shapes3D(root=tmp_path)
    index = dataset.factor_space.indices(np.array([[2, 1, 0, 1, 3, 2]]))
    row = np.flatnonzero((classes == [2, 1, 0, 1, 3, 2]).all(axis=1))
    np.testing.assert_array_equal(
        dataset.images(index), images[row].transpose(0, 3, 1, 2)
    )


def test_rows_in_another_order_are_refused(tmp_path):
    images, labels, _ = arrays()
    write(tmp_path, images, labels[::-1])
    with pytest.raises(DataFormatError, match="once, with the last factor"):
        Shapes3D(root=tmp_path)


def test_missing_label_is_refused(tmp_path):
    images, labels, _ = arrays()
    labels[3, 2] = np.nan
    write(tmp_path, images, labels)
    with pytest.raises(DataFormatError, match="each combination of"):
        Shapes3D(root=tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda images: images[1:],
        lambda images: images[..., :1],
        lambda images: images / 255,
    ],
)
def test_wrong_images_are_refused_before_they_are_converted(tmp_path, change):
    images, labels, _ = arrays()
    path = write(tmp_path, change(images), labels, chunks=True)
    with pytest.raises(DataFormatError, match="must be uint8 of shape"):
        Shapes3D(root=tmp_path)
    assert list(path.parent.iterdir()) == [path]


def test_missing_key_is_told_with_those_that_are_there(tmp_path):
    path = tmp_path / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("pictures", data=np.zeros(3))
        file.create_group("labels")
    with pytest.raises(DataFormatError, match="labels, got labels, pictures"):
        Shapes3D(root=tmp_path)


def test_damaged_chunk_is_told_and_leaves_nothing(tmp_path):
    images, labels, _ = arrays()
    path = write(tmp_path, images, labels, **COMPRESSED)
    with h5py.File(path, "r") as file:
        start = file["images"].id.get_chunk_info(5).byte_offset
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\0" * 16)
    with pytest.raises(DataFormatError, match="cannot be read"):
        Shapes3D(root=tmp_path)
    assert list(path.parent.iterdir()) == [path]


def test_missing_file_says_what_to_put_where(tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        Shapes3D(root=tmp_path)
    assert str(tmp_path / "shapes3d" / "3dshapes.h5") in str(caught.value)
    assert "https://storage.googleapis.com/3d-shapes/3dshapes.h5" in str(caught.value)
    assert "unbraid data fetch shapes3d" in str(caught.value)
