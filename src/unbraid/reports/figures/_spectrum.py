"""Figure of the spectrum that shows whether a manifold is a product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.geometry import Geomancer

from ._drawing import new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class ManifoldSpectrum:
    """Lowest eigenvalues of a connection Laplacian, and their interpretation.

    Attributes:
        eigenvalues: Eigenvalues in ascending order.
        n_parallel: Number of eigenvalues that belong to parallel fields.
        scale: Lowest positive eigenvalue of the ordinary graph Laplacian.
        summary: Interpretation in one sentence.
    """

    eigenvalues: NDArray[np.float64]
    n_parallel: int
    scale: float
    summary: str


def manifold_spectrum(fitted: Geomancer) -> ManifoldSpectrum:
    """Return the spectrum of a fitted :class:`~unbraid.geometry.Geomancer`."""
    return ManifoldSpectrum(
        fitted.spectrum_, fitted.n_parallel_, fitted.scale_, fitted.summary()
    )


def draw_manifold_spectrum(spectrum: ManifoldSpectrum) -> Figure:
    """Draw eigenvalues in ascending order; those of parallel fields are filled.

    Args:
        spectrum: Spectrum from :func:`manifold_spectrum`.

    Example:
        >>> values = np.array([0.001, 0.5, 0.51])
        >>> spectrum = ManifoldSpectrum(values, 1, 0.5, "a product of 2 factors")
        >>> draw_manifold_spectrum(spectrum).axes[0].get_title(loc="left")
        'a product of 2 factors'

    References:
        Pfau et al. (2020), Figure 4.
    """
    figure = new_figure((5.5, 3.2))
    axes = figure.add_subplot()
    values = spectrum.eigenvalues
    numbers = np.arange(1, len(values) + 1)
    parallel = numbers <= spectrum.n_parallel
    axes.axhline(spectrum.scale, color="#999999", linewidth=1, linestyle="--")
    axes.plot(numbers, values, color="#bbbbbb", linewidth=1, zorder=1)
    axes.scatter(numbers[parallel], values[parallel], color="#1f77b4", zorder=2)
    axes.scatter(
        numbers[~parallel],
        values[~parallel],
        facecolor="white",
        edgecolor="#1f77b4",
        zorder=2,
    )
    # In one dimension there are no eigenvalues.
    last = max(1, len(values))
    axes.set_xlim(0.4, last + 0.6)
    axes.text(
        last + 0.4,
        spectrum.scale,
        "graph",
        fontsize=7,
        color="#777777",
        va="bottom",
        ha="right",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("eigenfunction", fontsize=9)
    axes.set_ylabel("eigenvalue", fontsize=9)
    axes.set_title(spectrum.summary, fontsize=9, loc="left")
    axes.set_xticks(numbers[:: 1 + len(numbers) // 16])
    tidy(axes)
    return figure
