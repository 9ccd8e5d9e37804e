import numpy as np
import pytest

from unbraid.metrics import Factors
from unbraid.metrics._resampling import SharedFactorRows, grid_note, is_complete_grid

GRID = np.stack(np.meshgrid(range(3), range(4), range(2), indexing="ij"), axis=-1)
GRID = GRID.reshape(-1, 3)


def generator():
    return np.random.default_rng(0)


def test_a_group_shares_the_value_of_its_factor():
    factors = Factors(generator().integers(0, 5, size=(200, 3)))
    fixed = generator().integers(0, 3, size=500)
    rows = SharedFactorRows(factors).draw(fixed, size=6, generator=generator())
    values = factors.labels[rows, fixed[:, None]]
    assert rows.shape == (500, 6)
    assert (values == values[:, :1]).all()


def test_on_a_shuffled_grid_factors_are_uniform_and_the_others_independent():
    order = generator().permutation(len(GRID))
    fixed = np.ones(40_000, dtype=int)
    rows = SharedFactorRows(Factors(GRID[order])).draw(
        fixed, size=2, generator=generator()
    )
    first, second = GRID[order][rows[:, 0]], GRID[order][rows[:, 1]]
    cells = np.ravel_multi_index(
        (*first.T, second[:, 0], second[:, 2]), (3, 4, 2, 3, 2)
    )
    shares = np.bincount(cells, minlength=144) / len(fixed)
    # Five standard errors of a share of 1/144 of 40,000 draws.
    assert shares == pytest.approx(np.full(144, 1 / 144), abs=0.0021)


def test_on_another_table_values_come_as_often_as_they_do_there():
    factors = Factors(np.repeat([0, 1], [900, 100]))
    fixed = np.zeros(10_000, dtype=int)
    rows = SharedFactorRows(factors).draw(fixed, size=3, generator=generator())
    assert (rows[:, 1] >= 900).mean() == pytest.approx(0.1, abs=0.015)


def test_rows_with_a_missing_label_are_never_drawn_for_that_factor():
    values = GRID.astype(float)
    values[::2, 0] = np.nan
    values[0, 1] = np.nan
    sampler = SharedFactorRows(Factors(values))
    for factor in range(3):
        fixed = np.full(2000, factor)
        rows = sampler.draw(fixed, size=4, generator=generator())
        drawn = np.unique(rows)
        known = np.flatnonzero(~np.isnan(values[:, factor]))
        assert drawn.tolist() == known.tolist()


def test_continuous_values_are_shared_by_bin():
    values = generator().uniform(size=1000)
    rows = SharedFactorRows(Factors(values)).draw(
        np.zeros(300, dtype=int), size=5, generator=generator()
    )
    assert np.ptp(values[rows], axis=1).max() <= 1 / 20


@pytest.mark.parametrize(
    ("table", "complete"),
    [
        (GRID, True),
        (GRID[::-1], True),
        (10 * GRID + 3, True),
        (GRID[:-1], False),
        (np.vstack([GRID[:-1], GRID[:1]]), False),
        (np.where(GRID == 3, np.nan, GRID), False),
    ],
)
def test_a_complete_grid_has_every_combination_once(table, complete):
    assert is_complete_grid(Factors(table)) is complete
    assert bool(grid_note(Factors(table))) is not complete
