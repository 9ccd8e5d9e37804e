"""In the joint space of several runs, images are in order of their position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from unbraid.data import open_dataset
from unbraid.foundation import numpy_generator
from unbraid.geometry import joint_embedding, multislice_kernel, potential_embedding
from unbraid.reports.figures import new_figure
from unbraid.selection import training_dynamics
from unbraid.studies import Cell
from unbraid.training import Trace
from unbraid_claims import Check, Claim, Evidence, Measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = "latent-numbers"
_NEIGHBORS = 5


def measure(evidence: Evidence) -> Measured:
    """Predict the position in an image from the nearest images of other runs."""
    cells = evidence.cells(STUDY)
    fewest = min(cell.spec.training.n_latents for cell in cells)
    own = [cell for cell in cells if cell.spec.training.n_latents == fewest]
    traces = [Trace.load(cell.files.path) for cell in own]
    positions = read_positions(own[0], traces[0])
    embedding = training_dynamics(traces).embedding
    share, interval = explained_by_other_runs(embedding[:, -1], positions)
    checks = [
        Check(
            quantity="joint space, end of training: share of the variance of x + 64 y "
            f"explained by the {_NEIGHBORS} nearest images of other runs",
            expected="roughly aligned by the position, above 0.5",
            value=share,
            interval=interval,
            least=0.5,
        )
    ]
    return Measured(
        checks=checks,
        figure=_draw(traces, embedding, positions),
        remark="The first three panels are single runs, the fourth is the joint space "
        "of all runs, and the last is the first run by M-PHATE. Larger points are "
        "later steps. Positions are scaled from 0 to 63.",
    )


def read_positions(cell: Cell, trace: Trace) -> NDArray[np.float64]:
    """Return x + 64 y of the traced images, with positions from 0 to 63."""
    dataset = open_dataset(cell.spec.data)
    factors, space = dataset.factors(trace.rows), dataset.factor_space
    assert factors is not None
    assert space is not None
    x, y = (
        63.0 * factors[:, index] / (space.sizes[index] - 1)
        for index in map(space.names.index, ("position_x", "position_y"))
    )
    return x + 64.0 * y


def explained_by_other_runs(
    points: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[float, tuple[float, float]]:
    """Return the share of variance that neighbors in other runs explain.

    Neighbors are other images in other runs, so that neither an image nor the shape of
    a single run explains itself.

    Args:
        points: Coordinates, ``(n_runs, n_images, 2)``.
        values: Value of each image, ``(n_images,)``.

    Returns:
        The share, 1 minus the mean squared error over the variance, and its 95%
        interval over resampled images.

    Example:
        >>> line = np.arange(50.0)
        >>> points = np.stack([np.column_stack([line, line])] * 3)
        >>> explained_by_other_runs(points, line)[0] > 0.95
        True
    """
    n_runs, n_images, _ = points.shape
    which, image = np.indices((n_runs, n_images)).reshape(2, -1)
    flat = points.reshape(-1, 2)
    distances = cdist(flat, flat)
    is_own = which[:, None] == which[None, :]
    distances[is_own | (image[:, None] == image[None, :])] = np.inf
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :_NEIGHBORS]
    predicted = values[image[nearest]].mean(axis=1)
    errors = ((predicted - values[image]) ** 2).reshape(n_runs, n_images).mean(axis=0)
    generator = numpy_generator(0, "reproductions", "positions")
    draws = generator.integers(n_images, size=(1_000, n_images))

    def share(rows: NDArray[np.int64]) -> float:
        spread = float(values[rows].var())
        return 1.0 - float(errors[rows].mean()) / spread if spread else float("nan")

    low, high = np.nanquantile([share(rows) for rows in draws], (0.025, 0.975))
    return share(np.arange(n_images)), (float(low), float(high))


def _draw(
    traces: list[Trace], embedding: NDArray[np.float64], positions: NDArray[np.float64]
) -> Figure:
    panels: list[tuple[str, NDArray[np.float64]]] = []
    for number, trace in enumerate(traces[:3]):
        kernel = multislice_kernel(trace.activations)
        alone = joint_embedding([kernel], n_components=3)
        panels.append((f"run {number + 1} alone", alone.vectors[..., 1:3]))
    panels.append(("joint space", embedding))
    kernel = multislice_kernel(traces[0].activations)
    panels.append(("run 1, M-PHATE", potential_embedding(kernel).vectors[None]))
    figure = new_figure((3.0 * len(panels), 2.9))
    marks: Any = None
    for axes, (title, points) in zip(
        figure.subplots(1, len(panels)), panels, strict=True
    ):
        _, when, image = np.indices(points.shape[:3]).reshape(3, -1)
        sizes = 3.0 + 8.0 * when / max(points.shape[1] - 1, 1)
        marks = axes.scatter(
            *points.reshape(-1, 2).T,
            c=positions[image],
            s=sizes,
            alpha=0.6,
            linewidths=0,
            rasterized=True,
        )
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("first coordinate", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("second coordinate", fontsize=8)
    figure.colorbar(marks, ax=figure.axes, label="x + 64 y", fraction=0.02, pad=0.01)
    return figure


CLAIM = Claim(
    name="holtz-figure-3",
    source="Holtz et al. (2022), Figure 3",
    text="In the joint space of the training of several runs, images are in order of "
    "the position of the object.",
    measure=measure,
    studies=(STUDY,),
)
