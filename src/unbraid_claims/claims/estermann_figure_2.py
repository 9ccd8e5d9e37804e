"""Populations scored by agreement only learn the two positions."""

import pandas as pd

from unbraid_claims import Check, Claim, Evidence, Measured, above, mean_of
from unbraid_claims._learned_factors import learned_factors
from unbraid_claims._populations import RECURSIVE, by_dataset, stage_folders
from unbraid_claims._scores_by_group import draw_factors

Row = dict[str, float]

_POSITIONS = ["position_x", "position_y"]


def measure(evidence: Evidence) -> Measured:
    """Measure which factors the winners of first populations encode, per dataset."""
    learned: dict[str, list[Row]] = evidence.cached(
        "learned", lambda: _learned(evidence)
    )
    # The source shows dSprites only; other data may have no positions to be learned.
    shown = {
        dataset: rows
        for dataset, rows in learned.items()
        if set(_POSITIONS) <= {*rows[0]}
    }
    others = [dataset for dataset in learned if dataset not in shown]
    checks = [
        check for dataset, rows in shown.items() for check in _checks(dataset, rows)
    ]
    lines = {
        f"seed {seed}": {dataset: rows[seed] for dataset, rows in shown.items()}
        for seed in range(min(map(len, shown.values())))
    }
    remark = (
        "The first populations of the recursions of Figure 6, which are such "
        "populations."
    )
    if others:
        remark += f" Without {' and '.join(others)}, where no factor is a position."
    return Measured(
        checks=checks,
        figure=draw_factors(lines, y_label="known to its best latent"),
        remark=remark,
    )


def _checks(dataset: str, rows: list[Row]) -> list[Check]:
    known = pd.DataFrame(rows)
    least = known[_POSITIONS].min(axis=1)
    others = known.drop(columns=_POSITIONS)
    return [
        above(
            f"{dataset}: the position known less, less the best known other factor",
            mean_of(least - others.max(axis=1)),
            expected="above 0: x and y, consistently",
        ),
        above(
            f"{dataset}: share of the position known less that one latent knows",
            mean_of(least),
            0.2,
            expected="clearly above 0",
        ),
    ]


def _learned(evidence: Evidence) -> dict[str, list[Row]]:
    """Return the learned factors of the winner of each first population, by dataset."""
    learned = {}
    for dataset, cells in by_dataset(evidence.cells(RECURSIVE)).items():
        # Recursions with one seed share their first population.
        first = {cell.spec.seed: cell for cell in reversed(cells)}
        learned[dataset] = [
            learned_factors(stage_folders(cell)["root"], cell.spec.data)
            for _, cell in sorted(first.items())
        ]
    return learned


CLAIM = Claim(
    name="estermann-figure-2",
    source="Estermann et al. (2020), Figure 2",
    text="Populations that are scored by their agreement alone disentangle the x and "
    "y position, and nothing else, with every seed.",
    measure=measure,
    studies=(RECURSIVE,),
    changed="2026-11-18",
)
