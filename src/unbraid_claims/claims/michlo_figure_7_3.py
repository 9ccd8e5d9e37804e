"""Scores depend on the choice of factors for the same images."""

from unbraid_claims import Claim, Evidence, Measured, above, mean_of
from unbraid_claims._michlo_runs import (
    FRAMEWORKS,
    SCORES,
    framework,
    frameworks_of,
    paired_gains,
    short_data,
)
from unbraid_claims._score_panels import draw_score_panels

_STUDY = "michlo-2022-a7-1"


def measure(evidence: Evidence) -> Measured:
    """Compare scores with shade and hue as factors and with color as one factor."""
    table = evidence.table(_STUDY)
    table = table.assign(kind=short_data(table))
    checks = []
    for name, method in FRAMEWORKS.items():
        for score, called in SCORES.items():
            gains = paired_gains(
                framework(table, name),
                score,
                column="kind",
                better="xy_object_shaded",
                worse="xy_object",
                like=("objective.beta", "seed"),
            )
            quantity = f"{method}: {called} gained by splitting color into shade and "
            checks.append(above(f"{quantity}hue, same beta and seed", mean_of(gains)))
    shown = table.assign(framework=frameworks_of(table))
    figure = draw_score_panels(shown, ["framework", "kind"], SCORES)
    return Measured(checks=checks, figure=figure)


CLAIM = Claim(
    name="michlo-figure-7-3",
    source="Michlo (2022), Figure 7.3",
    text="The same images of an object score higher if its color counts as two "
    "factors, shade and hue, than if it counts as one.",
    measure=measure,
    studies=(_STUDY,),
)
