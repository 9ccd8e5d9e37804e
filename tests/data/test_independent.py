import numpy as np

from unbraid.data import BatchStream, Independent, Reweighted, XYSquares
from unbraid.foundation import numpy_generator


def test_companions_do_not_depend_on_the_anchors(tiny_grid):
    draw = Independent().bind(tiny_grid)
    first = draw(np.zeros(50, dtype=np.int64), generator=numpy_generator(0))
    second = draw(np.full(50, 7), generator=numpy_generator(0))
    assert np.array_equal(first, second)
    assert first.shape == (50, 1)


def test_every_row_is_drawn_about_equally_often(tiny_grid):
    draw = Independent().bind(tiny_grid)
    rows = draw(np.zeros(16_000, dtype=np.int64), generator=numpy_generator(0))
    counts = np.bincount(rows[:, 0], minlength=16)
    assert abs(counts - 1000).max() < 150


def test_weights_of_the_dataset_count(tiny_grid):
    weights = np.zeros(16)
    weights[[3, 5]] = 1.0
    draw = Independent().bind(Reweighted(tiny_grid, weights))
    rows = draw(np.zeros(100, dtype=np.int64), generator=numpy_generator(0))
    assert set(rows[:, 0]) == {3, 5}


def test_a_stream_gives_a_second_batch_of_the_same_size():
    squares = XYSquares(n_squares=1, image_size=8, square_size=1)
    batch = BatchStream(dataset=squares, size=5, sampler=Independent()).batch(0)
    assert batch.partner_images[0].shape == batch.images.shape
