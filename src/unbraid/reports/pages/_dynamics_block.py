"""How the seeds of a specification learnt, as a picture of a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.foundation import CheckpointFormatError
from unbraid.reports.figures._dynamics import draw_joint_embedding
from unbraid.selection import training_dynamics
from unbraid.studies import RunRecord
from unbraid.training import Trace

from ._embed import picture
from ._page import Picture

_MOST_SEEDS = 5
_MOST_POINTS = 1_500
"""Of a seed, over slices and observations; more would take a page seconds to write."""


@dataclass(frozen=True, eq=False)
class TrainingPaths:
    """How seeds of one configuration learned, in a space common to all of them.

    Attributes:
        seeds: Seed of each run.
        steps: Steps of training at which observations were recorded, ``(n_steps,)``.
        rows: Rows of the dataset that were observed, ``(n_observations,)``.
        embedding: First two coordinates of every observation at every step,
            ``(n_seeds, n_steps, n_observations, 2)``.
    """

    seeds: tuple[int, ...]
    steps: NDArray[np.int64]
    rows: NDArray[np.int64]
    embedding: NDArray[np.float64]


def read_paths(runs: Sequence[RunRecord]) -> TrainingPaths | None:
    """Compute how seeds learned from the traces that their runs kept.

    Args:
        runs: Finished runs that differ in their seed alone, all with active latents.

    Returns:
        ``None`` if fewer than two of them have kept traces.
    """
    found = [(run, trace) for run in runs if (trace := _trace(run)) is not None]
    found = found[:_MOST_SEEDS]
    if len(found) < 2:
        return None
    seeds = tuple(run.cell.spec.seed for run, _ in found)
    traces = [trace for _, trace in found]
    embedding = training_dynamics(traces).embedding
    return TrainingPaths(seeds, traces[0].steps, traces[0].rows, embedding)


def dynamics_picture(
    title: str, paths: TrainingPaths, *, file: str = "dynamics"
) -> Picture:
    """Draw observations during training in a space common to all seeds.

    Args:
        title: Title of the picture.
        paths: How the seeds learned.
        file: Name of a file for the numbers, without an ending.
    """
    n_rows = _most_rows(len(paths.steps))
    embedding = paths.embedding[:_MOST_SEEDS, :, :n_rows]
    names = [f"seed {seed}" for seed in paths.seeds[:_MOST_SEEDS]]
    return picture(
        title,
        draw_joint_embedding(embedding, names=names),
        words="Every point is an image at a moment of training, later ones larger; "
        "near points are treated alike by a network. Where colours mix, seeds learnt "
        "in the same way.",
        data=_data(embedding, names, paths),
        file=file,
    )


def _most_rows(n_steps: int) -> int:
    return max(_MOST_POINTS // max(n_steps, 1), 3)


def _trace(run: RunRecord) -> Trace | None:
    """What a run kept, of some observations if there are very many."""
    try:
        trace = Trace.load(run.cell.files.path)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # pruned or damaged: the other seeds do without it
    n_kept = _most_rows(len(trace.steps))
    return Trace(
        trace.layer,
        trace.rows[:n_kept],
        trace.steps,
        trace.activations[:, :n_kept],
    )


def _data(
    embedding: NDArray[np.float64], names: Sequence[str], paths: TrainingPaths
) -> pd.DataFrame:
    which, when, row = np.indices(embedding.shape[:3]).reshape(3, -1)
    points = embedding.reshape(-1, 2).round(4)
    return pd.DataFrame(
        {
            "realisation": np.array(names)[which],
            "step": paths.steps[when],
            "row": paths.rows[row],
            "first": points[:, 0],
            "second": points[:, 1],
        }
    )
