"""With few labels, populations beat training on these labels."""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.studies import Cell
from unbraid_claims import Claim, Evidence, Measured, above, gain_of
from unbraid_claims._populations import (
    SCORES,
    SUPERVISED,
    draw_populations,
    scores_of,
)

_FEW_LABELS = "estermann-2020-fig1-plain"


def measure(evidence: Evidence) -> Measured:
    """Scores of populations with few labels, and of semi-supervised models."""
    populations = evidence.cells(SUPERVISED)
    models = evidence.cells(_FEW_LABELS)
    checks = []
    for score, name in SCORES.items():
        bred = scores_of(
            populations,
            score,
            lambda evolution: (
                evolution.labels is not None and evolution.population.generations > 1
            ),
        )
        quantity = (
            f"{name} of populations with few labels less that of semi-supervised models"
        )
        checks.append(above(quantity, gain_of(bred, _best_setting(models, score))))
    return Measured(
        checks=checks,
        figure=draw_populations([*populations, *models]),
        remark="Semi-supervised models have the strength with the highest mean score.",
    )


def _best_setting(models: Sequence[Cell], score: str) -> NDArray[np.float64]:
    """Scores of the setting that has the highest mean over its seeds."""
    groups: dict[str, list[Cell]] = {}
    for model in models:
        groups.setdefault(json.dumps(model.spec.objective), []).append(model)
    scores = [scores_of(group, score) for group in groups.values()]
    return max(scores, key=lambda values: float(values.mean()))


CLAIM = Claim(
    name="estermann-figure-1b",
    source="Estermann et al. (2020), Figure 1b",
    text="With 1,000 labels, populations that are scored by MIG on them disentangle "
    "more than models that are trained on them.",
    measure=measure,
    studies=(SUPERVISED, _FEW_LABELS),
)
