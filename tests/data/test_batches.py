import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from unbraid.data import (
    BatchStream,
    LabeledImages,
    Pairs,
    Reweighted,
    Subset,
    TorchDataset,
    Triplets,
    XYObject,
    XYSquares,
    channel_statistics,
)
from unbraid.foundation import numpy_generator

ROWS = {
    "iid": [[18140, 178307], [168321, 39814], [125877, 76381]],
    "shuffled": [[170797, 68820], [253333, 120722], [97986, 49066]],
}


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


def test_standardized_batches_have_the_published_mean_and_spread():
    squares = XYSquares()
    statistics = channel_statistics(squares, rows=range(512))
    stream = BatchStream(dataset=squares, size=256, standardize=statistics)
    images = stream.batch(0).images
    assert images.mean(dim=(0, 2, 3)).abs().max() < 1e-5
    spread = images.flatten(2).std(dim=2).mean(dim=0)
    np.testing.assert_allclose(spread.numpy(), 1.0, rtol=1e-4)


def test_batches_that_are_kept_are_not_overwritten():
    stream = BatchStream(dataset=XYSquares(image_size=8, square_size=1), size=16)
    kept = list(itertools.islice(stream, 30))
    for step, batch in enumerate(kept):
        assert torch.equal(batch.images, stream.batch(step).images)


def test_images_keep_their_memory_layout():
    pixels = numpy_generator(0).integers(0, 256, (20, 6, 5, 3), dtype=np.uint8)
    stream = BatchStream(dataset=LabeledImages(pixels), size=8)
    images = stream.batch(0).images
    assert images.is_contiguous(memory_format=torch.channels_last)
    expected = pixels[stream.rows(0)[:, 0]].transpose(0, 3, 1, 2)
    np.testing.assert_array_equal((images.numpy() * 255).round(), expected)
    assert BatchStream(dataset=XYSquares(), size=8).batch(0).images.is_contiguous()


def test_rows_are_the_same_in_every_version():
    # Recorded once; a change here changes every run that was ever made.
    tiny = XYSquares(image_size=8, square_size=1)
    made = {
        order: BatchStream(dataset=tiny, size=3, seed=1, order=order, sampler=Pairs())
        for order in ("iid", "shuffled")
    }
    assert made["iid"].rows(70).tolist() == ROWS["iid"]
    assert made["shuffled"].rows(70).tolist() == ROWS["shuffled"]


@pytest.mark.parametrize("order", ["iid", "shuffled"])
def test_steps_and_seeds_differ_in_anchors_and_in_companions(order):
    tiny = XYSquares(image_size=8, square_size=1, n_squares=1)

    def rows(seed, step):
        stream = BatchStream(
            dataset=tiny, size=64, seed=seed, order=order, sampler=Pairs()
        )
        return stream.rows(step)

    here = rows(0, 1)
    for other in (rows(0, 2), rows(0, 65), rows(1, 1)):
        assert not np.array_equal(here[:, 0], other[:, 0])
    # The same anchor gets another partner at another step and under another seed.
    for other in (rows(0, 2), rows(1, 1)):
        first, second = np.argsort(here[:, 0]), np.argsort(other[:, 0])
        assert not np.array_equal(here[first, 1], other[second, 1])


def test_a_step_from_an_array_is_the_same_step():
    stream = BatchStream(dataset=XYSquares(), size=4)
    np.testing.assert_array_equal(stream.rows(70), stream.rows(np.int64(70)))


def test_rows_that_are_handed_out_cannot_change_the_stream():
    stream = BatchStream(dataset=XYSquares(), size=4)
    with pytest.raises(ValueError, match="read-only"):
        stream.rows(0)[:] = 0


def test_a_stream_in_use_can_be_sent_to_another_process():
    stream = BatchStream(dataset=XYSquares(), size=4, sampler=Pairs())
    stream.batch(0)
    copy = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(copy.rows(5), stream.rows(5))


def test_threads_see_the_pairs_of_their_seed():
    rows = np.sort(numpy_generator(0).choice(262_144, 20_000, replace=False))
    part = Subset(XYSquares(), rows)

    def make():
        return BatchStream(dataset=part, size=32, sampler=Pairs(n_changed=2))

    shared, alone = make(), make()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(shared.rows, range(40)))
    for step, found in enumerate(together):
        np.testing.assert_array_equal(found, alone.rows(step))


def test_a_constant_channel_is_only_shifted(plain_images):
    flat = channel_statistics(plain_images, rows=[3])
    images = BatchStream(dataset=plain_images, size=4, standardize=flat).batch(0).images
    assert bool(torch.isfinite(images).all())


def test_huge_weights_do_not_overflow(plain_images):
    heavy = Reweighted(plain_images, np.full(6, 1e308))
    counts = np.bincount(BatchStream(dataset=heavy, size=600).rows(0)[:, 0])
    assert len(counts) == 6
    assert counts.min() > 50


def test_wrong_settings_are_refused(plain_images):
    with pytest.raises(ValueError, match="size must be at least 1"):
        BatchStream(dataset=plain_images, size=0)
    with pytest.raises(ValueError, match="size must be an integer, got 2.5"):
        BatchStream(dataset=plain_images, size=2.5)
    with pytest.raises(ValueError, match="seed must be a non-negative integer"):
        BatchStream(dataset=plain_images, seed=-1)
    with pytest.raises(ValueError, match="'iid' or 'shuffled'"):
        BatchStream(dataset=plain_images, order="sorted")
    with pytest.raises(ValueError, match="step must be at least 0"):
        BatchStream(dataset=plain_images).batch(-1)
    with pytest.raises(
        ValueError, match="order must be 'iid' for a dataset with weights"
    ):
        BatchStream(dataset=Reweighted(plain_images, np.ones(6)), order="shuffled")


def test_torch_loaders_fetch_items_with_or_without_labels(plain_images):
    loader = torch.utils.data.DataLoader(TorchDataset(plain_images), batch_size=4)
    first, second = loader
    assert first.shape == (4, 1, 8, 8)
    assert second.shape == (2, 1, 8, 8)
    image, factors = TorchDataset(XYSquares())[8]
    assert image.shape == (3, 64, 64)
    assert factors.tolist() == [0, 0, 0, 0, 1, 0]
