"""Populations of finished studies, for the claims of Estermann et al. (2020)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.reports._drawing import label_of
from unbraid.studies import Evolution, RunSpec
from unbraid.studies._store import Cell

from ._evidence import Evidence

SUPERVISED, RECURSIVE, PLAIN = (
    "estermann-2020-fig1",
    "estermann-2020-fig6",
    "estermann-2020-fig4-plain",
)
SCORES = {"mig": "MIG", "dci_disentanglement": "DCI disentanglement"}


def in_words(spec: RunSpec) -> str:
    """A population without its seed."""
    evolution = spec.evolution
    if evolution is None:
        return label_of(spec.objective["name"].replace("_", " "))
    if evolution.method == "recursive":
        return f"rPU-VAE, {evolution.recursion.leaf_runs} leaf runs"
    if evolution.population.generations == 1:
        return f"trained apart, {evolution.labels or 'all'} labels"
    labels = f"{evolution.labels or 'all'} labels"
    return f"population by {evolution.metric}, {labels}"


def scores_of(
    evidence: Evidence,
    study: str,
    score: str,
    is_meant: Callable[[Evolution], bool] | None = None,
) -> NDArray[np.float64]:
    """Scores of some runs of a study, in the order of their seeds.

    Args:
        evidence: With that study.
        study: Its name.
        score: Name of the score.
        is_meant: Says of the settings of a population whether it is one of them; all
            runs when not given.
    """
    some = [
        cell
        for cell in evidence.cells(study)
        if is_meant is None or (cell.spec.evolution and is_meant(cell.spec.evolution))
    ]
    some.sort(key=lambda cell: cell.spec.seed)
    return np.array([_score(cell, score) for cell in some])


def population_table(evidence: Evidence, *studies: str) -> pd.DataFrame:
    """A row per run: its setting in words, and its scores."""
    rows = [
        {
            "setting": in_words(cell.spec),
            **{f"score.{name}": _score(cell, name) for name in SCORES},
        }
        for study in studies
        for cell in evidence.cells(study)
    ]
    return pd.DataFrame(rows)


def stage_folders(cell: Cell) -> dict[str, Path]:
    """Winner of every stage of a recursion, by the name of the stage."""
    stages = cell.place.read_scores()["evolution"]["stages"]
    populations = cell.place.path.parents[1] / "populations"
    return {
        stage["name"]: populations / stage["population"] / "winner" for stage in stages
    }


def _score(cell: Cell, name: str) -> float:
    return float(cell.place.read_scores()["scores"][name]["value"])
