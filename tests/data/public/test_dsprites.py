import os
import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest

from unbraid.data import DSprites, FactorSpace
from unbraid.foundation import DataFormatError, DatasetNotFoundError, numpy_generator
from unbraid.testing import check_dataset

NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64"
SIZES = (1, 3, 2, 4, 3, 2)  # color, shape, scale, orientation, x, y


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def arrays(tmp_path):
    """All members of the published file, with fewer and smaller images."""
    names = tuple("abcdef")
    classes = FactorSpace(names, SIZES).factors(np.arange(np.prod(SIZES)))
    generator = numpy_generator(0, "dsprites")
    metadata = np.empty((), dtype=object)
    metadata[()] = {"title": Trap(tmp_path / "unpickled")}
    return {
        "metadata": metadata,
        "imgs": generator.integers(0, 2, (len(classes), 8, 8)).astype(np.uint8),
        "latents_values": classes / 7.0,
        "latents_classes": classes,
    }


def write_npz(tmp_path, save=np.savez_compressed, **changes):
    folder = tmp_path / "dsprites"
    folder.mkdir(exist_ok=True)
    content = arrays(tmp_path) | changes
    save(folder / f"{NAME}.npz", **content)
    return content


def write_hdf5(tmp_path, **options):
    folder = tmp_path / "dsprites"
    folder.mkdir(exist_ok=True)
    content = arrays(tmp_path)
    with h5py.File(folder / f"{NAME}.hdf5", "w", userblock_size=512) as file:
        file.create_dataset("imgs", data=content["imgs"], **options)
        file.create_dataset("latents/classes", data=content["latents_classes"])
        file.create_dataset("latents/values", data=content["latents_values"])
    return content


def listing(tmp_path):
    return sorted(path.name for path in (tmp_path / "dsprites").iterdir())


def assert_reads(dataset, content):
    rows = np.array([5, 0, len(dataset) - 1, 5])
    np.testing.assert_array_equal(
        dataset.images(rows), content["imgs"][rows][:, None] * 255
    )
    np.testing.assert_array_equal(
        dataset.factors(rows), content["latents_classes"][rows, 1:]
    )


def test_npz_is_read_with_its_five_factors_and_pixels_of_0_and_255(tmp_path):
    content = write_npz(tmp_path)
    dataset = DSprites(root=tmp_path)
    check_dataset(dataset)
    assert_reads(dataset, content)
    assert dataset.name == "dsprites"
    assert dataset.image_shape == (1, 8, 8)
    assert dataset.factor_space == FactorSpace(
        ("shape", "scale", "orientation", "position_x", "position_y"),
        SIZES[1:],
        ("categorical", "ordinal", "cyclic", "ordinal", "ordinal"),
    )


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_pickled_member_is_never_loaded(tmp_path, save):
    write_npz(tmp_path, save)
    check_dataset(DSprites(root=tmp_path))
    assert not (tmp_path / "unpickled").exists()
    # The trap does work: numpy springs it when it is allowed to.
    np.load(tmp_path / "dsprites" / f"{NAME}.npz", allow_pickle=True)["metadata"]
    assert (tmp_path / "unpickled").exists()


def test_pickled_images_are_refused(tmp_path):
    images = np.empty(len(arrays(tmp_path)["imgs"]), dtype=object)
    images[:] = [Trap(tmp_path / "unpickled")] * len(images)
    for name in ("imgs", "latents_classes"):
        write_npz(tmp_path, **{name: images})
        with pytest.raises(DataFormatError):
            DSprites(root=tmp_path)
    assert not (tmp_path / "unpickled").exists()


def test_images_that_are_not_compressed_are_read_in_place(tmp_path):
    content = write_npz(tmp_path, np.savez)
    dataset = DSprites(root=tmp_path)
    check_dataset(dataset)
    assert_reads(dataset, content)
    assert listing(tmp_path) == [f"{NAME}.npz"]


def test_compressed_images_are_converted_once(tmp_path):
    content = write_npz(tmp_path)
    DSprites(root=tmp_path)
    converted, _ = listing(tmp_path)
    before = (tmp_path / "dsprites" / converted).stat()
    assert_reads(DSprites(root=tmp_path), content)
    after = (tmp_path / "dsprites" / converted).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len(listing(tmp_path)) == 2


def test_changed_file_is_converted_again_and_the_old_conversion_goes(tmp_path):
    write_npz(tmp_path)
    DSprites(root=tmp_path)
    first = listing(tmp_path)
    content = write_npz(tmp_path, imgs=1 - arrays(tmp_path)["imgs"])
    # The same size and a new time, at least.
    os.utime(tmp_path / "dsprites" / f"{NAME}.npz", (1, 1))
    assert_reads(DSprites(root=tmp_path), content)
    assert len(listing(tmp_path)) == 2
    assert listing(tmp_path) != first


