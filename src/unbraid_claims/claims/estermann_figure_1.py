"""Populations scored with labels beat models trained separately."""

from unbraid_claims import Claim, Evidence, Measured, above, gain_of
from unbraid_claims._populations import (
    SCORES,
    SUPERVISED,
    draw_populations,
    scores_of,
)


def measure(evidence: Evidence) -> Measured:
    """Compare the MIG of populations and of as many models trained separately."""
    cells = evidence.cells(SUPERVISED)
    checks = []
    for score, name in SCORES.items():
        by_mig, by_dci = (
            scores_of(
                cells,
                score,
                lambda evolution, metric=metric: (
                    evolution.metric == metric
                    and evolution.labels is None
                    and evolution.population.generations > 1
                ),
            )
            for metric in ("mig", "dci")
        )
        quantity = f"{name} of populations scored by MIG less by DCI"
        expected = "above 0: MIG is the better guide"
        checks.append(above(quantity, gain_of(by_mig, by_dci), expected=expected))
    for labels, few in (("all labels", False), ("few labels", True)):
        bred, apart = (
            scores_of(
                cells,
                "mig",
                lambda evolution, single=single, few=few: (
                    evolution.metric == "mig"
                    and (evolution.labels is not None) == few
                    and (evolution.population.generations == 1) == single
                ),
            )
            for single in (False, True)
        )
        quantity = f"{labels}: MIG of the population less the best trained apart"
        checks.append(above(quantity, gain_of(bred, apart)))
    return Measured(checks=checks, figure=draw_populations(cells))


CLAIM = Claim(
    name="estermann-figure-1",
    source="Estermann et al. (2020), Figure 1",
    text="Population-based training with labels, scored by MIG rather than DCI, beats "
    "choosing among as many models that are trained apart, with all labels or few.",
    measure=measure,
    studies=(SUPERVISED,),
)
