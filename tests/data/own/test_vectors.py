import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from unbraid import encode
from unbraid.data import (
    BatchStream,
    LabeledImages,
    Subset,
    TorchDataset,
    Vectors,
    XYSquares,
    as_dataset,
    channel_statistics,
    open_dataset,
)
from unbraid.testing import check_dataset

VALUES = np.random.default_rng(0).normal(3.0, 5.0, (20, 5)).astype(np.float32)


def test_vectors_conform_with_and_without_factors():
    check_dataset(Vectors(VALUES))
    check_dataset(Vectors(VALUES, np.arange(20) % 4))
    check_dataset(Subset(Vectors(VALUES), [3, 1]))


def test_batches_of_vectors_are_the_rows_unscaled():
    stream = BatchStream(dataset=Vectors(VALUES), size=7, seed=0)
    batch = stream.batch(3)
    assert np.array_equal(batch.images.numpy(), VALUES[stream.rows(3)[:, 0]])


def test_batches_of_vectors_can_be_standardized():
    dataset = Vectors(VALUES)
    statistics = channel_statistics(dataset)
    assert statistics.mean == pytest.approx(VALUES.mean(axis=0), rel=1e-5)
    assert statistics.std == pytest.approx(VALUES.std(axis=0), rel=1e-5)
    stream = BatchStream(
        dataset=dataset, size=20, order="shuffled", standardize=statistics
    )
    images = stream.batch(0).images
    assert torch.allclose(images.mean(dim=0), torch.zeros(5), atol=1e-5)
    assert torch.allclose(images.std(dim=0, correction=0), torch.ones(5), atol=1e-5)


def test_vectors_are_encoded_unscaled():
    assert np.array_equal(encode(lambda rows: rows, VALUES).codes, VALUES)


def test_the_dataset_does_not_change_with_the_array():
    values = VALUES.copy()
    dataset = Vectors(values)
    fingerprint = dataset.fingerprint()
    values[0] = 0
    assert dataset.images([0])[0, 0] == VALUES[0, 0]
    assert Vectors(values).fingerprint() != fingerprint


@pytest.mark.parametrize(
    "wrong", [[1.0, 2.0], [[np.nan]], [[np.inf]], [["a"]], np.zeros((0, 3)), [[1], []]]
)
def test_what_is_no_table_of_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match="values must"):
        Vectors(wrong)


def test_factors_must_have_a_row_for_each_vector():
    with pytest.raises(ValueError, match="20 vectors and 3 rows"):
        Vectors(VALUES, [1, 2, 3])


def test_data_of_two_axes_are_vectors_and_of_more_are_images():
    assert isinstance(as_dataset(VALUES.tolist()), Vectors)
    assert isinstance(as_dataset(torch.from_numpy(VALUES)), Vectors)
    assert isinstance(as_dataset(np.zeros((3, 8, 8))), LabeledImages)
    assert as_dataset(np.zeros((3, 8, 8)), [0, 1, 2]).factor_names == ("factor_0",)


def test_a_loader_is_read_whole_with_its_factors():
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    dataset = as_dataset(DataLoader(TorchDataset(squares), 10))
    rows = np.arange(64)
    assert np.array_equal(dataset.images(rows), squares.images(rows))
    assert np.array_equal(dataset.factors(rows), squares.factors(rows))
    plain = as_dataset(DataLoader(torch.from_numpy(VALUES), 6))
    assert np.array_equal(plain.images(np.arange(20)), VALUES)
    assert plain.factors([0]) is None


def test_a_file_of_two_axes_holds_vectors(tmp_path):
    np.save(tmp_path / "points.npy", VALUES)
    dataset = open_dataset(str(tmp_path / "points.npy"))
    assert (dataset.name, dataset.image_shape) == ("points", (5,))
    with pytest.raises(ValueError, match="channels_first"):
        open_dataset(f"{tmp_path / 'points.npy'}:channels_first=true")


def test_factors_beside_a_dataset_are_refused():
    with pytest.raises(ValueError, match="has its own factors"):
        as_dataset(XYSquares(), [1])
