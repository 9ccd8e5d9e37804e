"""evolve: populations on the cores of this machine or on a cluster."""

import os

from unbraid.paths import expand_user
from unbraid.selection import MemberScore

from ._conduct import Audience, Nobody, conduct, require_unblocked
from ._evolve import Evolved, evolve_with
from ._job import Job, Outcome
from ._population import Population
from ._queue import JobQueue
from ._recursion import Grow
from ._specification import RunSpec
from .executors import AbstractExecutor, LocalExecutor


def evolve(
    spec: RunSpec,
    out: str | os.PathLike[str],
    *,
    executor: AbstractExecutor | None = None,
    score: MemberScore | None = None,
    score_name: str = "own",
    device: str = "cpu",
    audience: Audience | None = None,
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
        device: Where each model computes.
        audience: Told how it gets on.

    Returns:
        The best model, its population, and the stages of a recursion.

    Raises:
        ValueError: If no member can be trained, or the first population of a recursion
            learns nothing.
        KeyboardInterrupt: After Ctrl-C; the same call goes on.
        OSError: If the disk is full or cannot be written.

    A population scored by a metric, and the run that leads to its winner::

        spec = RunSpec.read({"data": "xy_object", "objective": "beta_tc_vae",
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
    grow = grow_on(executor or LocalExecutor(), audience or Nobody())
    return evolve_with(
        spec, folder, grow, score=score, score_name=score_name, device=device
    )


def grow_on(executor: AbstractExecutor, audience: Audience) -> Grow:
    """A function that breeds a population on an executor."""

    def grow(population: Population) -> Population:
        with population.held():
            if not population.is_over:
                _grow(population, executor, audience)
        return population

    return grow


def _grow(
    population: Population, executor: AbstractExecutor, audience: Audience
) -> None:
    jobs = population.jobs()
    audience.begin(
        n_runs=population.n_jobs,
        n_done=population.n_jobs - population.n_jobs_left,
        n_workers=executor.n_workers,
    )
    queue = JobQueue(jobs, more_to_come=True)

    def ended(job: Job, outcome: Outcome) -> str:
        queue.add(population.settle(job, outcome))
        if population.is_over:
            queue.close()
        return ""

    require_unblocked(conduct(queue, executor, audience, ended))
    if not population.is_over:
        raise KeyboardInterrupt(
            f"population: interrupted in generation "
            f"{len(population.lineage.generations) + 1}, kept in {population.folder}"
        )
