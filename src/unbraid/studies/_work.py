"""The job of one run of a study: train it, pause it with a preview, or score it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unbraid.data import CachedDataset, open_cached
from unbraid.evolution import evolve
from unbraid.execution import InlineExecutor, Job, Report
from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    set_aside,
    write_json,
)
from unbraid.training import (
    HISTORY_DAMAGED,
    NO_SCORE,
    Run,
    copy_model,
    read_model_hash,
    train_run,
)
from unbraid.training.loggers import AbstractLogger

from ._preview import read_preview, write_preview
from ._run_files import RunFiles
from ._scoring import score_run
from ._specification import RunSpec
from ._store import Cell

KIND = "unbraid.studies:do_run"
"""Kind of the jobs of a study."""


def make_job(
    cell: Cell,
    fingerprint: str,
    *,
    loggers: Sequence[str] = (),
    device: str = "auto",
    until: int | None = None,
) -> Job:
    """Return the job that trains and scores one run.

    Args:
        cell: The run.
        fingerprint: Fingerprint that its data must have.
        loggers: Names of loggers to report to.
        device: Device to train on.
        until: Step at which the run pauses with a preview; ``None`` trains it to the
            end and scores it.
    """
    return Job(
        id=cell.id,
        kind=KIND,
        folder=str(cell.files.path.resolve()),
        spec={
            "run": cell.spec.to_plain(),
            "fingerprint": fingerprint,
            "loggers": list(loggers),
            "until": until,
        },
        device=device,
        steps=cell.spec.training.steps,
        description=_describe(cell.spec),
    )


def _describe(spec: RunSpec) -> str:
    """Describe a run briefly: objective, hyperparameters, seed and data."""
    numbers = [
        f"{name}={value:g}"
        for name, value in spec.objective.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    name, data = spec.objective["name"], spec.data.name
    return " ".join([name, *numbers[:3], f"seed={spec.seed}", data])


def do_run(job: Job, report: Report) -> None:
    """Train and score one run of a study, or continue it.

    Args:
        job: Job from :func:`make_job`.
        report: Called with the progress.
    """
    files, until = RunFiles(Path(job.folder)), job.spec["until"]
    if until is None and files.scores.is_file():
        return
    if until is not None and read_preview(files, step=until) is not None:
        return
    spec, fingerprint = RunSpec.read(job.spec["run"], job.id), job.spec["fingerprint"]
    write_json(
        files.run,
        {"id": job.id, "spec": spec.to_plain(), "data": fingerprint},
        kind="study run",
    )
    data = open_cached(spec.data)
    if data.fingerprint != fingerprint:
        raise ValueError(
            f"{spec.data}: the data have changed since the study began. Run the study "
            "again."
        )
    if until is not None:
        # A run that has passed the step already is previewed as it is now.
        run = _train(spec, data, files, job, report)
        write_preview(files, run.model, data.dataset, step=until)
        return
    if spec.evolution is None:
        scores = _train_and_score(spec, data, files, job, report)
    else:
        scores = _evolve_and_score(spec, data, files, job)
    about = {"id": job.id, "model": read_model_hash(files.path)}
    write_json(files.scores, {**about, **scores}, kind="scores")


class _Progress(AbstractLogger):
    """Reports the progress of a run."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        del settings, step, folder

    def log(self, record: Mapping[str, Any]) -> None:
        self._report(record["step"], record["images_per_second"])


def _train(
    spec: RunSpec,
    data: CachedDataset,
    files: RunFiles,
    job: Job,
    report: Report,
) -> Run:
    """Train a run to its end, or to the step at which the job says to pause."""
    training = spec.training
    statistics = data.statistics if training.standardize else None
    settings = spec.training_spec(data.dataset, statistics)

    def train() -> Run:
        return train_run(
            settings,
            data.dataset,
            device=job.device,
            out=files.path,
            traces=spec.trace_settings(),
            scores=spec.score_settings(),
            loggers=(*job.spec["loggers"], _Progress(report)),
            log_every=training.log_every,
            progress=False,
            until=job.spec["until"],
        )

    try:
        return train()
    except NewerFormatError:
        raise
    except CheckpointFormatError:
        # A damaged file costs the run its progress, and nothing else.
        _start_afresh(files)
        return train()


def _train_and_score(
    spec: RunSpec,
    data: CachedDataset,
    files: RunFiles,
    job: Job,
    report: Report,
) -> dict[str, Any]:
    run = _train(spec, data, files, job, report)
    scores = score_run(run.model, data.dataset, spec.evaluation)
    # A history that was damaged since says nothing about the model, and metrics that
    # could not score it are among the failures.
    names = [warning.name for warning in run.warnings]
    warnings = [name for name in names if name not in (HISTORY_DAMAGED, NO_SCORE)]
    return {**scores, "warnings": warnings}


def _evolve_and_score(
    spec: RunSpec, data: CachedDataset, files: RunFiles, job: Job
) -> dict[str, Any]:
    # Beside the runs, so that runs which share a population train it once.
    populations = files.path.parent.parent / "populations"
    # In this process: its worker has one core, and a job does not start others.
    evolved = evolve(
        spec,
        files.path,
        executor=InlineExecutor(),
        populations=populations,
        device=job.device,
    )
    population = evolved.population
    copy_model(population.winner_folder, files.path)
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
    "scores.jsonl",
)


def _start_afresh(files: RunFiles) -> None:
    """Rename all files of the training, which may belong to another run."""
    for name in _OF_TRAINING:
        set_aside(files.path / name)
