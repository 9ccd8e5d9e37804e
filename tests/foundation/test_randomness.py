import numpy as np
import pytest
import torch

from unbraid.foundation import hashed_bytes, numpy_generator, torch_generator


def test_the_same_seed_and_name_give_the_same_numbers():
    a, b = (numpy_generator(3, "batches", 7).random(5) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    c, d = (torch.rand(5, generator=torch_generator(3, "x")) for _ in range(2))
    assert torch.equal(c, d)


@pytest.mark.parametrize(
    "other",
    [(3, "batches", 8), (4, "batches", 7), (3, "batches7"), (3, "batches", "7")],
)
def test_another_seed_or_name_gives_other_numbers(other):
    assert not np.array_equal(
        numpy_generator(3, "batches", 7).random(5), numpy_generator(*other).random(5)
    )


def test_streams_are_the_same_on_every_machine():
    # Recorded once; a change here changes every result that was ever published.
    assert numpy_generator(0, "batches").integers(10**6) == 547348
    assert hashed_bytes(0, np.array([0, 1]), 3).tolist() == [
        [12, 51, 239],
        [67, 236, 244],
    ]
    draw = torch.rand(1, generator=torch_generator(0, "posterior"))
    assert draw.item() == 0.7196255922317505


@pytest.mark.parametrize("seed", [-1, 1.7, "3", None])
def test_seeds_that_are_none_are_refused(seed):
    with pytest.raises(ValueError, match="seed must be a non-negative integer"):
        numpy_generator(seed, "x")


def test_numpy_integers_count_as_integers():
    plain, numpy = (
        numpy_generator(seed, "x", step).random(3)
        for seed, step in ((3, 70), (np.int64(3), np.int64(70)))
    )
    np.testing.assert_array_equal(plain, numpy)


def test_hashed_bytes_are_uniform_and_uncorrelated_between_neighbors():
    # 1000 indices x 1000 bytes: a share of 1/256 each has a standard error of 6e-5.
    values = hashed_bytes(1, np.arange(1000), 1000)
    shares = np.bincount(values.ravel(), minlength=256) / values.size
    assert np.abs(shares - 1 / 256).max() < 5 * 6.3e-5
    rows = values.astype(float) - values.mean()
    correlation = (rows[:-1] * rows[1:]).mean() / rows.var()
    assert abs(correlation) < 5e-3
    assert len(np.unique(values, axis=0)) == 1000


def test_hashed_bytes_belong_to_the_index_and_not_to_the_batch():
    alone = hashed_bytes(5, np.array([123456789]), 100)
    among = hashed_bytes(5, np.array([1, 123456789, 2]), 100)
    np.testing.assert_array_equal(alone[0], among[1])
    prefix = hashed_bytes(5, np.array([123456789]), 13)
    np.testing.assert_array_equal(prefix[0], among[1, :13])
