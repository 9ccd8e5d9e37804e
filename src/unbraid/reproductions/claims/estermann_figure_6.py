"""More leaf runs give better models, the first of them most."""

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import mean_of
from unbraid.reproductions._populations import (
    RECURSIVE,
    SCORES,
    population_table,
    scores_of,
)
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._score_panels import draw_score_panels


def measure(evidence: Evidence) -> Measured:
    """What leaf runs add, seed by seed, as they share all that comes before."""
    numbers = sorted(
        {
            cell.spec.evolution.recursion.leaf_runs
            for cell in evidence.cells(RECURSIVE)
            if cell.spec.evolution
        }
    )
    checks = []
    for score, name in SCORES.items():
        by_number = {
            number: scores_of(
                evidence,
                RECURSIVE,
                score,
                lambda evolution, number=number: (
                    evolution.recursion.leaf_runs == number
                ),
            )
            for number in (numbers[0], numbers[1], numbers[-1])
        }
        for last in dict.fromkeys((numbers[1], numbers[-1])):
            gains = by_number[last] - by_number[numbers[0]]
            value, interval = mean_of(gains)
            checks.append(
                Check(
                    quantity=f"{name} with {last} leaf runs less {numbers[0]}",
                    expected="above 0",
                    value=value,
                    interval=interval,
                    least=0.0,
                )
            )
    table = population_table(evidence, RECURSIVE)
    figure = draw_score_panels(table, "setting", {"score.mig": "MIG"})
    return Measured(checks=checks, figure=figure)


CLAIM = Reproduction(
    name="estermann-figure-6",
    source="Estermann et al. (2020), Figure 6",
    claim="Scores of rPU-VAE improve with the number of leaf runs, most from none to "
    "one.",
    measure=measure,
    studies=(RECURSIVE,),
)
