"""Figure of the training dynamics of several seeds, for a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.foundation import CheckpointFormatError
from unbraid.geometry import multislice_kernel, potential_embedding
from unbraid.reports.figures._dynamics import (
    draw_joint_embedding,
    draw_trace_embedding,
)
from unbraid.selection import training_dynamics
from unbraid.studies import RunRecord
from unbraid.training import Trace

from ._embed import picture
from ._page import Picture

_MOST_SEEDS = 5
_MOST_POINTS = 1_500
"""Maximum number of points per seed; more would take seconds to draw."""


@dataclass(frozen=True, eq=False)
class TrainingPaths:
    """Training dynamics of several seeds, in a space common to all of them.

    Attributes:
        seeds: Seed of each run.
        steps: Training steps at which observations were recorded, ``(n_steps,)``.
        rows: Rows of the dataset that were observed, ``(n_observations,)``.
        embedding: First two coordinates of every observation at every step,
            ``(n_seeds, n_steps, n_observations, 2)``.
    """

    seeds: tuple[int, ...]
    steps: NDArray[np.int64]
    rows: NDArray[np.int64]
    embedding: NDArray[np.float64]


def read_paths(runs: Sequence[RunRecord]) -> TrainingPaths | None:
    """Compute the training dynamics of several seeds from the traces of their runs.

    Args:
        runs: Finished runs that differ in their seed only, all with active latents.

    Returns:
        Figure; ``None`` if fewer than two of the runs have traces.
    """
    traced = [
        (run, trace)
        for run in runs
        if (trace := _read_trace(run.cell.files.path)) is not None
    ]
    traced = traced[:_MOST_SEEDS]
    if len(traced) < 2:
        return None
    seeds = tuple(run.cell.spec.seed for run, _ in traced)
    traces = [trace for _, trace in traced]
    embedding = training_dynamics(traces).embedding
    return TrainingPaths(seeds, traces[0].steps, traces[0].rows, embedding)


def dynamics_picture(
    title: str, paths: TrainingPaths, *, file: str = "dynamics"
) -> Picture:
    """Draw observations during training in a space common to all seeds.

    Args:
        title: Title of the picture.
        paths: Training dynamics of the seeds.
        file: Name of a file for the numbers, without an ending.
    """
    n_rows = _most_rows(len(paths.steps))
    embedding = paths.embedding[:_MOST_SEEDS, :, :n_rows]
    names = [f"seed {seed}" for seed in paths.seeds[:_MOST_SEEDS]]
    return picture(
        title,
        draw_joint_embedding(embedding, names=names),
        caption="Every point is an image at one step of training; points of later "
        "steps are larger. The network treats close points alike. Where colors mix, "
        "seeds learned in the same way.",
        data=_make_table(embedding, names, paths),
        file=file,
    )


def trace_picture(folder: Path) -> Picture | None:
    """Draw how one run learned, by M-PHATE; ``None`` if it has no trace.

    Args:
        folder: Folder of the run.
    """
    trace = _read_trace(folder)
    if trace is None or len(trace.steps) < 2:
        return None
    found = potential_embedding(multislice_kernel(trace.activations))
    n_steps, n_rows, _ = found.vectors.shape
    when, row = np.indices((n_steps, n_rows)).reshape(2, -1)
    points = found.vectors.reshape(-1, 2).round(4)
    return picture(
        "How this run learned (M-PHATE)",
        draw_trace_embedding(found.vectors, steps=trace.steps),
        caption="Every point is an image at one step of training. The network treats "
        f"close points alike. Layer {trace.layer} of the decoder, diffusion time "
        f"{found.steps}.",
        data=pd.DataFrame(
            {
                "step": trace.steps[when],
                "row": trace.rows[row],
                "first": points[:, 0],
                "second": points[:, 1],
            }
        ),
        file="m-phate",
    )


def _most_rows(n_steps: int) -> int:
    return max(_MOST_POINTS // max(n_steps, 1), 3)


def _read_trace(folder: Path) -> Trace | None:
    """Return the trace of a run, limited to some observations."""
    try:
        trace = Trace.load(folder)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # not recorded, pruned or damaged: drawn without it
    if not len(trace.steps):
        return None
    n_kept = _most_rows(len(trace.steps))
    return Trace(
        trace.layer,
        trace.rows[:n_kept],
        trace.steps,
        trace.activations[:, :n_kept],
    )


def _make_table(
    embedding: NDArray[np.float64], names: Sequence[str], paths: TrainingPaths
) -> pd.DataFrame:
    which, when, row = np.indices(embedding.shape[:3]).reshape(3, -1)
    points = embedding.reshape(-1, 2).round(4)
    return pd.DataFrame(
        {
            "run": np.array(names)[which],
            "step": paths.steps[when],
            "row": paths.rows[row],
            "first": points[:, 0],
            "second": points[:, 1],
        }
    )
