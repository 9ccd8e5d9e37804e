"""Hard margins leave more information in codes that the decoder does not train."""

import math

import numpy as np

from unbraid.training import read_history
from unbraid_claims import Check, Claim, Evidence, Measured, below, mean_of
from unbraid_claims._michlo_runs import paired_gains, without_duplicates
from unbraid_claims._score_panels import draw_score_panels
from unbraid_claims._tables import numbers_of, rows_where

STUDY = "michlo-2022-a5-1"
_SIMILAR = math.log(1.25)
_LIKE = ("data", "objective.margin", "objective.alpha", "objective.triplets", "seed")


def measure(evidence: Evidence) -> Measured:
    """Compare the lowest reconstruction losses of hard and soft margins."""
    lowest = evidence.cached("lowest", lambda: _lowest(evidence))
    table = without_duplicates(evidence.table(STUDY))
    table = rows_where(table, "objective.p", 1)
    table = table.assign(
        **{"log lowest loss": np.log([lowest[run] for run in table["id"]])}
    )
    found = {
        has_gradient: mean_of(
            paired_gains(
                rows_where(table, "objective.decoder_gradient", has_gradient),
                "log lowest loss",
                column="objective.margin_kind",
                better="hard",
                worse="soft",
                like=_LIKE,
            )
        )
        for has_gradient in (False, True)
    }
    value, interval = found[True]
    checks = [
        below(
            "encoder trained by triplets alone: lowest reconstruction loss with hard "
            "margins over that with soft ones, logarithm",
            found[False],
            expected="below 0: hard margins are often much lower",
        ),
        Check(
            quantity="encoder trained by the decoder, too: the same",
            expected="similar, between 1/1.25 and 1.25 times",
            value=value,
            interval=interval,
            least=-_SIMILAR,
            most=_SIMILAR,
        ),
    ]
    methods = [
        f"{kind}, {'with' if has_gradient else 'without'} gradient"
        for kind, has_gradient in zip(
            table["objective.margin_kind"],
            table["objective.decoder_gradient"],
            strict=True,
        )
    ]
    shown = table.assign(
        method=methods, loss=np.exp(numbers_of(table, "log lowest loss"))
    )
    figure = draw_score_panels(shown, "method", {"loss": "lowest reconstruction loss"})
    return Measured(checks=checks, figure=figure)


def _lowest(evidence: Evidence) -> dict[str, float]:
    """Return the lowest reconstruction loss of each run during training."""
    return {
        cell.id: min(
            float(record["reconstruction"])
            for record in read_history(cell.files.path / "history.jsonl")
        )
        for cell in evidence.cells(STUDY)
    }


CLAIM = Claim(
    name="michlo-figure-5-3",
    source="Michlo (2022), Figure 5.3",
    text="If triplets alone train the encoder, hard margins reach lower reconstruction "
    "losses than soft ones; if the decoder trains it, too, both are similar.",
    measure=measure,
    studies=(STUDY,),
)
