"""How the seeds of a specification learnt, as a picture of a page."""

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
"""Of a seed, over slices and observations; more would take a page seconds to write."""


def dynamics_picture(
    title: str, cells: Sequence[Cell], *, file: str = "dynamics"
) -> Picture | None:
    """Observations during training in a space common to all seeds.

    Args:
        title: Of the picture.
        cells: Finished runs that differ in their seed alone, all with active latents.
        file: Name of a file for the numbers, without an ending.

    Returns:
        ``None`` if fewer than two of them have kept traces.
    """
    found = [(cell, trace) for cell in cells if (trace := _trace(cell)) is not None]
    found = found[:_MOST_SEEDS]
    if len(found) < 2:
        return None
    names = [f"seed {cell.spec.seed}" for cell, _ in found]
    traces = [trace for _, trace in found]
    embedding = training_dynamics(traces).embedding
    return picture(
        title,
        draw_joint_embedding(embedding, names=names),
        words="Every point is an image at a moment of training, later ones larger; "
        "near points are treated alike by a network. Where colours mix, seeds learnt "
        "in the same way.",
        data=_data(embedding, names, traces[0]),
        file=file,
    )


def is_awake(cell: Cell) -> bool:
    """Whether a latent of a run says something, as far as its scores know."""
    try:
        fit = cell.files.read_scores().get("fit", {})
    except CheckpointFormatError:
        return False
    return fit.get("active_latents") != 0


def _trace(cell: Cell) -> Trace | None:
    """What a run kept, of some observations if there are very many."""
    try:
        trace = Trace.load(cell.files.path)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # pruned or damaged: the other seeds do without it
    n_kept = max(_MOST_POINTS // max(len(trace.steps), 1), 3)
    return Trace(
        trace.layer,
        trace.rows[:n_kept],
        trace.steps,
        trace.activations[:, :n_kept],
    )


def _data(
    embedding: NDArray[np.float64], names: Sequence[str], trace: Trace
) -> pd.DataFrame:
    which, when, row = np.indices(embedding.shape[:3]).reshape(3, -1)
    points = embedding.reshape(-1, 2).round(4)
    return pd.DataFrame(
        {
            "realisation": np.array(names)[which],
            "step": trace.steps[when],
            "row": trace.rows[row],
            "first": points[:, 0],
            "second": points[:, 1],
        }
    )
