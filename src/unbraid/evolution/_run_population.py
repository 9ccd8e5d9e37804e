"""Training a population to the end, with any executor."""

from collections.abc import Callable

from unbraid.execution import (
    AbstractExecutor,
    Job,
    JobQueue,
    Observer,
    Outcome,
    run_jobs,
)

from ._population import Population

RunPopulation = Callable[[Population], Population]
"""Function that trains a population to the end."""


def make_population_runner(
    executor: AbstractExecutor, observer: Observer
) -> RunPopulation:
    """Return a function that trains a population with an executor.

    After Ctrl-C, the function raises ``KeyboardInterrupt``; a second call continues.

    Args:
        executor: Executor that trains the models.
        observer: Notified of every event.
    """

    def run(population: Population) -> Population:
        with population.lock():
            if not population.is_over:
                _run(population, executor, observer)
        return population

    return run


def _run(
    population: Population, executor: AbstractExecutor, observer: Observer
) -> None:
    queue = JobQueue(population.jobs(), more_to_come=True)
    observer.begin(
        n_runs=population.n_jobs,
        n_done=population.n_jobs - population.n_jobs_left,
        n_workers=executor.n_workers,
    )

    def on_end(job: Job, outcome: Outcome) -> str:
        queue.add(population.record_outcome(job, outcome))
        if population.is_over:
            queue.close()
        return ""

    run_jobs(queue, executor, observer, on_end)
    if not population.is_over:
        raise KeyboardInterrupt(
            f"Interrupted in generation {len(population.lineage.generations) + 1}; "
            f"finished models are kept in {population.folder}"
        )
