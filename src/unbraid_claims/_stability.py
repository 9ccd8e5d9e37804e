"""Stability of training by specification, for the claims of Holtz et al. (2022)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from unbraid.foundation import numpy_generator
from unbraid.selection import training_dynamics
from unbraid.studies import Cell
from unbraid.training import Trace

from ._evidence import Evidence

STUDY = "holtz-2022"
METRICS = ("beta_vae_score", "factor_vae_score", "mig")
NAMES = {
    "beta_vae_score": "BetaVAE score",
    "factor_vae_score": "FactorVAE score",
    "mig": "MIG",
}

_FEW, _N_DRAWS = 5, 4


def specification(cell: Cell) -> tuple[float, int]:
    """What all realisations share: beta, and the number of latents."""
    return float(cell.spec.objective["beta"]), int(cell.spec.training.n_latents)


def by_specification(cells: Sequence[Cell]) -> dict[tuple[float, int], list[Cell]]:
    """Runs of every configuration, in the order of their seeds.

    Raises:
        ValueError: If the runs are on several datasets.
    """
    datasets = sorted({str(cell.spec.data) for cell in cells})
    if len(datasets) > 1:
        raise ValueError(
            "Stability is measured on one dataset at a time, got runs on "
            f"{' and '.join(datasets)}."
        )
    groups: dict[tuple[float, int], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.spec.seed):
        groups.setdefault(specification(cell), []).append(cell)
    return groups


def stability_table(evidence: Evidence) -> pd.DataFrame:
    """A row per specification: its stability, and the means of supervised scores.

    ``dynamics`` is the score of all realisations, lower is more stable;
    ``dynamics_few_0`` and on are those of random halves or of five realisations.
    """
    return pd.DataFrame(evidence.kept("stability", lambda: _rows(evidence)))


def _rows(evidence: Evidence) -> list[dict[str, float]]:
    groups = by_specification(evidence.cells(STUDY))
    n_all = min(len(cells) for cells in groups.values())
    n_few = min(_FEW, max(2, n_all // 2))
    generator = numpy_generator(0, "reproductions", "realisations")
    draws = [generator.permutation(n_all)[:n_few] for _ in range(_N_DRAWS)]
    return [
        _row(specification, cells, draws) for specification, cells in groups.items()
    ]


def _row(
    specification: tuple[float, int], cells: list[Cell], draws: list[np.ndarray]
) -> dict[str, float]:
    traces = [Trace.load(cell.files.path) for cell in cells]
    scores = [cell.files.read_scores()["scores"] for cell in cells]
    beta, n_latents = specification
    few = {
        f"dynamics_few_{number}": training_dynamics([traces[i] for i in drawn]).score
        for number, drawn in enumerate(draws)
    }
    return {
        "beta": beta,
        "n_latents": n_latents,
        "dynamics": training_dynamics(traces).score,
        **few,
        **{
            name: float(np.mean([score[name]["value"] for score in scores]))
            for name in METRICS
        },
    }
