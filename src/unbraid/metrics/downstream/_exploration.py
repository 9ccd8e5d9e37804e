"""Random walks of an agent that moves a sprite through the rows of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._grid import Grid, complete_grid
from unbraid.metrics._inputs import Factors


@dataclass(frozen=True)
class World:
    """Rows of a table as states that a sprite can reach.

    Attributes:
        factors: Factors of all rows.
        columns: Columns of the position factors.
        grid: Grid of the table, if it has every combination of values.
        rows: Rows whose cell is known, sorted by cell.
        cells: Numbers of their cells (cluster and position), ascending.
        cell_of_row: Number of the cell of each row of the table; -1 if unknown.
        strides: Difference of cell numbers per step of each position factor,
            ``(n_columns,)``.
    """

    factors: Factors
    columns: list[int]
    grid: Grid | None
    rows: NDArray[np.int64]
    cells: NDArray[np.int64]
    cell_of_row: NDArray[np.int64]
    strides: NDArray[np.int64]


def make_world(factors: Factors, columns: list[int], cluster: int) -> World:
    """Sort the rows of a table by cluster and position."""
    used = [cluster, *columns]
    sizes = [factors.sizes[k] for k in used]
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    known = factors.known[:, used].all(axis=1)
    cell_of_row = np.where(known, factors.labels[:, used] @ strides, -1)
    order = np.argsort(cell_of_row, kind="stable")[np.count_nonzero(~known) :]
    return World(
        factors=factors,
        columns=columns,
        grid=complete_grid(factors),
        rows=order,
        cells=cell_of_row[order],
        cell_of_row=cell_of_row,
        strides=strides[1:],
    )


def explore(
    world: World,
    *,
    n_steps: int,
    episode_length: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the rows visited by random walks from random rows, ``(n_steps,)``.

    Args:
        world: States and moves.
        n_steps: Total number of steps.
        episode_length: Number of steps of each walk.
        generator: Source of randomness.

    Raises:
        ValueError: If no step leads anywhere.
    """
    n_episodes = -(-n_steps // episode_length)
    starts = generator.choice(world.rows, size=n_episodes)
    visited = np.empty((n_episodes, episode_length), dtype=np.int64)
    rows = starts.copy()
    # All walks at once, a step at a time.
    for step in range(episode_length):
        which = generator.integers(len(world.columns), size=n_episodes)
        for i in range(len(world.columns)):
            moving = np.flatnonzero(which == i)
            rows[moving] = _move(world, rows[moving], i, generator)
        visited[:, step] = rows
    if (visited == starts[:, None]).all():
        raise ValueError(
            "clustering_sample_efficiency needs rows of the same cluster at "
            f"neighboring positions, but there were none in {n_steps} steps. Give more "
            "rows, or position factors with fewer values."
        )
    return visited.ravel()[:n_steps]


def _move(
    world: World, rows: NDArray[np.int64], i: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows reached when a position factor moves by a step."""
    column = world.columns[i]
    now = world.factors.labels[rows, column]
    size, kind = world.factors.sizes[column], world.factors.kinds[column]
    step = generator.choice([-1, 1], size=len(rows))
    if kind == "categorical":
        wanted = generator.integers(size, size=len(rows))
    elif kind == "cyclic":
        wanted = (now + step) % size
    else:
        wanted = np.clip(now + step, 0, size - 1)
    if world.grid is not None:
        return world.grid.change(rows, column, wanted)
    cells = world.cell_of_row[rows] + (wanted - now) * world.strides[i]
    first = np.searchsorted(world.cells, cells, side="left")
    n_there = np.searchsorted(world.cells, cells, side="right") - first
    picked = first + generator.integers(np.maximum(n_there, 1))
    # A cell without rows is a wall; it may lie beyond the last one.
    reached = world.rows[np.minimum(picked, len(world.rows) - 1)]
    return np.where((n_there > 0) & (wanted != now), reached, rows)
