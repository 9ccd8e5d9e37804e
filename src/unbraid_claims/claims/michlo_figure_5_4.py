"""Adaptive triplets align factors with axes."""

import math

import pandas as pd

from unbraid_claims import Claim, Evidence, Measured, above, gain_of, mean_of
from unbraid_claims._michlo_runs import (
    on_common,
    paired_gains,
    scores_of,
    without_duplicates,
)
from unbraid_claims._score_panels import draw_score_panels
from unbraid_claims._tables import numbers_of

_ADAPTIVE, _TRIPLETS = "michlo-2022-a5-2", "michlo-2022-a5-1"
_AXES, _LINEAR = "score.axis_alignment", "score.linearity"
_LIKE = ("data", "objective.shared_by", "schedule", "seed")


def measure(evidence: Evidence) -> Measured:
    """Compare the axis alignment of Ada-TVAE and beta-TVAE."""
    adaptive = without_duplicates(with_schedule(evidence.table(_ADAPTIVE)))
    plain = _same_loss(without_duplicates(evidence.table(_TRIPLETS)))
    gain = gain_of(scores_of(adaptive, _AXES), scores_of(plain, _AXES))
    checks = [
        above(
            "Ada-TVAE: axis alignment gained over beta-TVAE with l1 and a hard margin, "
            "means over all schedules",
            gain,
        )
    ]
    others = on_common(adaptive)
    remark = "All factors of XYSquares have as many values, so that scaling their "
    remark += "distances, the figure's other claim, cannot matter here."
    if not others.empty:
        gains = paired_gains(
            others,
            _AXES,
            column="objective.triplets",
            better="scaled",
            worse="l1",
            like=_LIKE,
        )
        quantity = "Ada-TVAE: axis alignment gained by scaling distances of factors"
        checks.append(above(f"{quantity}, all else alike", mean_of(gains)))
        remark = ""
    shown = pd.concat([plain.assign(schedule="beta-TVAE"), adaptive])
    figure = draw_score_panels(
        shown, "schedule", {_AXES: "axis alignment", _LINEAR: "linearity"}
    )
    return Measured(checks=checks, figure=figure, remark=remark)


def with_schedule(table: pd.DataFrame) -> pd.DataFrame:
    """Add number and name of the schedule in Table 5.2 to runs of Ada-TVAE."""
    return table.assign(
        schedule=[
            _schedule(omega, eta)
            for omega, eta in zip(
                _ends(table, "omega"), _ends(table, "eta"), strict=True
            )
        ]
    )


def _schedule(omega: float | None, eta: float | None) -> str:
    """Return number and name of a schedule in Table 5.2, from its final values."""
    if omega is None:
        return "1 threshold"
    kind = "weak" if omega > 0 else "strong"
    if eta is None:
        return f"{2 if kind == 'weak' else 3} weight, {kind}"
    return f"{4 if kind == 'weak' else 5} both, {kind}"


def _ends(table: pd.DataFrame, name: str) -> list[float | None]:
    column = f"objective.{name}.end"
    if column not in table:
        return [None] * len(table)
    return [None if math.isnan(end) else end for end in numbers_of(table, column)]


def _same_loss(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of beta-TVAE with the same triplet loss as Ada-TVAE."""
    return table.loc[
        (table["objective.p"] == 1)
        & (table["objective.margin_kind"] == "hard")
        & (table["objective.decoder_gradient"].astype(str) == "True")
    ]


CLAIM = Claim(
    name="michlo-figure-5-4",
    source="Michlo (2022), Figure 5.4",
    text="With the adaptive triplet loss, factors lie along the axes of the code; with "
    "plain triplets they do not.",
    measure=measure,
    studies=(_ADAPTIVE, _TRIPLETS),
)
