"""Samples are unrealistic if beta is far too small or far too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import open_dataset
from unbraid.foundation import numpy_generator
from unbraid.models import Autoencoder
from unbraid.reports import prior_samples
from unbraid.reports.figures import new_figure
from unbraid.training import load
from unbraid_claims import Claim, Evidence, Measured, above, gain_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = "beta-samples"
_SHOWN = 8


def measure(evidence: Evidence) -> Measured:
    """Compare how far samples are from the nearest image, over beta."""
    rows = evidence.cached("samples", lambda: _rows(evidence))
    by_beta = {
        beta: np.array([row["distance"] for row in rows if row["beta"] == beta])
        for beta in {row["beta"] for row in rows}
    }
    lowest, *between, highest = sorted(by_beta)
    # With two betas, as in the smallest size, the higher one is taken for the best.
    best = min(between or [highest], key=lambda beta: by_beta[beta].mean())
    checks = [
        above(
            f"distance of samples to the nearest image: beta {beta:g} less beta "
            f"{best:g}, relative to the latter",
            _relative(by_beta[beta], by_beta[best]),
        )
        for beta in (lowest, highest)
    ]
    return Measured(
        checks=checks,
        figure=_draw(rows, best),
        remark="Squared error of 256 samples from the prior to the nearest image, for "
        "three seeds of each beta. The source shows samples and gives no number.",
    )


def _relative(
    values: NDArray[np.float64], best: NDArray[np.float64]
) -> tuple[float, tuple[float, float] | None]:
    gain, interval = gain_of(values, best)
    scale = float(best.mean())
    if interval is None:
        return gain / scale, None
    return gain / scale, (interval[0] / scale, interval[1] / scale)


def _rows(evidence: Evidence) -> list[dict[str, Any]]:
    cells = evidence.cells(STUDY)
    dataset = open_dataset(cells[0].spec.data)
    generator = numpy_generator(0, "reproductions", "nearest images")
    n_rows = min(len(dataset), evidence.at(smoke=200, mini=2_880, paper=50_000))
    rows = np.sort(generator.choice(len(dataset), n_rows, replace=False))
    images = dataset.images(rows).reshape(n_rows, -1).astype(np.float32) / 255
    found = []
    for cell in cells:
        model = load(cell.files.path)
        assert isinstance(model, Autoencoder)
        samples = prior_samples(model, n_images=256)
        flat = samples.reshape(len(samples), -1).astype(np.float32) / 255
        found.append(
            {
                "beta": float(cell.spec.objective["beta"]),
                "seed": cell.spec.seed,
                "distance": float(nearest_errors(flat, images).mean()),
                "samples": samples[:_SHOWN].tolist() if cell.spec.seed == 0 else [],
            }
        )
    return found


def nearest_errors(
    samples: NDArray[np.floating], images: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return the mean squared error of each sample to the nearest image."""
    products = samples @ images.T
    norms = (images**2).sum(axis=1)
    squared = (samples**2).sum(axis=1) + (norms - 2 * products).min(axis=1)
    return np.maximum(squared, 0) / samples.shape[1]


def _draw(rows: list[dict[str, Any]], best: float) -> Figure:
    ordered = sorted(rows, key=lambda row: row["beta"])
    shown = [
        (row["beta"], np.array(row["samples"], dtype=np.uint8))
        for row in ordered
        if row["samples"]
    ]
    figure = new_figure((7.2, 0.95 * len(shown)))
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for axes, (beta, samples) in zip(panels, shown, strict=True):
        strip = np.concatenate(
            [np.pad(s, ((0, 0), (1, 1), (1, 1)), constant_values=128) for s in samples],
            axis=2,
        )
        picture = strip.transpose(1, 2, 0)
        axes.imshow(
            picture if picture.shape[2] == 3 else picture[..., 0],
            cmap="gray",
            vmin=0,
            vmax=255,
            interpolation="nearest",
        )
        axes.set_xticks([])
        axes.set_yticks([])
        note = " (best)" if beta == best else ""
        axes.set_ylabel(
            f"beta {beta:g}{note}\ndistance {_mean_distance(rows, beta):.3g}",
            rotation=0,
            ha="right",
            va="center",
            fontsize=8,
        )
    return figure


def _mean_distance(rows: list[dict[str, Any]], beta: float) -> float:
    return float(np.mean([row["distance"] for row in rows if row["beta"] == beta]))


CLAIM = Claim(
    name="holtz-figure-1",
    source="Holtz et al. (2022), Figure 1",
    text="Samples are noisy, incomplete or unrealistic if beta is set far too low or "
    "far too high.",
    measure=measure,
    studies=(STUDY,),
)
