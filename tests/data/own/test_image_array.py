import h5py
import numpy as np
import pytest
import torch

from unbraid.data import LabeledImages
from unbraid.foundation import DataFormatError, numpy_generator
from unbraid.testing import check_dataset

NOISE = numpy_generator(0, "arrays").integers(0, 256, (6, 8, 10, 3)).astype(np.uint8)
EXPECTED = NOISE.transpose(0, 3, 1, 2)
ROWS = np.arange(6)


def test_channels_are_found_first_or_last():
    for given in (NOISE, EXPECTED, np.ascontiguousarray(EXPECTED)):
        data = LabeledImages(given)
        assert data.image_shape == (3, 8, 10)
        assert np.array_equal(data.images(ROWS), EXPECTED)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_one_to_four_channels_are_accepted(channels):
    data = LabeledImages(np.zeros((2, 8, 8, channels), np.uint8))
    check_dataset(data)
    assert data.image_shape == (channels, 8, 8)


def test_images_without_a_channel_axis_are_gray():
    data = LabeledImages(NOISE[..., 0])
    check_dataset(data)
    assert np.array_equal(data.images(ROWS), EXPECTED[:, :1])


def test_open_question_of_channels_must_be_answered():
    images = NOISE[:, :3, :4, :3]
    with pytest.raises(ValueError, match=r"\(6, 3, 4, 3\).* channels_first=True"):
        LabeledImages(images)
    first = LabeledImages(images, channels_first=True)
    last = LabeledImages(images, channels_first=False)
    assert (first.image_shape, last.image_shape) == ((3, 4, 3), (3, 3, 4))
    assert np.array_equal(first.images(ROWS), images)
    assert np.array_equal(last.images(ROWS), images.transpose(0, 3, 1, 2))


@pytest.mark.parametrize(
    "shape",
    [(), (5,), (5, 5), (0, 8, 8), (5, 0, 8), (5, 8, 8, 5), (5, 8, 8, 0), (1,) * 5],
)
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="images must have shape") as failure:
        LabeledImages(np.zeros(shape, np.uint8))
    assert str(shape) in str(failure.value)


def test_said_axis_must_hold_channels():
    with pytest.raises(ValueError, match=r"channels, got \(6, 8, 10, 3\)"):
        LabeledImages(NOISE, channels_first=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_from_zero_to_one_come_back_exactly(dtype):
    data = LabeledImages((NOISE / 255).astype(dtype))
    assert np.array_equal(data.images(ROWS), EXPECTED)


def test_floats_are_rounded_and_not_cut_off():
    images = np.full((1, 8, 8), 0.999)
    images[0, 0, 0] = 0.003
    data = LabeledImages(images)
    assert data.images([0])[0, 0, 0, :2].tolist() == [1, 255]


def test_booleans_are_black_and_white():
    data = LabeledImages(NOISE > 127)
    assert np.array_equal(data.images(ROWS), (EXPECTED > 127) * 255)


@pytest.mark.parametrize(
    ("bad", "shown"),
    [(255.0, "to 255.0"), (1.001, "to 1.001"), (-0.1, "-0.1 to"), (np.nan, "nan")],
)
def test_floats_outside_zero_to_one_are_refused(bad, shown):
    images = np.zeros((2, 8, 8))
    images[1, 3, 3] = bad
    with pytest.raises(ValueError, match=f"between 0 and 1, got .*{shown}"):
        LabeledImages(images)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.full((2, 8, 8), 200), "int64 with values from 200 to 200"),
        (np.full((2, 8, 8), -1, np.int8), "int8 with values from -1 to -1"),
        (np.full((2, 8, 8), 300, np.uint16), "uint16 .* to 300.*astype"),
        (np.zeros((2, 8, 8), complex), "complex128"),
        (np.full((2, 8, 8), "a"), "<U1"),
    ],
)
def test_other_types_are_refused(images, message):
    with pytest.raises(TypeError, match=f"uint8, bool or float, got {message}"):
        LabeledImages(images)


