"""Train a population from the settings of a run, and return its best model."""

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
from ._run_population import make_population_runner
from ._settings import Evolution, EvolvingSettings


@dataclass(frozen=True, eq=False)
class Evolved:
    """Result of a population.

    Attributes:
        model: Best model of the best member.
        population: Finished population that the model belongs to.
        stages: Stages of a recursion, in order; empty for a single population.
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
    """Train a population, or a recursion of populations, to the end.

    Every model of every member is a job of the executor. Which members are copied and
    how their hyperparameters change depends only on the seed and the scores. Any number
    of workers gives the same lineage, also after an interruption.

    Args:
        spec: Settings of a run with an ``evolution``.
        out: Folder for the results. A second call with the same folder continues.
        executor: Executor that trains the models. Default: the cores of this machine.
        score: Function from the codes of a member's models to a number, used instead of
            the score in the settings. It must be deterministic.
        score_name: Description of that score. Populations with different descriptions
            are kept apart.
        populations: Folder for the populations, each under its id, so that several runs
            can share them. Default: a folder within ``out``.
        device: Device on which each model is trained.
        observer: Notified of every event.

    Returns:
        Best model, its population, and the stages of a recursion.

    Raises:
        ValueError: If no member can be trained, or the first population of a recursion
            learns nothing.
        KeyboardInterrupt: After Ctrl-C. The same call continues.
        OSError: If results cannot be written, for example because the disk is full.

    To train a population that is scored by a metric, and then train its winner again as
    a single run::

        spec = EvolvingSettings.read({"data": "xy_object", "objective": "beta_tc_vae",
                             "evolution": {"method": "supervised"}}, "example")
        result = evolve(spec, "population")
        result.model, result.population.lineage.best_scores
        result.population.replay("again")

    References:
        Jaderberg et al. (2017), Population Based Training of Neural Networks;
        Estermann, Marks and Yanik (2020), Robust Disentanglement of a Few Factors at a
        Time using rPU-VAE, algorithm 1. https://arxiv.org/abs/2010.13527
    """
    folder = expand_user(out).resolve()
    evolution = spec.evolution
    if evolution is None:
        raise ValueError(
            "The settings of evolve need an evolution section, which says how members "
            "are scored."
        )
    populations = populations or folder / "populations"
    with executor or LocalExecutor() as workers:  # the same for all stages
        run = make_population_runner(workers, observer or NullObserver())
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
            score, score_name = _make_score(evolution, dataset)
        plan = PopulationPlan(
            run=spec,
            settings=evolution.population,
            score=score,
            score_name=score_name,
            scored=_draw_scored_rows(dataset, evolution, spec.seed),
        )
        population = run(Population(plan, populations / plan.id, device=device))
        return Evolved(population.winner(), population)


def _make_score(
    evolution: Evolution, dataset: AbstractDataset
) -> tuple[MemberScore, str]:
    if evolution.method == "unsupervised":
        return AgreementScore(), "agreement"
    if not dataset.factor_names:
        raise ValueError(
            f"The method 'supervised' needs labels, but {dataset.name!r} comes without "
            "them. Use 'unsupervised' or 'recursive'."
        )
    return MetricScore(evolution.metric), evolution.metric


def _draw_scored_rows(
    dataset: AbstractDataset, evolution: Evolution, seed: int
) -> NDArray[np.int64]:
    """Draw the rows on which members are scored, as many as there are labels."""
    n_rows = min(len(dataset), evolution.labels or evolution.rows)
    generator = numpy_generator(seed, "scored rows")
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))
