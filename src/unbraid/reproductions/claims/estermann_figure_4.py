"""rPU-VAE beats the plain methods, and nearly reaches supervised populations."""

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import gain_of, spread_ratio
from unbraid.reproductions._populations import (
    PLAIN,
    RECURSIVE,
    SCORES,
    SUPERVISED,
    population_table,
    scores_of,
)
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._score_panels import draw_score_panels
from unbraid.reproductions._scores_by_group import scores_by
from unbraid.studies.analysis import strengths


def measure(evidence: Evidence) -> Measured:
    """rPU-VAE with most leaf runs against the best plain method, in mean and spread."""
    leaf_runs = max(
        cell.spec.evolution.recursion.leaf_runs
        for cell in evidence.cells(RECURSIVE)
        if cell.spec.evolution
    )
    plain = strengths(evidence.table(PLAIN))
    checks = []
    for score, name in SCORES.items():
        ours = scores_of(
            evidence,
            RECURSIVE,
            score,
            lambda evolution: evolution.recursion.leaf_runs == leaf_runs,
        )
        by_method = scores_by(plain, "method", f"score.{score}")
        best = max(by_method, key=lambda method: by_method[method].mean())
        value, interval = gain_of(ours, by_method[best])
        checks.append(
            Check(
                quantity=f"{name} of rPU-VAE less {best.replace('_', ' ')}, the best "
                "plain method in its mean over strengths",
                expected="above 0",
                value=value,
                interval=interval,
                least=0.0,
            )
        )
    recursive = scores_of(
        evidence,
        RECURSIVE,
        "mig",
        lambda evolution: evolution.recursion.leaf_runs == leaf_runs,
    )
    ratio, of_ratio = spread_ratio(
        recursive, list(scores_by(plain, "method", "score.mig").values())
    )
    checks.append(
        Check(
            quantity="deviation of rPU-VAE's MIG over that within plain methods",
            expected="below 1: comparatively little variance",
            value=ratio,
            interval=of_ratio,
            most=1.0,
        )
    )
    supervised = scores_of(
        evidence,
        SUPERVISED,
        "mig",
        lambda evolution: (
            evolution.metric == "mig"
            and evolution.labels is None
            and evolution.population.generations > 1
        ),
    )
    value, interval = gain_of(supervised, recursive)
    checks.append(
        Check(
            quantity="MIG of supervised populations less that of rPU-VAE",
            expected="small, below 0.15",
            value=value,
            interval=interval,
            most=0.15,
        )
    )
    table = population_table(evidence, PLAIN, RECURSIVE, SUPERVISED)
    figure = draw_score_panels(table, "setting", {"score.mig": "MIG"})
    return Measured(checks=checks, figure=figure)


CLAIM = Reproduction(
    name="estermann-figure-4",
    source="Estermann et al. (2020), Figure 4",
    claim="rPU-VAE has higher mean scores than every plain method and little variance, "
    "and comes close to populations that are scored with all labels.",
    measure=measure,
    studies=(PLAIN, SUPERVISED, RECURSIVE),
)
