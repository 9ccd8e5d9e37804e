import numpy as np
import pytest

from unbraid.data import BatchStream, LabeledRows, Pairs
from unbraid.foundation import numpy_generator

ANCHORS = np.zeros(400, dtype=np.int64)


def drawn(sampler, dataset, seed=0):
    return sampler.companions(dataset, ANCHORS, generator=numpy_generator(seed))


def test_rows_come_from_a_set_that_stays(tiny_grid):
    sampler = LabeledRows(n_labels=5, seed=1)
    first, second = (np.unique(drawn(sampler, tiny_grid, seed)) for seed in (0, 1))
    assert len(first) == 5
    assert np.array_equal(first, second)


def test_another_seed_gives_another_set(tiny_grid):
    sets = {
        tuple(np.unique(drawn(LabeledRows(n_labels=5, seed=seed), tiny_grid)))
        for seed in range(5)
    }
    assert len(sets) > 1


def test_companions_of_another_sampler_come_first(tiny_grid):
    sampler = LabeledRows(n_labels=2, after=Pairs(n_changed=1))
    rows = drawn(sampler, tiny_grid)
    assert sampler.n_companions == 2
    assert rows.shape == (400, 2)
    changed = tiny_grid.factors(rows[:, 0]) != tiny_grid.factors(ANCHORS)
    assert (changed.sum(axis=1) == 1).all()
    assert len(np.unique(rows[:, 1])) == 2


def test_a_batch_has_labeled_images_and_their_labels(tiny_grid):
    stream = BatchStream(dataset=tiny_grid, size=8, sampler=LabeledRows(n_labels=3))
    batch = stream.batch(0)
    rows = stream.rows(0)[:, 1]
    assert np.array_equal(batch.partner_factors[0], tiny_grid.factors(rows))
    expected = tiny_grid.images(rows) / np.float32(255)
    np.testing.assert_allclose(batch.partner_images[0], expected, rtol=1e-6)


def test_impossible_numbers_and_missing_labels_are_refused(tiny_grid, plain_images):
    with pytest.raises(ValueError, match="n_labels must be at least 1, got 0"):
        LabeledRows(n_labels=0)
    with pytest.raises(ValueError, match="n_labels must be at most 16, got 17"):
        LabeledRows(n_labels=17).bind(tiny_grid)
    with pytest.raises(ValueError, match="Labels are required"):
        LabeledRows(n_labels=1).bind(plain_images)
