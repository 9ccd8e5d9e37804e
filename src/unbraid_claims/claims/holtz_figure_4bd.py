"""With more latents than factors, runs lie apart in their joint space."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator
from unbraid.reports.figures import new_figure
from unbraid.selection import DynamicsScore, training_dynamics
from unbraid.training import Trace
from unbraid_claims import Claim, Evidence, Measured, above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = "latent-numbers"
_N_RESAMPLES = 1_000


def measure(evidence: Evidence) -> Measured:
    """Compare runs with 4, 8 and 16 latents in two coordinates of their joint space."""
    groups: dict[int, list[Trace]] = {}
    for cell in sorted(evidence.cells(STUDY), key=lambda cell: cell.spec.seed):
        trace = Trace.load(cell.files.path)
        groups.setdefault(cell.spec.training.n_latents, []).append(trace)
    scores = {
        n_latents: training_dynamics(groups[n_latents], n_components=2)
        for n_latents in sorted(groups)
    }
    fewest, *others = scores
    checks = [
        above(
            f"discrepancy of runs in two coordinates, {n_latents} latents less "
            f"{fewest}, relative to {fewest}",
            relative_gain(scores[n_latents], scores[fewest]),
            expected="above 0: most alike with as many latents as factors",
        )
        for n_latents in others
    ]
    return Measured(checks=checks, figure=_draw(scores))


def relative_gain(
    more: DynamicsScore, fewest: DynamicsScore
) -> tuple[float, tuple[float, float]]:
    """Return the relative difference of two scores, with its interval over runs."""
    generator = numpy_generator(0, "reproductions", "joint space")
    drawn = []
    for _ in range(_N_RESAMPLES):
        first, second = (
            _mean_pair(
                each.pairs, generator.integers(len(each.pairs), size=len(each.pairs))
            )
            for each in (more, fewest)
        )
        drawn.append((first - second) / abs(fewest.score or 1.0))
    known = [value for value in drawn if math.isfinite(value)]
    low, high = np.quantile(known, (0.025, 0.975))
    gain = (more.score - fewest.score) / abs(fewest.score or 1.0)
    return gain, (min(float(low), gain), max(float(high), gain))


def _mean_pair(pairs: NDArray[np.float64], runs: NDArray[np.int64]) -> float:
    """Return the mean over pairs of different runs; NaN if all are the same."""
    values = pairs[np.ix_(runs, runs)][runs[:, None] != runs]
    return float(values.mean()) if values.size else math.nan


def _draw(scores: dict[int, DynamicsScore]) -> Figure:
    figure = new_figure((3.2 * len(scores), 3.0))
    panels = figure.subplots(1, len(scores), squeeze=False)[0]
    for axes, (n_latents, score) in zip(panels, scores.items(), strict=True):
        n_runs, n_slices = score.embedding.shape[:2]
        for run, points in enumerate(score.embedding):
            when = np.indices(points.shape[:2])[0].ravel()
            axes.scatter(
                *points.reshape(-1, 2).T,
                s=2.0 + 8.0 * when / max(n_slices - 1, 1),
                alpha=0.5,
                linewidths=0,
                rasterized=True,
                label=f"run {run + 1}",
            )
        axes.set_title(f"{n_latents} latents: {score.score:.2g}", fontsize=9)
        axes.set_xlabel("first coordinate", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("second coordinate", fontsize=8)
    panels[-1].legend(
        fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    return figure


CLAIM = Claim(
    name="holtz-figure-4bd",
    source="Holtz et al. (2022), Figures 4b to 4d",
    text="In two coordinates of their joint space, runs with as many latents as "
    "factors are more alike than runs with more latents.",
    measure=measure,
    studies=(STUDY,),
)
