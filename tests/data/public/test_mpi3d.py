import numpy as np
import pytest

from unbraid.data import MPI3D
from unbraid.foundation import DataFormatError, DatasetNotFoundError, numpy_generator
from unbraid.testing import check_dataset

FULL, CHALLENGE = 1_036_800, 460_800


def write(root, n_images, kind="toy", save=np.savez):
    """The published file with its full length, but images of a single pixel."""
    path = root / "mpi3d" / f"mpi3d_{kind}.npz"
    path.parent.mkdir(exist_ok=True)
    generator = numpy_generator(0, kind)
    images = generator.integers(0, 256, (n_images, 1, 1, 3), dtype=np.uint8)
    save(path, images=images)
    return path, images


@pytest.mark.parametrize("kind", ["toy", "realistic", "real"])
def test_every_kind_is_read_in_place_from_its_own_file(tmp_path, kind):
    path, images = write(tmp_path, FULL, kind)
    dataset = MPI3D(root=tmp_path, kind=kind)
    check_dataset(dataset)
    rows = np.array([FULL - 1, 0, 123_456])
    np.testing.assert_array_equal(
        dataset.images(rows), images[rows].transpose(0, 3, 1, 2)
    )
    assert dataset.name == f"mpi3d_{kind}"
    assert list(path.parent.iterdir()) == [path]


def test_factors_have_the_published_order(tmp_path):
    _, images = write(tmp_path, FULL)
    dataset = MPI3D(root=tmp_path)
    assert dataset.factor_space.names == (
        "object_color",
        "object_shape",
        "object_size",
        "camera_height",
        "background_color",
        "horizontal_axis",
        "vertical_axis",
    )
    # As its authors say: the array, reshaped to these sizes.
    grid = images.reshape(6, 6, 2, 3, 3, 40, 40, 3)
    index = dataset.factor_space.indices(np.array([[5, 2, 1, 0, 2, 17, 39]]))
    np.testing.assert_array_equal(
        dataset.images(index).ravel(), grid[5, 2, 1, 0, 2, 17, 39]
    )


def test_compressed_file_is_converted(tmp_path):
    path, images = write(tmp_path, CHALLENGE, save=np.savez_compressed)
    dataset = MPI3D(root=tmp_path)
    np.testing.assert_array_equal(
        dataset.images([CHALLENGE - 1]).ravel(), images[-1].ravel()
    )
    assert len(list(path.parent.iterdir())) == 2


def test_file_of_the_challenge_has_four_colors_and_shapes(tmp_path):
    write(tmp_path, CHALLENGE)
    dataset = MPI3D(root=tmp_path)
    check_dataset(dataset)
    assert dataset.factor_space.sizes == (4, 4, 2, 3, 3, 40, 40)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_other_lengths_are_refused_before_anything_is_converted(tmp_path, save):
    path, _ = write(tmp_path, 1000, save=save)
    with pytest.raises(DataFormatError, match=r"1036800 images.*460800.*got 1000"):
        MPI3D(root=tmp_path)
    assert list(path.parent.iterdir()) == [path]


def test_single_number_is_refused(tmp_path):
    np.savez(tmp_path / "mpi3d_toy.npz", images=np.uint8(3))
    with pytest.raises(DataFormatError, match="mpi3d_toy"):
        MPI3D(root=tmp_path)


def test_missing_file_says_which_kind_to_put_where(tmp_path):
    write(tmp_path, CHALLENGE, "toy")
    with pytest.raises(DatasetNotFoundError) as caught:
        MPI3D(root=tmp_path, kind="real")
    assert str(tmp_path / "mpi3d" / "mpi3d_real.npz") in str(caught.value)
    assert "Final_Dataset/mpi3d_real.npz" in str(caught.value)
    assert "unbraid data fetch mpi3d:kind=real" in str(caught.value)


def test_unknown_kind_is_refused():
    with pytest.raises(
        ValueError, match=r"kind must be 'toy', 'realistic' or 'real', got 'fake'"
    ):
        MPI3D(kind="fake")


def test_each_kind_requires_one_file():
    names = [
        file.name
        for kind in ("toy", "realistic", "real")
        for file in MPI3D.required_files(kind=kind)
    ]
    assert names == ["mpi3d_toy.npz", "mpi3d_realistic.npz", "mpi3d_real.npz"]
    assert names == [file.name for file in MPI3D.files]