def test_ones_for_white_are_refused_but_black_is_not():
    ones = (NOISE > 127).astype(np.uint8)
    with pytest.raises(ValueError, match=r"all are 0 or 1. Pass images.astype\(bool\)"):
        LabeledImages(ones)
    assert LabeledImages(np.zeros_like(ones)).images([0]).max() == 0
    ones[-1, -1, -1, -1] = 2
    assert LabeledImages(ones).images([5]).max() == 2


def test_images_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match="must have the same shape"):
        LabeledImages([np.zeros((8, 8), np.uint8), np.zeros((9, 8), np.uint8)])


def test_list_of_arrays_is_accepted():
    assert np.array_equal(LabeledImages(list(NOISE)).images(ROWS), EXPECTED)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64])
def test_tensors_are_accepted(dtype):
    tensor = torch.from_numpy(NOISE).to(dtype)
    if dtype.is_floating_point:
        tensor = (tensor / 255).requires_grad_()
    assert np.array_equal(LabeledImages(tensor).images(ROWS), EXPECTED)


def test_bfloat16_tensor_is_accepted():
    tensor = torch.ones((2, 8, 8), dtype=torch.bfloat16)
    assert (LabeledImages(tensor).images([0]) == 255).all()


def test_npy_file_is_mapped_and_not_loaded(tmp_path):
    np.save(tmp_path / "images.npy", NOISE)
    data = LabeledImages(tmp_path / "images.npy")
    check_dataset(data)
    assert np.array_equal(data.images(ROWS), EXPECTED)
    assert isinstance(data._images.base, np.memmap)
    assert type(data.images([0])) is np.ndarray


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".hdf5", ".NPZ"])
@pytest.mark.parametrize("keys", [("images", "labels"), ("imgs",)])
def test_file_of_several_arrays_is_read(tmp_path, suffix, keys):
    arrays = dict.fromkeys(keys, np.zeros(6)) | {keys[0]: NOISE}
    path = tmp_path / f"file{suffix}"
    if suffix.lower() == ".npz":
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
    else:
        with h5py.File(path, "w") as file:
            for key, array in arrays.items():
                file[key] = array
    data = LabeledImages(str(path))
    check_dataset(data)
    assert np.array_equal(data.images(ROWS), EXPECTED)


def test_file_with_several_arrays_and_no_images_names_them(tmp_path):
    np.savez(tmp_path / "a.npz", imgs=NOISE, latents=np.zeros(6))
    with pytest.raises(DataFormatError, match="got imgs, latents. Load the file"):
        LabeledImages(tmp_path / "a.npz")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("images")
    with pytest.raises(DataFormatError, match="got none"):
        LabeledImages(tmp_path / "a.h5")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".h5"])
@pytest.mark.parametrize("content", [b"", b"not an array", b"\x93NUMPY", b"PK\x03\x04"])
def test_damaged_file_is_named(tmp_path, suffix, content):
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataFormatError, match=r"bad\..*cannot be read"):
        LabeledImages(path)


def test_array_in_a_file_with_the_suffix_of_an_archive_is_read(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, NOISE)
    assert np.array_equal(LabeledImages(tmp_path / "a.npz").images(ROWS), EXPECTED)


def test_pickled_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.array([{}, None], dtype=object))
    with pytest.raises(DataFormatError, match="cannot be read"):
        LabeledImages(tmp_path / "a.npz")


def test_missing_file_is_an_error(tmp_path):
    for path in ("nothing.npy", tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no file .* ImageFolder"):
            LabeledImages(path)


def test_unknown_kind_of_file_is_an_error(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"0")
    with pytest.raises(ValueError, match=r"\.npy, \.npz, \.h5 or \.hdf5 file, got"):
        LabeledImages(tmp_path / "a.mat")
