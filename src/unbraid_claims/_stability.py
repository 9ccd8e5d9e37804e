"""Stability of training per configuration, for the claims of Holtz et al. (2022)."""

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


def configuration(cell: Cell) -> tuple[float, int]:
    """Return beta and the number of latents of a run."""
    return float(cell.spec.objective["beta"]), int(cell.spec.training.n_latents)


def by_configuration(cells: Sequence[Cell]) -> dict[tuple[float, int], list[Cell]]:
    """Group runs by configuration, in order of their seeds.

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
        groups.setdefault(configuration(cell), []).append(cell)
    return groups


def stability_table(evidence: Evidence) -> pd.DataFrame:
    """Return a table of stability and mean supervised scores per configuration.

    ``dynamics`` is the score of all seeds; lower is more stable. ``dynamics_few_0`` and
    so on are those of random subsets of the seeds.
    """
    return pd.DataFrame(evidence.cached("stability", lambda: _rows(evidence)))


def _rows(evidence: Evidence) -> list[dict[str, float]]:
    groups = by_configuration(evidence.cells(STUDY))
    n_all = min(len(cells) for cells in groups.values())
    n_few = min(_FEW, max(2, n_all // 2))
    generator = numpy_generator(0, "reproductions", "realisations")
    draws = [generator.permutation(n_all)[:n_few] for _ in range(_N_DRAWS)]
    return [
        _row(configuration, cells, draws) for configuration, cells in groups.items()
    ]


def _row(
    configuration: tuple[float, int], cells: list[Cell], draws: list[np.ndarray]
) -> dict[str, float]:
    traces = [Trace.load(cell.files.path) for cell in cells]
    scores = [cell.files.read_scores()["scores"] for cell in cells]
    beta, n_latents = configuration
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
