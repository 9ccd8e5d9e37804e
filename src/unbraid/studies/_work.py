"""One run of a study from beginning to end, in the process that is called."""

import os
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unbraid.errors import CheckpointFormatError, NewerFormatError
from unbraid.files import set_aside
from unbraid.locks import locked
from unbraid.training import Run, train_run
from unbraid.training._diagnosis import HISTORY_DAMAGED
from unbraid.training._model_file import copy_model, hash_of_model
from unbraid.training._tensor_file import write_json
from unbraid.training.loggers import AbstractLogger

from ._evolve import evolve_with
from ._job import OUTSIDE, Job, Outcome, fail, sentence
from ._opened import OpenedData, opened
from ._population import grow_here
from ._preview import read_preview, write_preview
from ._scoring import score_run
from ._specification import RunSpec
from ._store import RunPlace
from ._stretch import work_stretch


def work(job: Job, loggers: Sequence[AbstractLogger] = ()) -> Outcome:
    """Train and score one run, or go on with it.

    What goes wrong with the run is written into its folder and told, never raised.

    Args:
        job: What to do.
        loggers: To report to, beside those that the job names.
    """
    place = RunPlace(Path(job.folder))
    try:
        with locked(place.lock) as is_ours:
            if not is_ours:
                return Outcome(job.id, "busy", "another process works on it")
            if job.kind == "stretch":
                return work_stretch(job, place, loggers)
            return _work(job, place, loggers)
    except KeyboardInterrupt:
        return Outcome(job.id, "interrupted")
    except OSError as error:
        # Not a fault of the run: the same run on a healthy disk would do.
        return Outcome(job.id, "blocked", sentence(error))


def _work(job: Job, place: RunPlace, loggers: Sequence[AbstractLogger]) -> Outcome:
    if job.until is None and place.scores.is_file():
        return Outcome(job.id, "done")
    if job.until is not None and read_preview(place, step=job.until) is not None:
        return Outcome(job.id, "done")
    place.failure.unlink(missing_ok=True)
    worker = {"pid": os.getpid(), "host": socket.gethostname()}
    write_json(place.worker, worker, kind="worker")
    spec = RunSpec.read(job.spec, job.id)
    write_json(
        place.run,
        {"id": job.id, "spec": spec.to_plain(), "data": job.fingerprint},
        kind="study run",
    )
    try:
        data = opened(spec.data)
        if data.fingerprint != job.fingerprint:
            raise ValueError(
                f"{spec.data}: expected the data that the study began with, got other "
                "data. Run the study again."
            )
        if job.until is not None:
            # A run that has passed the step already is previewed as it is now.
            run = _train(spec, data, place, job, loggers)
            write_preview(place, run.model, data.dataset, step=job.until)
            return Outcome(job.id, "done")
        if spec.evolution is None:
            scores = _train_and_score(spec, data, place, job, loggers)
        else:
            scores = _evolve_and_score(spec, data, place, job)
    except (MemoryError, Exception) as error:
        if isinstance(error, OSError) and error.errno in OUTSIDE:
            raise
        return fail(job, place, error)
    about = {"id": job.id, "model": hash_of_model(place.path)}
    write_json(place.scores, {**about, **scores}, kind="scores")
    return Outcome(job.id, "done")


def _train(
    spec: RunSpec,
    data: OpenedData,
    place: RunPlace,
    job: Job,
    loggers: Sequence[AbstractLogger],
) -> Run:
    """Train a run to its end, or to the step at which the job says to pause."""
    training = spec.training
    statistics = data.statistics if training.standardise else None
    settings = spec.training_spec(data.dataset, statistics)

    def train() -> Run:
        return train_run(
            settings,
            data.dataset,
            device=job.device,
            out=place.path,
            traces=spec.trace_settings(),
            loggers=(*job.loggers, *loggers),
            log_every=training.log_every,
            progress=False,
            until=job.until,
        )

    try:
        return train()
    except NewerFormatError:
        raise
    except CheckpointFormatError:
        # A damaged file costs the run its progress, and nobody anything else.
        _start_afresh(place)
        return train()


def _train_and_score(
    spec: RunSpec,
    data: OpenedData,
    place: RunPlace,
    job: Job,
    loggers: Sequence[AbstractLogger],
) -> dict[str, Any]:
    run = _train(spec, data, place, job, loggers)
    scores = score_run(run.model, data.dataset, spec.evaluation)
    # A history that was damaged since says nothing about the model.
    names = [warning.name for warning in run.warnings]
    warnings = [name for name in names if name != HISTORY_DAMAGED]
    return {**scores, "warnings": warnings}


def _evolve_and_score(
    spec: RunSpec, data: OpenedData, place: RunPlace, job: Job
) -> dict[str, Any]:
    # Beside the runs, so that runs which share a population breed it once.
    populations = place.path.parent.parent / "populations"
    evolved = evolve_with(
        spec, place.path, grow_here, populations=populations, device=job.device
    )
    population = evolved.population
    copy_model(population.winner_folder, place.path)
    scores = score_run(evolved.model, data.dataset, spec.evaluation)
    lineage = population.lineage
    about = {
        "population": population.plan.id,
        "generations": len(lineage.generations),
        "score": max(lineage.best_scores),
        "reason": lineage.reason,
        "stages": [asdict(stage) for stage in evolved.stages],
    }
    return {**scores, "warnings": [], "evolution": about}


_OF_TRAINING = (
    "spec.json",
    "status.json",
    "history.jsonl",
    "model.json",
    "model.safetensors",
    "state.safetensors",
    "traces.safetensors",
)


def _start_afresh(place: RunPlace) -> None:
    """Free the names of all files of the training; they may be of another run."""
    for name in _OF_TRAINING:
        set_aside(place.path / name)
