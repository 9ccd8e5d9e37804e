"""Label noise affects supervised metrics only."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from unbraid import encode, evaluate, load
from unbraid.data import AbstractDataset, add_label_noise, open_dataset
from unbraid.foundation import correlate, is_constant
from unbraid.models import Autoencoder
from unbraid.selection import training_dynamics
from unbraid.studies import Cell
from unbraid.training import Trace, TraceRecorder, TraceSettings
from unbraid_claims import Check, Claim, Evidence, Measured, above, below, resampled
from unbraid_claims._rows import random_rows
from unbraid_claims._scores_by_group import draw_lines
from unbraid_claims._stability import METRICS, NAMES, STUDY, by_configuration
from unbraid_claims._tables import numbers_of

_LEVELS = (1, 2, 3)
_STABILITY = "stability"
_PRINTED = {"beta_vae_score": 0.47, "factor_vae_score": 0.63, "mig": 0.67}


def measure(evidence: Evidence) -> Measured:
    """Measure the correlation of metrics with and without label noise."""
    table = pd.DataFrame(evidence.cached("noisy", lambda: _scores(evidence)))
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = []
    for metric in METRICS:
        lost = resampled(
            table,
            lambda some, metric=metric: _kept(some, metric, 1) - _kept(some, metric, 3),
            n_resamples=n_resamples,
        )
        quantity = f"{NAMES[metric]}: correlation with itself lost from noise model 1 "
        checks.append(above(f"{quantity}to 3", lost))
        left = resampled(
            table,
            lambda some, metric=metric: _kept(some, metric, 3),
            n_resamples=n_resamples,
        )
        quantity = f"{NAMES[metric]}: agreement with itself under noise model 3"
        expected = f"clearly below 1 ({_PRINTED[metric]:.2f})"
        checks.append(below(quantity, left, 0.95, expected=expected))
    stability = pd.DataFrame(
        evidence.cached("noisy_stability", lambda: _stability(evidence))
    )
    kept = [_kept(stability, _STABILITY, level) for level in _LEVELS]
    checks.append(
        Check(
            quantity="stability of training: least agreement with itself under the "
            f"three noise models, over {len(stability)} configurations",
            expected="1.00: it sees no labels",
            value=min(kept),
            least=0.999,
        )
    )
    lines = {
        NAMES[metric]: [
            _kept(table, metric, 0),
            *(_kept(table, metric, level) for level in _LEVELS),
        ]
        for metric in METRICS
    }
    figure = draw_lines(
        ["none", *map(str, _LEVELS)],
        {"stability": [_kept(stability, _STABILITY, 0), *kept], **lines},
        x_label="noise model",
        y_label="correlation with itself",
    )
    return Measured(
        checks=checks,
        figure=figure,
        n_seeds=_n_seeds(evidence),
        remark="For the stability under noise, the last moment of every trace is "
        "recorded again on the data with noisy labels; earlier moments are those of "
        "training, which is given no labels.",
    )


def _n_seeds(evidence: Evidence) -> int:
    # Stability compares at least two runs.
    return evidence.at(smoke=2, mini=2, paper=5)


def _cells(evidence: Evidence) -> list[Cell]:
    return [
        cell for cell in evidence.cells(STUDY) if cell.spec.seed < _n_seeds(evidence)
    ]


def _noisy(data: AbstractDataset) -> dict[int, AbstractDataset]:
    return {level: add_label_noise(data, level) for level in _LEVELS}


def _scores(evidence: Evidence) -> list[dict[str, Any]]:
    cells = _cells(evidence)
    data = open_dataset(cells[0].spec.data)
    n_rows = evidence.at(smoke=300, mini=len(data), paper=50_000)
    rows = random_rows(len(data), n_rows, "noisy labels")
    found = []
    for cell in cells:
        model = load(cell.files.path)
        row = {}
        for level, dataset in {0: data, **_noisy(data)}.items():
            codes = encode(model, dataset, rows=rows, progress=False)
            card = evaluate(
                codes, metrics=METRICS, intervals=False, levels=False, progress=False
            )
            row |= {f"{name}_{level}": float(card[name]) for name in METRICS}
        found.append(row)
    return found


def _stability(evidence: Evidence) -> list[dict[str, float]]:
    cells = _cells(evidence)
    return stability_on(cells, _noisy(open_dataset(cells[0].spec.data)))


def stability_on(
    cells: Sequence[Cell], datasets: Mapping[int, AbstractDataset]
) -> list[dict[str, float]]:
    """Return the stability of every configuration, on several versions of the data.

    Args:
        cells: Finished runs with traces, at least two of each configuration.
        datasets: Dataset to record on, by noise level.

    Returns:
        One row per configuration: ``stability_0`` from the traces of training, and
        ``stability_LEVEL`` with their last step recorded again.
    """
    rows = []
    for some in by_configuration(cells).values():
        traces = [Trace.load(cell.files.path) for cell in some]
        row = {f"{_STABILITY}_0": training_dynamics(traces).score}
        for level, dataset in datasets.items():
            again = [
                _recorded_again(cell, trace, dataset)
                for cell, trace in zip(some, traces, strict=True)
            ]
            row[f"{_STABILITY}_{level}"] = training_dynamics(again).score
        rows.append(row)
    return rows


def _recorded_again(cell: Cell, trace: Trace, dataset: AbstractDataset) -> Trace:
    """Return the trace of a run with its last step recorded on another dataset."""
    last = int(trace.steps[-1])
    settings = TraceSettings(
        layer=trace.layer, rows=tuple(trace.rows.tolist()), steps=(last,)
    )
    model = load(cell.files.path)
    assert isinstance(model, Autoencoder)
    recorder = TraceRecorder(settings, dataset, model, n_steps=last)
    recorder.record(last)
    activations = np.concatenate([trace.activations[:-1], recorder.trace.activations])
    return replace(trace, activations=activations)


def _kept(table: pd.DataFrame, metric: str, level: int) -> float:
    names = f"{metric}_0", f"{metric}_{level}"
    clean, noisy = (numbers_of(table, name) for name in names)
    if is_constant(clean) or is_constant(noisy):
        return math.nan
    return correlate(clean, noisy, "pearson")


CLAIM = Claim(
    name="holtz-table-3",
    source="Holtz et al. (2022), Table 3",
    text="Under noise in the labels supervised metrics agree less and less with "
    "themselves, while the stability of training does not change.",
    measure=measure,
    studies=(STUDY,),
    changed="2026-11-18",
)
