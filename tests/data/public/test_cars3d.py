import io
import os
import tarfile

import numpy as np
import pytest
import scipy.io

from unbraid.data import Cars3D, FactorSpace
from unbraid.foundation import DataFormatError, DatasetNotFoundError, numpy_generator
from unbraid.testing import check_dataset

CARS = ("car_007_mesh", "car_002_mesh", "car_110_mesh")  # the list is not sorted


def mesh(car, size=16):
    """Array 'im' of one car: height, width, channel, azimuth, elevation."""
    generator = numpy_generator(0, car)
    return generator.integers(0, 256, (size, size, 3, 24, 4), dtype=np.uint8)


def mat(**arrays):
    file = io.BytesIO()
    scipy.io.savemat(file, arrays, do_compression=True)
    return file.getvalue()


def members(size=16):
    """Files of the published archive, in another order than the list."""
    content = {"data/sprites/sprite_1.mat": b"not of interest"}
    for car in sorted(CARS):
        mask = np.ones((size, size, 24, 4), dtype=np.uint8)
        content[f"data/cars/{car}.mat"] = mat(im=mesh(car, size), mask=mask)
    content["data/cars/list.txt"] = "\n".join(CARS).encode() + b"\n"
    return content


def write(root, content):
    path = root / "cars3d" / "nips2015-analogy-data.tar.gz"
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_views_are_put_in_the_order_of_the_factors(tmp_path):
    write(tmp_path, members())
    dataset = Cars3D(root=tmp_path, image_size=16)
    check_dataset(dataset)
    assert dataset.factor_space == FactorSpace(
        ("elevation", "azimuth", "object_type"),
        (4, 24, len(CARS)),
        ("ordinal", "cyclic", "categorical"),
    )
    for elevation, azimuth, car in [(0, 0, 0), (3, 23, 2), (1, 20, 1)]:
        index = dataset.factor_space.indices(np.array([[elevation, azimuth, car]]))
        np.testing.assert_array_equal(
            dataset.images(index)[0].transpose(1, 2, 0),
            mesh(CARS[car])[..., azimuth, elevation],
        )


def test_images_are_made_smaller_without_changing_what_they_show(tmp_path):
    content = members()
    ramp = np.broadcast_to(np.linspace(0, 255, 128), (128, 128)).astype(np.uint8)
    views = np.broadcast_to(ramp[:, :, None, None, None], (128, 128, 3, 24, 4))
    content[f"data/cars/{CARS[0]}.mat"] = mat(im=views)
    write(tmp_path, content)
    dataset = Cars3D(root=tmp_path)
    assert dataset.image_shape == (3, 64, 64)
    pairs = ramp.reshape(128, 64, 2).mean(axis=2)[::2]
    np.testing.assert_allclose(dataset.images([0])[0, 0], pairs, atol=2)


def test_archive_is_read_once(tmp_path):
    path = write(tmp_path, members())
    Cars3D(root=tmp_path)
    stat = path.stat()
    path.write_bytes(b"x" * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert len(Cars3D(root=tmp_path)) == 4 * 24 * len(CARS)


def test_sizes_are_kept_apart(tmp_path):
    write(tmp_path, members())
    small, large = (Cars3D(root=tmp_path, image_size=size) for size in (8, 16))
    assert (small.image_shape, large.image_shape) == ((3, 8, 8), (3, 16, 16))
    assert len(list((tmp_path / "cars3d").glob("*.npy"))) == 2


@pytest.mark.parametrize(
    "name", ["../../evil.txt", "data/../../evil.txt", "/tmp/evil.txt"]
)
def test_member_that_leads_out_of_the_folder_is_refused_and_not_written(tmp_path, name):
    root = tmp_path / "a" / "b"
    root.mkdir(parents=True)
    path = write(root, {name: b"evil"} | members())
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataFormatError, match=r"evil\.txt.*delete it"):
        Cars3D(root=root)
    assert sorted(tmp_path.rglob("*")) == before
    assert path.exists()


def test_link_in_place_of_a_car_is_not_followed(tmp_path):
    (tmp_path / "secret.mat").write_bytes(mat(im=mesh("secret")))
    path = tmp_path / "nips2015-analogy-data.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        listing = tarfile.TarInfo("data/cars/list.txt")
        listing.size = 3
        archive.addfile(listing, io.BytesIO(b"car"))
        link = tarfile.TarInfo("data/cars/car.mat")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret.mat")
        archive.addfile(link)
    with pytest.raises(DataFormatError, match=r"data/cars/car\.mat is missing"):
        Cars3D(root=tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_cut_archive_is_told_and_leaves_nothing(tmp_path, share):
    path = write(tmp_path, members())
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataFormatError, match="nips2015"):
        Cars3D(root=tmp_path)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("data/cars/list.txt", b"", "names of the cars"),
        (
            "data/cars/list.txt",
            b"car_999_mesh",
            "data/cars/car_999_mesh.mat is missing",
        ),
        (f"data/cars/{CARS[0]}.mat", b"", "MATLAB 5"),
        (f"data/cars/{CARS[0]}.mat", b"x" * 4096, "MATLAB 5"),
        (f"data/cars/{CARS[0]}.mat", mat(mask=np.ones(3)), "MATLAB 5"),
        (f"data/cars/{CARS[0]}.mat", mat(im=np.ones((8, 8, 3))), "must be uint8"),
        (f"data/cars/{CARS[0]}.mat", mat(im=mesh("a", 8) / 2.0), "must be uint8"),
    ],
)
def test_wrong_member_is_refused_and_leaves_nothing(tmp_path, name, data, message):
    path = write(tmp_path, members() | {name: data})
    with pytest.raises(DataFormatError, match=message):
        Cars3D(root=tmp_path)
    assert list(path.parent.iterdir()) == [path]


def test_size_below_one_is_refused():
    with pytest.raises(ValueError, match="image_size must be at least 1, got 0"):
        Cars3D(image_size=0)


def test_missing_file_says_what_to_put_where(tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        Cars3D(root=tmp_path)
    expected = tmp_path / "cars3d" / "nips2015-analogy-data.tar.gz"
    assert str(expected) in str(caught.value)
    assert "http://www.scottreed.info/files/" in str(caught.value)
    assert "unbraid data fetch cars3d" in str(caught.value)


def test_images_that_another_filter_made_are_not_used(tmp_path):
    path = write(tmp_path, members())
    Cars3D(root=tmp_path, image_size=8)
    (made,) = path.parent.glob("*.npy")
    # As versions before named it, with the same sources.
    former = made.with_name(made.name.replace("8px-bilinear", "8px"))
    pixels = np.load(made)
    made.unlink()
    np.save(former, np.zeros_like(pixels))
    again = Cars3D(root=tmp_path, image_size=8)
    np.testing.assert_array_equal(again.images([5])[0].transpose(1, 2, 0), pixels[5])
