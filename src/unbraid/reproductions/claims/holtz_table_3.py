"""Noise in the labels spoils supervised metrics, and no others."""

import math
from typing import Any

import numpy as np
import pandas as pd

from unbraid import encode, evaluate, load
from unbraid.correlation import correlate, is_constant
from unbraid.data import add_label_noise, open_dataset
from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import resampled
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_lines
from unbraid.reproductions._stability import METRICS, NAMES, STUDY
from unbraid.reproductions._tables import numbers_of

_LEVELS = (1, 2, 3)
_PRINTED = {"beta_vae_score": 0.47, "factor_vae_score": 0.63, "mig": 0.67}


def measure(evidence: Evidence) -> Measured:
    """Correlation of every metric with itself, by the level of noise."""
    table = pd.DataFrame(evidence.kept("noisy", lambda: _scores(evidence)))
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = []
    for metric in METRICS:
        value, interval = resampled(
            table,
            lambda some, metric=metric: _kept(some, metric, 1) - _kept(some, metric, 3),
            n_resamples=n_resamples,
        )
        checks.append(
            Check(
                quantity=f"{NAMES[metric]}: correlation with itself lost from noise "
                "model 1 to 3",
                expected="above 0",
                value=value,
                interval=interval,
                least=0.0,
            )
        )
        value, interval = resampled(
            table,
            lambda some, metric=metric: _kept(some, metric, 3),
            n_resamples=n_resamples,
        )
        checks.append(
            Check(
                quantity=f"{NAMES[metric]}: agreement with itself under noise model 3",
                expected=f"clearly below 1 ({_PRINTED[metric]:.2f})",
                value=value,
                interval=interval,
                most=0.95,
            )
        )
    lines = {
        NAMES[metric]: [1.0, *(_kept(table, metric, level) for level in _LEVELS)]
        for metric in METRICS
    }
    figure = draw_lines(
        ["none", *map(str, _LEVELS)],
        {"stability (sees no labels)": [1.0] * 4, **lines},
        across="noise model",
        up="correlation with itself",
    )
    return Measured(
        checks=checks,
        figure=figure,
        n_seeds=_n_seeds(evidence),
        remark="The stability of training takes no labels, so that noise in them "
        "cannot change it.",
    )


def _n_seeds(evidence: Evidence) -> int:
    return evidence.at(smoke=1, mini=2, paper=5)


def _scores(evidence: Evidence) -> list[dict[str, Any]]:
    cells = [
        cell for cell in evidence.cells(STUDY) if cell.spec.seed < _n_seeds(evidence)
    ]
    data = open_dataset(cells[0].spec.data)
    noisy = {level: add_label_noise(data, level) for level in _LEVELS}
    n_rows = evidence.at(smoke=300, mini=len(data), paper=50_000)
    rows = np.arange(0, len(data), max(1, len(data) // n_rows))
    found = []
    for cell in cells:
        model = load(cell.place.path)
        row = {}
        for level, labelled in {0: data, **noisy}.items():
            codes = encode(model, labelled, rows=rows, progress=False)
            card = evaluate(
                codes, metrics=METRICS, intervals=False, levels=False, progress=False
            )
            row |= {f"{name}_{level}": float(card[name]) for name in METRICS}
        found.append(row)
    return found


def _kept(table: pd.DataFrame, metric: str, level: int) -> float:
    names = f"{metric}_0", f"{metric}_{level}"
    clean, noisy = (numbers_of(table, name) for name in names)
    if is_constant(clean) or is_constant(noisy):
        return math.nan
    return correlate(clean, noisy, "pearson")


CLAIM = Reproduction(
    name="holtz-table-3",
    source="Holtz et al. (2022), Table 3",
    claim="Under noise in the labels supervised metrics agree less and less with "
    "themselves, while the stability of training does not change.",
    measure=measure,
    studies=(STUDY,),
)
