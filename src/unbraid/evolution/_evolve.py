"""evolve: from the settings of a run to the winner of its population."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, open_cached
from unbraid.execution import AbstractExecutor, LocalExecutor, NullObserver, Observer
from unbraid.foundation import expand_user, numpy_generator
from unbraid.models import Autoencoder

from ._member_scores import AgreementScore, MemberScore, MetricScore
from ._population import Population
from ._population_plan import PopulationPlan
from ._recursion import Recursion, RecursionPlan, Stage
from ._run_population import population_runner
from ._settings import Evolution, EvolvingSettings


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


def evolve(
    spec: EvolvingSettings,
    out: str | os.PathLike[str],
    *,
    executor: AbstractExecutor | None = None,
    populations: Path | None = None,
    score: MemberScore | None = None,
    score_name: str = "own",
    device: str = "auto",
    observer: Observer | None = None,
) -> Evolved:
    """Breed a population, or populations recursively, until the end.

    Every model of every member is a job of the executor. Who is copied, and what
    changes, depends on the seed and the scores alone: any number of workers, anywhere,
    gives the same lineage, as does a call that goes on after a kill.

    Args:
        spec: Settings of a run with an ``evolution``.
        out: Folder for the populations; the same call goes on with what it holds.
        executor: Where to compute; on the cores of this machine when not given.
        score: A function from the codes of a member's models to a number, in place of
            what the settings say. It must give the same for the same codes.
        score_name: What decides that score, in words: another name is another
            population.
        populations: Folder for populations, each under its id, so that several runs
            may share them; within ``out`` when not given.
        device: Where each model computes.
        observer: Told how it gets on.

    Returns:
        The best model, its population, and the stages of a recursion.

    Raises:
        ValueError: If no member can be trained, or the first population of a recursion
            learns nothing.
        KeyboardInterrupt: After Ctrl-C; the same call goes on.
        OSError: If the disk is full or cannot be written.

    A population scored by a metric, and the run that leads to its winner::

        spec = EvolvingSettings.read({"data": "xy_object", "objective": "beta_tc_vae",
                             "evolution": {"method": "supervised"}}, "mine")
        found = evolve(spec, "bred")
        found.model, found.population.lineage.best_scores
        found.population.replay("again")

    References:
        Jaderberg et al. (2017), Population Based Training of Neural Networks;
        Estermann, Marks and Yanik (2020), Robust Disentanglement of a Few Factors at a
        Time using rPU-VAE, algorithm 1. https://arxiv.org/abs/2010.13527
    """
    folder = expand_user(out).resolve()
    run = population_runner(executor or LocalExecutor(), observer or NullObserver())
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
        population = recursion.run(run)
        return Evolved(population.winner(), population, tuple(recursion.stages))
    dataset = open_cached(spec.data).dataset
    if score is None:
        score, score_name = _score_of(evolution, dataset)
    plan = PopulationPlan(
        run=spec,
        settings=evolution.population,
        score=score,
        score_name=score_name,
        scored=_scored_rows(dataset, evolution, spec.seed),
    )
    population = run(Population(plan, populations / plan.id, device=device))
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