def test_conversion_goes_to_the_cache_when_the_folder_is_read_only(
    tmp_path, monkeypatch
):
    content = write_npz(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert_reads(DSprites(root=tmp_path), content)
    assert_reads(DSprites(root=tmp_path), content)
    assert listing(tmp_path) == [f"{NAME}.npz"]
    assert len(list(Path(os.environ["XDG_CACHE_HOME"]).rglob("*.npy"))) == 1


@pytest.mark.parametrize(
    ("options", "n_files"),
    [({}, 1), ({"chunks": (50, 2, 4), "compression": "gzip"}, 2)],
)
def test_hdf5_twin_is_read_in_place_unless_it_is_in_chunks(tmp_path, options, n_files):
    content = write_hdf5(tmp_path, **options)
    dataset = DSprites(root=tmp_path)
    check_dataset(dataset)
    assert_reads(dataset, content)
    assert len(listing(tmp_path)) == n_files


def test_both_files_give_the_same_fingerprint(tmp_path):
    (tmp_path / "other").mkdir()
    write_npz(tmp_path)
    write_hdf5(tmp_path / "other")
    one, two = DSprites(root=tmp_path), DSprites(root=tmp_path / "other")
    assert one.fingerprint() == two.fingerprint()


def test_file_in_the_root_itself_is_found(tmp_path):
    content = write_npz(tmp_path)
    assert_reads(DSprites(root=tmp_path / "dsprites"), content)


def test_root_comes_from_the_environment(tmp_path, monkeypatch):
    content = write_npz(tmp_path)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    assert_reads(DSprites(), content)


def test_missing_file_says_what_to_put_where(tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        DSprites(root=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / "dsprites" / f"{NAME}.npz") in message
    assert "https://github.com/google-deepmind/dsprites-dataset" in message
    assert "download=True" in message
    assert "unbraid data fetch dsprites" in message


def test_copy_in_another_process_carries_no_images(tmp_path):
    content = write_npz(tmp_path)
    dataset = DSprites(root=tmp_path)
    parcel = pickle.dumps(dataset)
    assert len(parcel) < 1000
    copy = pickle.loads(parcel)
    assert copy == dataset
    assert_reads(copy, content)


def test_missing_member_is_told_with_those_that_are_there(tmp_path):
    folder = tmp_path / "dsprites"
    folder.mkdir()
    np.savez(folder / f"{NAME}.npz", images=np.zeros(3))
    with pytest.raises(DataFormatError, match=r"latents_classes\.npy.*images\.npy"):
        DSprites(root=tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_cut_npz_is_told_and_leaves_nothing(tmp_path, share):
    write_npz(tmp_path)
    path = tmp_path / "dsprites" / f"{NAME}.npz"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataFormatError, match="cannot be read"):
        DSprites(root=tmp_path)
    assert listing(tmp_path) == [f"{NAME}.npz"]


def test_flipped_byte_in_the_images_is_told_and_leaves_nothing(tmp_path):
    write_npz(tmp_path)
    path = tmp_path / "dsprites" / f"{NAME}.npz"
    data = bytearray(path.read_bytes())
    data[data.index(b"imgs.npy") + 300] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="cannot be read"):
        DSprites(root=tmp_path)
    assert listing(tmp_path) == [f"{NAME}.npz"]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_cut_hdf5_is_told(tmp_path, share):
    write_hdf5(tmp_path)
    path = tmp_path / "dsprites" / f"{NAME}.hdf5"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataFormatError, match="cannot be read"):
        DSprites(root=tmp_path)


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("imgs", lambda images: images[:-1]),
        ("imgs", lambda images: images.astype(np.float32)),
        ("imgs", lambda images: images[..., None]),
        ("imgs", lambda images: np.asfortranarray(images)),
        ("imgs", lambda images: images * 255),
        ("latents_classes", lambda classes: classes[::-1]),
        ("latents_classes", lambda classes: classes[:-1]),
        ("latents_classes", lambda classes: classes[:, 1:]),
        ("latents_classes", lambda classes: classes[:0]),
        ("latents_classes", lambda classes: classes[0]),
        ("latents_classes", lambda classes: np.float64(3.0)),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_wrong_content_is_refused(tmp_path, save, member, change):
    write_npz(tmp_path, save, **{member: change(arrays(tmp_path)[member])})
    with pytest.raises(DataFormatError, match=NAME):
        DSprites(root=tmp_path)
