"""Larger frozen encoders have a higher MIG."""

from dataclasses import asdict
from typing import Any

import pandas as pd

from unbraid.data import open_dataset
from unbraid_claims import (
    Check,
    Claim,
    EncoderScore,
    EncoderTable,
    Evidence,
    Measured,
    above,
    list_clip_encoders,
    rank_correlation,
    resampled,
    score_encoders,
)
from unbraid_claims._encoder_table import FAMILIES
from unbraid_claims._frozen_encoders import untrained_gap
from unbraid_claims._scores_by_group import draw_lines
from unbraid_claims._tables import group_means

_STUDY = "encoder-size"
_SEEDS = (0, 1, 2)


def measure(evidence: Evidence) -> Measured:
    """Measure MIG over the width of trained and untrained encoders."""
    table = evidence.table(_STUDY)
    table = table.assign(width=[_width(text) for text in table["network.widths"]])
    untrained = pd.DataFrame(evidence.cached("untrained", lambda: _untrained(evidence)))
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = [
        above(
            "self-trained encoders (VAE): rank correlation of MIG and width",
            resampled(table, _trend, within="width", n_resamples=n_resamples),
            expected="above 0, as with CLIP (0.004 to 0.026)",
        )
    ]
    clip_checks = _clip_trends(evidence.cached("clip", lambda: _clip_scores(evidence)))
    checks += clip_checks
    means = {
        "self-trained": group_means(table, "width", "score.mig"),
        "untrained": group_means(untrained, "width", "score.mig"),
    }
    figure = draw_lines(
        [str(width) for width in means["self-trained"]],
        {name: list(line.values()) for name, line in means.items()},
        x_label="units in each of two layers",
        y_label="MIG, mean over seeds",
    )
    return Measured(
        checks=checks,
        figure=figure,
        remark="Self-trained encoders stand for CLIP's, whose weights are not at hand."
        if not clip_checks
        else "",
    )


def _width(text: Any) -> int:
    return int(str(text).split()[0])


def _trend(table: pd.DataFrame) -> float:
    return rank_correlation(table, "width", "score.mig")


def _untrained(evidence: Evidence) -> list[dict[str, Any]]:
    cells = evidence.cells(_STUDY)
    data = open_dataset(cells[0].spec.data)
    n_rows = evidence.at(smoke=300, mini=3_000, paper=50_000)
    widths = sorted({cell.spec.to_plain()["network"]["widths"][0] for cell in cells})
    return [
        {
            "width": width,
            "seed": seed,
            "score.mig": untrained_gap(
                data,
                width,
                n_latents=cells[0].spec.training.n_latents,
                seed=seed,
                n_rows=n_rows,
            ),
        }
        for width in widths
        for seed in _SEEDS
    ]


def _clip_scores(evidence: Evidence) -> list[dict[str, Any]]:
    if evidence.preset != "paper":
        return []
    data = open_dataset(evidence.cells(_STUDY)[0].spec.data)
    table = score_encoders(list_clip_encoders(), data, n_rows=10_000)
    return [asdict(score) for score in table.scores]


def _clip_trends(rows: list[dict[str, Any]]) -> list[Check]:
    """One check for each family with at least two measured encoders."""
    scores = tuple(EncoderScore(**row) for row in rows)
    table = EncoderTable(metric="mig", data="", scores=scores)
    return [
        above(
            f"CLIP, {family} encoders: change of MIG with ten times the parameters",
            (trend, None),
            expected=f"above 0; {table.trend(family, 'published'):+.3f} in the source",
        )
        for family in FAMILIES
        if (trend := table.trend(family, "measured")) is not None
    ]


CLAIM = Claim(
    name="ottlik-encoder-size",
    source="Ottlik, Ram and Liss (2022), Table 1",
    text="Frozen encoders that nobody trained to disentangle do so more the larger "
    "they are.",
    measure=measure,
    studies=(_STUDY,),
)
