"""Populations of finished studies, for the claims of Estermann et al. (2020)."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.evolution import Evolution
from unbraid.reports.figures import label_of
from unbraid.studies import Cell, RunSpec

from ._datasets import dataset_names
from ._score_panels import draw_score_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUPERVISED, RECURSIVE, PLAIN, BOTH = (
    "estermann-2020-fig1",
    "estermann-2020-fig6",
    "estermann-2020-fig4-plain",
    "estermann-2020-fig4",
)
SCORES = {"mig": "MIG", "dci_disentanglement": "DCI disentanglement"}


def describe_population(spec: RunSpec) -> str:
    """Return a description of a population, without its seed."""
    evolution = spec.evolution
    if evolution is None:
        return label_of(spec.objective["name"].replace("_", " "))
    if evolution.method == "recursive":
        return f"rPU-VAE, {evolution.recursion.leaf_runs} leaf runs"
    if evolution.population.generations == 1:
        return f"trained apart, {evolution.labels or 'all'} labels"
    labels = f"{evolution.labels or 'all'} labels"
    return f"population by {evolution.metric}, {labels}"


def by_dataset(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Group runs by the short name of their dataset, in order of their seeds.

    Args:
        cells: Runs of one or more studies.
    """
    every = list(cells)
    names = dataset_names(str(cell.spec.data) for cell in every)
    return {
        name: sorted(
            (cell for cell in every if str(cell.spec.data) == data),
            key=lambda cell: cell.spec.seed,
        )
        for data, name in names.items()
    }


def scores_of(
    cells: Iterable[Cell],
    score: str,
    is_meant: Callable[[Evolution], bool] | None = None,
) -> NDArray[np.float64]:
    """Return the scores of some runs, in order of their seeds.

    Args:
        cells: Runs on one dataset; scores on different datasets do not compare.
        score: Name of the score.
        is_meant: Function that selects populations by their settings. Default: all
            runs.

    Raises:
        ValueError: If the runs are on several datasets.
    """
    some = [
        cell
        for cell in cells
        if is_meant is None or (cell.spec.evolution and is_meant(cell.spec.evolution))
    ]
    datasets = sorted({str(cell.spec.data) for cell in some})
    if len(datasets) > 1:
        raise ValueError(
            "scores_of needs runs on one dataset, got runs on "
            f"{' and '.join(datasets)}. Measure each dataset separately."
        )
    some.sort(key=lambda cell: cell.spec.seed)
    return np.array([_score(cell, score) for cell in some])


def is_supervised(evolution: Evolution) -> bool:
    """Return whether a population is scored by MIG with all labels."""
    return (
        evolution.method == "supervised"
        and evolution.metric == "mig"
        and evolution.labels is None
        and evolution.population.generations > 1
    )


def has_leaf_runs(number: int) -> Callable[[Evolution], bool]:
    """Return a function that selects recursions with a number of leaf runs."""
    return lambda evolution: (
        evolution.method == "recursive" and evolution.recursion.leaf_runs == number
    )


def leaf_run_numbers(cells: Iterable[Cell]) -> list[int]:
    """Return the numbers of leaf runs of recursions, in ascending order."""
    evolutions = [cell.spec.evolution for cell in cells]
    return sorted(
        {
            evolution.recursion.leaf_runs
            for evolution in evolutions
            if evolution and evolution.method == "recursive"
        }
    )


def population_table(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return a table with dataset, setting and scores of each run."""
    rows = [
        {
            "dataset": dataset,
            "setting": describe_population(cell.spec),
            **{f"score.{name}": _score(cell, name) for name in SCORES},
        }
        for dataset, some in by_dataset(cells).items()
        for cell in some
    ]
    return pd.DataFrame(rows)


def draw_populations(cells: Iterable[Cell]) -> "Figure":
    """Draw the MIG of every run, by setting and dataset."""
    table = population_table(cells)
    several = len(set(table["dataset"])) > 1
    by = ["dataset", "setting"] if several else "setting"
    return draw_score_panels(table, by, {"score.mig": "MIG"})


def stage_folders(cell: Cell) -> dict[str, Path]:
    """Return the folder of the winner of every stage of a recursion, by name."""
    stages = cell.files.read_scores()["evolution"]["stages"]
    populations = cell.files.path.parents[1] / "populations"
    return {
        stage["name"]: populations / stage["population"] / "winner" for stage in stages
    }


def _score(cell: Cell, name: str) -> float:
    return float(cell.files.read_scores()["scores"][name]["value"])
