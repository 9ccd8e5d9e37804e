import numpy as np
import pytest

from unbraid.metrics._splits import split_rows


def sizes(n_rows, **wanted):
    split = split_rows(n_rows, generator=np.random.default_rng(0), **wanted)
    together = np.concatenate([split.train, split.test])
    assert len(np.unique(together)) == len(together)
    return len(split.train), len(split.test)


def test_rows_are_drawn_once_and_as_many_as_are_wanted():
    assert sizes(100, n_train=30, n_test=20) == (30, 20)


@pytest.mark.parametrize("n_rows", [2, 3, 10, 60])
def test_a_small_table_leaves_a_row_to_learn_from_and_one_to_test_on(n_rows):
    for n_train, n_test in ((40, 5000), (5000, 40)):
        train, test = sizes(n_rows, n_train=n_train, n_test=n_test)
        assert train + test == n_rows
        assert min(train, test) >= 1


def test_no_rows_to_test_on_may_be_asked_for():
    assert sizes(10, n_train=40, n_test=0) == (10, 0)
