import itertools

import numpy as np
import pytest
import torch

from unbraid.data import (
    BatchStream,
    Pairs,
    Reweighted,
    Room3D,
    TorchDataset,
    Triplets,
    XYObject,
    XYSquares,
    channel_statistics,
)


def test_a_batch_holds_the_images_and_factors_of_its_rows():
    squares = XYSquares()
    stream = BatchStream(dataset=squares, size=32, seed=4)
    batch, rows = stream.batch(3), stream.rows(3)[:, 0]
    np.testing.assert_array_equal(
        (batch.images.numpy() * 255).round(), squares.images(rows)
    )
    np.testing.assert_array_equal(batch.factors.numpy(), squares.factors(rows))
    assert batch.images.dtype == torch.float32
    assert float(batch.images.min()) == 0.0
    assert float(batch.images.max()) == 1.0


@pytest.mark.parametrize("order", ["iid", "shuffled"])
@pytest.mark.parametrize("sampler", [Pairs(), Triplets()])
def test_a_stream_entered_late_goes_on_as_if_never_left(order, sampler):
    def make():
        return BatchStream(
            dataset=XYSquares(image_size=8, square_size=1),
            size=16,
            seed=9,
            order=order,
            sampler=sampler,
        )

    steps = 130  # crosses two blocks of drawn rows
    whole = list(itertools.islice(make(), steps))
    for start in (0, 1, 63, 64, 129):
        late = next(make().starting_at(start))
        assert torch.equal(late.images, whole[start].images)
        for a, b in zip(late.partner_images, whole[start].partner_images, strict=True):
            assert torch.equal(a, b)


def test_the_seed_decides_the_rows():
    a, b, c = (
        BatchStream(dataset=XYObject(), size=64, seed=seed).rows(0)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("size", [1, 3, 6, 7, 20])
def test_shuffled_batches_show_every_row_once_per_round(plain_images, size):
    stream = BatchStream(dataset=plain_images, size=size, order="shuffled", seed=2)
    seen = np.concatenate([stream.rows(step)[:, 0] for step in range(60)])
    rounds = seen[: len(seen) // 6 * 6].reshape(-1, 6)
    assert (np.sort(rounds, axis=1) == np.arange(6)).all()
    assert len(np.unique(rounds, axis=0)) > 1


def test_independent_rows_are_uniform(plain_images):
    stream = BatchStream(dataset=plain_images, size=100, seed=0)
    counts = np.bincount(np.concatenate([stream.rows(t)[:, 0] for t in range(120)]))
    # 12,000 draws of six rows: 2,000 expected each, standard deviation 41.
    assert np.abs(counts - 2000).max() < 5 * 41


def test_independent_rows_follow_the_weights(plain_images):
    weighted = Reweighted(plain_images, np.array([0.0, 1, 2, 3, 0, 6]))
    stream = BatchStream(dataset=weighted, size=100, seed=0)
    rows = np.concatenate([stream.rows(t)[:, 0] for t in range(120)])
    counts = np.bincount(rows, minlength=6)
    assert counts[0] == counts[4] == 0
    np.testing.assert_allclose(counts[[1, 2, 3, 5]] / 1000, [1, 2, 3, 6], rtol=0.15)


def test_images_without_labels_give_batches_without_factors(plain_images):
    batch = BatchStream(dataset=plain_images, size=5).batch(0)
    assert batch.factors is None
    assert batch.partner_images == batch.partner_factors == ()


def test_pairs_and_triplets_bring_their_partners():
    squares = XYSquares()
    stream = BatchStream(dataset=squares, size=8, sampler=Triplets())
    batch, rows = stream.batch(0), stream.rows(0)
    assert len(batch.partner_images) == len(batch.partner_factors) == 2
    np.testing.assert_array_equal(
        (batch.partner_images[1].numpy() * 255).round(), squares.images(rows[:, 2])
    )
    np.testing.assert_array_equal(
        batch.partner_factors[0].numpy(), squares.factors(rows[:, 1])
    )


def test_standardised_batches_have_the_published_mean_and_spread():
    squares = XYSquares()
    statistics = channel_statistics(squares, rows=range(512))
    stream = BatchStream(dataset=squares, size=256, standardise=statistics)
    images = stream.batch(0).images
    assert images.mean(dim=(0, 2, 3)).abs().max() < 1e-5
    spread = images.flatten(2).std(dim=2).mean(dim=0)
    np.testing.assert_allclose(spread.numpy(), 1.0, rtol=1e-4)


def test_batches_that_are_kept_are_not_overwritten():
    stream = BatchStream(dataset=XYSquares(image_size=8, square_size=1), size=16)
    kept = list(itertools.islice(stream, 30))
    for step, batch in enumerate(kept):
        assert torch.equal(batch.images, stream.batch(step).images)


def test_channels_last_images_stay_channels_last():
    room = Room3D(image_size=16)
    images = BatchStream(dataset=room, size=8).batch(0).images
    expected = room.images(BatchStream(dataset=room, size=8).rows(0)[:, 0])
    np.testing.assert_array_equal((images.numpy() * 255).round(), expected)


def test_wrong_settings_are_refused(plain_images):
    with pytest.raises(ValueError, match="size of at least 1"):
        BatchStream(dataset=plain_images, size=0)
    with pytest.raises(ValueError, match="'iid' or 'shuffled'"):
        BatchStream(dataset=plain_images, order="sorted")
    with pytest.raises(ValueError, match="step from 0"):
        BatchStream(dataset=plain_images).batch(-1)
    with pytest.raises(ValueError, match="order 'iid' for a dataset with weights"):
        BatchStream(dataset=Reweighted(plain_images, np.ones(6)), order="shuffled")


def test_torch_loaders_fetch_items_with_or_without_labels(plain_images):
    loader = torch.utils.data.DataLoader(TorchDataset(plain_images), batch_size=4)
    first, second = loader
    assert first.shape == (4, 1, 8, 8)
    assert second.shape == (2, 1, 8, 8)
    image, factors = TorchDataset(XYSquares())[8]
    assert image.shape == (3, 64, 64)
    assert factors.tolist() == [0, 0, 0, 0, 1, 0]
