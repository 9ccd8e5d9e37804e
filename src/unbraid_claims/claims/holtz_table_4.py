"""Stability of training predicts fairness and fast downstream learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid import encode, load
from unbraid.data import open_dataset
from unbraid.metrics import Factors, clustering_sample_efficiency, unfairness
from unbraid.reports.figures import new_figure, tidy
from unbraid.studies import Cell
from unbraid_claims import Claim, Evidence, Measured, below, rank_correlation, resampled
from unbraid_claims._rows import random_rows
from unbraid_claims._stability import (
    STUDY,
    by_configuration,
    configuration,
    stability_table,
)
from unbraid_claims._tables import numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TASKS = {
    "unfairness": ("unfairness of predictions", -0.72),
    "clustering": ("steps to learn a clustering task", -0.59),
}


def measure(evidence: Evidence) -> Measured:
    """Measure the rank correlation of stability with both tasks."""
    table = stability_table(evidence)
    for task in _TASKS:
        rows = evidence.cached(task, lambda task=task: _scores(evidence, task))
        table = table.merge(pd.DataFrame(rows), on=["beta", "n_latents"])
    checks = []
    for task, (name, printed) in _TASKS.items():
        agreement = resampled(
            table,
            lambda some, task=task: -rank_correlation(some, "dynamics", task),
            n_resamples=evidence.at(smoke=20, mini=1_000, paper=1_000),
        )
        quantity = f"stability and {name}: rank correlation over configurations"
        expected = f"below 0 ({printed:.2f})"
        checks.append(below(quantity, agreement, expected=expected))
    return Measured(
        checks=checks,
        figure=_draw(table),
        n_seeds=evidence.at(smoke=1, mini=1, paper=5),
        remark=evidence.at(
            smoke="",
            mini="Clusters are by scale, and runs that were given up are ordered by "
            "the accuracy they reached; both were decided when no run had learned the "
            "task with clusters by shape.",
            paper="",
        ),
    )


def _scores(evidence: Evidence, task: str) -> list[dict[str, Any]]:
    n_seeds = evidence.at(smoke=1, mini=1, paper=5)
    # Clusters by scale, because small models encode too little about shape.
    options = evidence.at(
        smoke={"max_steps": 30, "n_runs": 1, "n_test": 50, "cluster_by": "scale"},
        mini={"max_steps": 1_000, "n_runs": 3, "cluster_by": "scale"},
        paper={},
    )
    n_train = evidence.at(smoke=100, mini=10_000, paper=10_000)
    rows = []
    for cells in by_configuration(evidence.cells(STUDY)).values():
        found = []
        for cell in cells[:n_seeds]:
            codes, factors = _codes(
                cell, evidence.at(smoke=600, mini=10_000, paper=30_000)
            )
            if task == "unfairness":
                found.append(unfairness(codes, factors, n_train=n_train))
            else:
                score = clustering_sample_efficiency(codes, factors, **options)
                # Runs that did not finish are ranked by their accuracy.
                found.append(float(score) + 1.0 - score.details["accuracy"])
        beta, n_latents = configuration(cells[0])
        mean = float(np.mean(np.array(found, dtype=np.float64)))
        rows.append({"beta": beta, "n_latents": n_latents, task: mean})
    return rows


def _codes(cell: Cell, n_rows: int) -> tuple[NDArray[np.float64], Factors]:
    data = open_dataset(cell.spec.data)
    rows = random_rows(len(data), n_rows, "downstream tasks")
    found = encode(load(cell.files.path), data, rows=rows, progress=False)
    assert found.factors is not None
    factors = Factors(found.factors, names=found.factor_names, kinds=found.factor_kinds)
    return np.asarray(found.codes, dtype=np.float64), factors


def _draw(table: pd.DataFrame) -> Figure:
    figure = new_figure((7.0, 3.2))
    for axes, (task, (name, _)) in zip(
        figure.subplots(1, 2), _TASKS.items(), strict=True
    ):
        axes.plot(
            numbers_of(table, "dynamics"), numbers_of(table, task), "o", color="#33658a"
        )
        axes.set_xlabel("instability (MMD)")
        axes.set_ylabel(name)
        tidy(axes)
    return figure


CLAIM = Claim(
    name="holtz-table-4",
    source="Holtz et al. (2022), Table 4",
    text="The more stable the training of a configuration, the fairer are predictions "
    "from its codes, and the fewer steps a clustering task takes to learn.",
    measure=measure,
    studies=(STUDY,),
    changed="2026-11-18",
)
