"""No label-free score selects models reliably."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.reports.figures import new_figure, show_matrix
from unbraid.studies.analysis import PUBLISHED_METRICS
from unbraid_claims import Claim, Evidence, Measured, above, below, resampled
from unbraid_claims._datasets import dataset_names
from unbraid_claims._tables import groups_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Correlations = NDArray[np.float64]
"""Correlations, ``(n_datasets, n_scores, n_metrics)``."""

_STUDY = "dlib-2019"
_TERMS = {
    "final.elbo": "ELBO",
    "final.reconstruction": "reconstruction error",
    "final.kl": "KL divergence",
    "score.gaussian_total_correlation": "total correlation of the means",
    "score.gaussian_wasserstein": "Wasserstein correlation of the means",
}
_METRICS = [f"score.{name}" for name in PUBLISHED_METRICS]
_SCORES = [*_TERMS, *_METRICS]
_RELIABLE = 0.5


def measure(evidence: Evidence) -> Measured:
    """Compare how well label-free scores and metrics predict other metrics."""
    table = evidence.table(_STUDY)
    names = dataset_names(table["data"])
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = []
    for number, name in enumerate(_TERMS.values()):
        agreement = resampled(
            table,
            lambda some, number=number: _agreements(_correlations(some))[number],
            within="data",
            n_resamples=n_resamples,
        )
        quantity = f"{name}: rank correlation with the metrics, {_measure(names)}"
        expected = f"below {_RELIABLE:g}, unreliable"
        checks.append(below(quantity, agreement, _RELIABLE, expected=expected))
    checks.append(
        above(
            "control, the supervised metric that follows the others best, by the same "
            "measure: its correlation less that of the best term",
            resampled(table, _lead_of_metrics, within="data", n_resamples=n_resamples),
            expected="above 0: labels tell more",
        )
    )
    every = _correlations(table)
    return Measured(
        checks=checks,
        figure=_draw(every, list(names.values())),
        remark=_remark(every, list(names.values()))
        + evidence.at(
            smoke="",
            mini=" That the median over metrics decides was chosen after these runs "
            "had been looked at.",
            paper="",
        ),
    )


def _measure(names: dict[str, str]) -> str:
    where = (
        f" on the least favorable of {len(names)} datasets" if len(names) > 1 else ""
    )
    return f"median over {len(_METRICS)} metrics{where}, in its better direction"


def _correlations(table: pd.DataFrame) -> Correlations:
    """Return the rank correlation of every score with every metric per dataset.

    NaN where it is not known: of a metric with itself, with a metric that does not
    vary, and where fewer than half of the runs have both numbers. A score that does not
    vary has a correlation of 0, as it tells nothing.
    """
    return np.stack([_of_dataset(some) for some in groups_of(table, ["data"]).values()])


def _of_dataset(table: pd.DataFrame) -> NDArray[np.float64]:
    values = table[_SCORES].to_numpy(dtype=np.float64)
    is_known = np.isfinite(values)
    if is_known.all():
        found = _correlate(values, values[:, len(_TERMS) :])
    else:
        found = np.empty((len(_SCORES), len(_METRICS)))
        for row, column in np.ndindex(found.shape):
            both = values[:, [row, len(_TERMS) + column]]
            some = both[np.isfinite(both).all(axis=1)]
            found[row, column] = (
                _correlate(some[:, :1], some[:, 1:])[0, 0]
                if 2 * len(some) >= len(both)
                else math.nan
            )
    found[len(_TERMS) :][np.eye(len(_METRICS), dtype=bool)] = math.nan
    return found


def _correlate(
    scores: NDArray[np.float64], metrics: NDArray[np.float64]
) -> NDArray[np.float64]:
    a, b = (_unit_ranks(values) for values in (scores, metrics))
    return a.T @ np.where(b.any(axis=0), b, math.nan)


def _unit_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return centered ranks of norm 1; zeros for constant columns."""
    ranks = rankdata(values, axis=0) - (len(values) + 1) / 2
    lengths = np.sqrt(np.square(ranks).sum(axis=0))
    return ranks / np.where(lengths > 0, lengths, 1.0)


def _agreements(correlations: Correlations) -> list[float]:
    """Return how well each score predicts most metrics on all datasets."""
    return [_agreement(correlations[:, row]) for row in range(len(_SCORES))]


def _agreement(own: NDArray[np.float64]) -> float:
    medians = np.array([_median(values) for values in own])
    # The same direction on every dataset, or it could not be used for choosing.
    return float(np.maximum(medians.min(), -medians.max()))


def _median(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else math.nan


def _lead_of_metrics(table: pd.DataFrame) -> float:
    found = _agreements(_correlations(table))
    return _best(found[len(_TERMS) :]) - _best(found[: len(_TERMS)])


def _best(agreements: Sequence[float]) -> float:
    known = [value for value in agreements if math.isfinite(value)]
    return max(known, default=math.nan)


def _remark(correlations: Correlations, names: Sequence[str]) -> str:
    terms = np.nan_to_num(correlations[:, : len(_TERMS)])
    index = np.unravel_index(np.abs(terms).argmax(), terms.shape)
    data, term, metric = map(int, index)
    found = _agreements(correlations)
    controls = ", ".join(
        f"{name.replace('_', ' ')} {value:.2f}"
        for name, value in zip(PUBLISHED_METRICS, found[len(_TERMS) :], strict=True)
    )
    return (
        f"Strongest single correlation of a term: {list(_TERMS.values())[term]} with "
        f"{PUBLISHED_METRICS[metric].replace('_', ' ')} on {names[data]}, "
        f"{terms[data, term, metric]:.2f}. Supervised metrics by the same measure, "
        f"each against the others: {controls}."
    )


def _draw(correlations: Correlations, names: Sequence[str]) -> Figure:
    figure = new_figure((2.6 + 3.0 * len(names), 1.6 + 0.34 * len(_SCORES)))
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for number, (axes, name) in enumerate(zip(panels, names, strict=True)):
        labels = [*_TERMS.values(), *PUBLISHED_METRICS]
        show_matrix(
            axes,
            100 * correlations[number],
            rows=labels if number == 0 else [""] * len(labels),
            columns=PUBLISHED_METRICS,
            low=-100,
            high=100,
            colors="RdBu",
            number_format=".0f",
        )
        axes.axhline(len(_TERMS) - 0.5, color="#111111", linewidth=1)
        axes.set_aspect("auto")
        axes.set_title(f"{name}, x 100", fontsize=9, loc="left")
    return figure


CLAIM = Claim(
    name="locatello-selection",
    source="Locatello et al. (2019), section 5.4 and Figure 4",
    text="Neither the ELBO nor any other label-free number is reliably correlated with "
    "the metrics, so models cannot be chosen by it.",
    measure=measure,
    studies=(_STUDY,),
    changed="2026-11-18",
)
