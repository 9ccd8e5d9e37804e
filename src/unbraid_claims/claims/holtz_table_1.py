"""Stability of training predicts disentanglement, better with more seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbraid.reports.figures import new_figure, tidy
from unbraid_claims import Claim, Evidence, Measured, above, rank_correlation, resampled
from unbraid_claims._stability import METRICS, NAMES, STUDY, stability_table
from unbraid_claims._tables import numbers_of, rows_where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PRINTED = {"beta_vae_score": 0.57, "factor_vae_score": 0.60, "mig": 0.65}


def measure(evidence: Evidence) -> Measured:
    """Measure the rank correlation of stability with supervised scores."""
    table = stability_table(evidence)
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = []
    for metric in METRICS:
        agreement = resampled(
            table,
            lambda some, metric=metric: _agreement(some, "dynamics", metric),
            n_resamples=n_resamples,
        )
        quantity = f"stability and {NAMES[metric]}: rank correlation over "
        expected = f"above 0 ({_PRINTED[metric]:.2f} with 10 seeds)"
        checks.append(above(f"{quantity}configurations", agreement, expected=expected))
    checks.append(
        above(
            "what all seeds add to that of few, mean over the three scores",
            resampled(table, _more_with_seeds, n_resamples=n_resamples),
            expected="above 0 (0.04)",
        )
    )
    return Measured(checks=checks, figure=_draw(table))


def _agreement(table: pd.DataFrame, dynamics: str, metric: str) -> float:
    # Low scores mean stable training.
    return -rank_correlation(table, dynamics, metric)


def _more_with_seeds(table: pd.DataFrame) -> float:
    few = [name for name in table if name.startswith("dynamics_few_")]
    gains = [
        _agreement(table, "dynamics", metric)
        - np.mean([_agreement(table, name, metric) for name in few])
        for metric in METRICS
    ]
    return float(np.mean(gains))


def _draw(table: pd.DataFrame) -> Figure:
    figure = new_figure((9.0, 3.2))
    for axes, metric in zip(figure.subplots(1, 3), METRICS, strict=True):
        for n_latents in sorted(set(table["n_latents"])):
            some = rows_where(table, "n_latents", n_latents)
            axes.plot(
                numbers_of(some, "dynamics"),
                numbers_of(some, metric),
                "o",
                label=f"{n_latents} latents",
            )
        axes.set_xlabel("instability (MMD)")
        axes.set_ylabel(NAMES[metric])
        tidy(axes)
    figure.axes[-1].legend(fontsize=7, frameon=False)
    return figure


CLAIM = Claim(
    name="holtz-table-1",
    source="Holtz et al. (2022), Table 1",
    text="Configurations whose runs train alike with every seed are ranked high by "
    "supervised metrics, the more so the more runs are compared.",
    measure=measure,
    studies=(STUDY,),
)
