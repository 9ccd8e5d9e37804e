"""Figure of the training dynamics of several seeds, for a page."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.foundation import CheckpointFormatError
from unbraid.reports.figures._dynamics import draw_joint_embedding
from unbraid.selection import training_dynamics
from unbraid.studies import Cell
from unbraid.training import Trace

from ._embed import picture
from ._page import Picture

_MOST_SEEDS = 5
_MOST_POINTS = 1_500
"""Maximum number of points per seed; more would take seconds to draw."""


def dynamics_picture(
    title: str, cells: Sequence[Cell], *, file: str = "dynamics"
) -> Picture | None:
    """Return a figure of how several seeds of one configuration learn.

    Args:
        title: Title of the figure.
        cells: Finished runs that differ in their seed only, all with active latents.
        file: File name for the numbers, without extension.

    Returns:
        Figure; ``None`` if fewer than two of the runs have traces.
    """
    traced = [
        (cell, trace) for cell in cells if (trace := _read_trace(cell)) is not None
    ][:_MOST_SEEDS]
    if len(traced) < 2:
        return None
    names = [f"seed {cell.spec.seed}" for cell, _ in traced]
    traces = [trace for _, trace in traced]
    embedding = training_dynamics(traces).embedding
    return picture(
        title,
        draw_joint_embedding(embedding, names=names),
        caption="Every point is an image at one step of training; points of later "
        "steps are larger. The network treats close points alike. Where colors mix, "
        "seeds learned in the same way.",
        data=_make_table(embedding, names, traces[0]),
        file=file,
    )


def has_active_latents(cell: Cell) -> bool:
    """Return whether a run has active latents, according to its scores."""
    try:
        fit = cell.files.read_scores().get("fit", {})
    except CheckpointFormatError:
        return False
    return fit.get("active_latents") != 0


def _read_trace(cell: Cell) -> Trace | None:
    """Return the trace of a run, limited to some observations."""
    try:
        trace = Trace.load(cell.files.path)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # pruned or damaged: drawn without it
    n_kept = max(_MOST_POINTS // max(len(trace.steps), 1), 3)
    return Trace(
        trace.layer,
        trace.rows[:n_kept],
        trace.steps,
        trace.activations[:, :n_kept],
    )


def _make_table(
    embedding: NDArray[np.float64], names: Sequence[str], trace: Trace
) -> pd.DataFrame:
    which, when, row = np.indices(embedding.shape[:3]).reshape(3, -1)
    points = embedding.reshape(-1, 2).round(4)
    return pd.DataFrame(
        {
            "run": np.array(names)[which],
            "step": trace.steps[when],
            "row": trace.rows[row],
            "first": points[:, 0],
            "second": points[:, 1],
        }
    )
