"""More leaf runs give better models, and the first one helps most."""

from unbraid_claims import Claim, Evidence, Measured, above, mean_of
from unbraid_claims._populations import (
    RECURSIVE,
    SCORES,
    by_dataset,
    draw_populations,
    has_leaf_runs,
    leaf_run_numbers,
    scores_of,
)


def measure(evidence: Evidence) -> Measured:
    """Compare scores with and without leaf runs, for each seed."""
    every = evidence.cells(RECURSIVE)
    checks = []
    for dataset, cells in by_dataset(every).items():
        first, *others = leaf_run_numbers(cells)
        for score, name in SCORES.items():
            for last in dict.fromkeys((others[0], others[-1])):
                with_runs, without = (
                    scores_of(cells, score, has_leaf_runs(number))
                    for number in (last, first)
                )
                quantity = f"{dataset}: {name} with {last} leaf runs less {first}"
                checks.append(above(quantity, mean_of(with_runs - without)))
    return Measured(checks=checks, figure=draw_populations(every))


CLAIM = Claim(
    name="estermann-figure-6",
    source="Estermann et al. (2020), Figure 6",
    text="Scores of rPU-VAE improve with the number of leaf runs, most from none to "
    "one.",
    measure=measure,
    studies=(RECURSIVE,),
    changed="2026-11-18",
)
