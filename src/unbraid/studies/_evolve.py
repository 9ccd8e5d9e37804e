"""evolve: from the settings of a run to the winner of its population."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.models import Autoencoder
from unbraid.randomness import numpy_generator
from unbraid.selection import AgreementScore, MemberScore, MetricScore

from ._evolution import Evolution
from ._opened import opened
from ._population import Population
from ._population_plan import PopulationPlan
from ._recursion import Grow, Recursion, RecursionPlan, Stage
from ._specification import RunSpec


@dataclass(frozen=True, eq=False)
class Evolved:
    """What a population has come to.

    Attributes:
        model: The best model of the best member.
        population: That it belongs to, complete.
        stages: What was learned on the way, if it was a recursion.
    """

    model: Autoencoder
    population: Population
    stages: tuple[Stage, ...] = ()


def evolve_with(
    spec: RunSpec,
    folder: Path,
    grow: Grow,
    *,
    populations: Path | None = None,
    score: MemberScore | None = None,
    score_name: str = "own",
    device: str = "cpu",
) -> Evolved:
    """Breed what the settings of a run ask for.

    Args:
        spec: With an ``evolution``.
        folder: For what is its own.
        grow: Breeds a population to its end.
        populations: Folder for populations, each under its id; within ``folder`` when
            not given.
        score: Of members, in place of what the settings say.
        score_name: What decides that score, in words.
        device: Where each model computes.
    """
    evolution = spec.evolution
    if evolution is None:
        raise ValueError("evolve: expected settings with an evolution, got none.")
    populations = populations or folder / "populations"
    if evolution.method == "recursive" and score is None:
        plan = RecursionPlan(
            run=spec,
            unsupervised=evolution.population,
            final=evolution.final,
            settings=evolution.recursion,
            compared=evolution.rows,
            metric=evolution.metric,
        )
        recursion = Recursion(plan, folder, populations, device=device)
        population = recursion.run(grow)
        return Evolved(population.winner(), population, tuple(recursion.stages))
    dataset = opened(spec.data).dataset
    if score is None:
        score, score_name = _score_of(evolution, dataset)
    plan = PopulationPlan(
        run=spec,
        settings=evolution.population,
        score=score,
        score_name=score_name,
        scored=_scored_rows(dataset, evolution, spec.seed),
    )
    population = grow(Population(plan, populations / plan.id, device=device))
    return Evolved(population.winner(), population)


def _score_of(
    evolution: Evolution, dataset: AbstractDataset
) -> tuple[MemberScore, str]:
    if evolution.method == "unsupervised":
        return AgreementScore(), "agreement"
    if not dataset.factor_names:
        raise ValueError(
            f"evolve: expected data with labels for the method 'supervised', got "
            f"{dataset.name!r} without. Use 'unsupervised' or 'recursive'."
        )
    return MetricScore(evolution.metric), evolution.metric


def _scored_rows(
    dataset: AbstractDataset, evolution: Evolution, seed: int
) -> NDArray[np.int64]:
    """Rows on which members are scored; of few labels, those that have one."""
    n_rows = min(len(dataset), evolution.labels or evolution.rows)
    generator = numpy_generator(seed, "scored rows")
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))
