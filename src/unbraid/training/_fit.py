"""fit and train_run: train a model."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Unpack

import torch

from unbraid.data import (
    AbstractDataset,
    BatchStream,
    as_dataset,
    describe_source,
    find_framing,
)
from unbraid.foundation import deferred_interruption, torch_generator
from unbraid.models import choose_objective
from unbraid.models.objectives import AbstractObjective, LossContext

from ._denormals import flushed_denormals
from ._diagnosis import check_range
from ._loop import Snapshot, train
from ._own_parts import hash_own_parts
from ._progress import ProgressBar
from ._recording import Recording
from ._run import Run
from ._run_folder import RunFolder
from ._scores import ScoreRecorder, ScoreSettings
from ._setting_types import read_count
from ._settings import TrainingOverrides, TrainingSettings
from ._settings_arguments import list_settings, read_settings
from ._specification import TrainingSpec
from ._specify import specify
from ._state import TrainingState
from ._trace import TraceRecorder, TraceSettings
from .loggers import AbstractLogger, choose_logger

_DEVICES = ("auto", "cpu", "cuda", "mps")


@list_settings
def fit(
    objective: AbstractObjective | str,
    data: Any,
    *,
    options: Mapping[str, Any] | None = None,
    device: str | torch.device = "auto",
    out: str | os.PathLike[str] | None = None,
    save_every: int | None = None,
    save_every_seconds: float = 30.0,
    traces: TraceSettings | bool = False,
    score_every: int | None = None,
    score_metrics: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = "mig",
    score_rows: int = 10_000,
    loggers: Sequence[AbstractLogger | str] = (),
    progress: bool = True,
    settings: TrainingSettings | None = None,
    **overrides: Unpack[TrainingOverrides],
) -> Run:
    """Train a model.

    With a folder, the run is kept in it and may be interrupted at any moment: the same
    call continues from the last saved state and ends with the same bytes (on a CPU) as
    if it had never been interrupted. A finished run is not computed again. After an
    interruption, the next history record averages only the resumed steps.

    Args:
        objective: Training objective, or its name.
        data: A dataset, an array of images ``(n, ...)`` or of vectors ``(n, length)``,
            a ``DataLoader``, or a name, folder or file as on the command line.
        options: Hyperparameters of a named objective, such as ``{"beta": 8.0}``.
        {settings}
        device: Device to train on; ``"auto"`` takes the first available of cuda, mps
            and cpu.
        out: Folder to keep the run in.
        save_every: Steps between saved states, a multiple of ``log_every``.
        save_every_seconds: Seconds after which a state is saved at the next record of
            the history.
        traces: Settings of the activations to record, or ``True`` for the defaults.
        score_every: Steps between scores during training; none if not given. Scores do
            not change the training, and nothing is chosen by them.
        score_metrics: Metrics of these scores, as for :func:`unbraid.evaluate`; those
            with names only.
        score_rows: Largest number of rows to score on, the same every time.
        loggers: Loggers, or their names, to report to besides the folder.
        progress: Show a progress bar if the standard error is a terminal.
        settings: Settings to start from, if not the defaults; the arguments above
            replace single ones.

    Returns:
        The run, with its model, history, scores and warnings.

    Raises:
        TrainingDivergedError: If the loss is no longer finite; the message names the
            term and the step. The last good state is kept.
        FolderInUseError: If another process is training in the folder.
        CheckpointFormatError: If the folder belongs to a run with other settings or
            data.
        KeyboardInterrupt: After Ctrl-C, when the state is saved.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> run = fit("beta_vae", squares, steps=20, n_latents=2)
        >>> run.model.n_latents, run.history[-1]["step"]
        (2, 20)
    """
    if options is not None and not isinstance(objective, str):
        raise ValueError(
            "fit takes options only with the name of an objective, but objective is "
            f"{objective!r}. Set its fields instead."
        )
    chosen = read_settings(fit, settings, overrides)
    dataset = as_dataset(data)
    scores = None
    if score_every is not None:
        scores = ScoreSettings(
            every=score_every, metrics=score_metrics, rows=score_rows
        )
    return train_run(
        specify(choose_objective(objective, options), dataset, settings=chosen),
        dataset,
        source=describe_source(data),
        device=device,
        out=out,
        save_every=save_every,
        save_every_seconds=save_every_seconds,
        traces=traces,
        scores=scores,
        loggers=loggers,
        log_every=chosen.log_every,
        progress=progress,
    )


def train_run(
    spec: TrainingSpec,
    dataset: AbstractDataset,
    *,
    device: str | torch.device = "auto",
    out: str | os.PathLike[str] | None = None,
    save_every: int | None = None,
    save_every_seconds: float = 30.0,
    traces: TraceSettings | bool = False,
    scores: ScoreSettings | None = None,
    loggers: Sequence[AbstractLogger | str] = (),
    log_every: int = TrainingSettings().log_every,
    progress: bool = True,
    until: int | None = None,
    source: str = "",
) -> Run:
    """Train a model from the settings of a run.

    Args:
        spec: Settings of the run.
        dataset: Data to train on.
        device: See :func:`fit`, as for the following arguments.
        out: Folder of the run.
        save_every: Steps between saved states.
        save_every_seconds: Seconds between saved states.
        traces: Settings of the activations to record, or ``True`` for the defaults.
        scores: Settings of the scores during training, if there are any.
        loggers: Loggers, or their names.
        log_every: Number of steps between two records of the history.
        progress: Whether to show a progress bar.
        until: Step at which to pause, a multiple of ``log_every``. The state is saved,
            and a later call continues the run with the same result as if it had never
            paused. A run that has passed this step is left as it is. ``None`` trains to
            the end.
        source: Text from which the data can be opened again; by default that of
            ``dataset``, if there is one. It is kept in the folder for reports and
            evaluations.

    Returns:
        The run. If it is paused, its model is that of the step reached.
    """
    log_every = read_count("log_every", log_every)
    _check_intervals(log_every, save_every, save_every_seconds)
    last = spec.steps if until is None else read_count("until", until)
    if last < spec.steps and last % log_every:
        raise ValueError(
            f"until must be a multiple of log_every={log_every}, got {until}."
        )
    check_range(spec, dataset)
    settings = None
    if traces is True:
        usual = TraceSettings().n_snapshots
        settings = TraceSettings(n_snapshots=min(usual, spec.steps + 1))
    elif traces:
        settings = traces
    folder = None if out is None else RunFolder(out)
    chosen_device = choose_device(device)
    # Before the folder is claimed, so that wrong settings leave no files there.
    state = TrainingState.create(spec, device=chosen_device)
    state.model.framing = find_framing(dataset)
    tracer = _make_tracer(settings, spec, dataset, state, folder)
    scorer = _make_scorer(scores, spec, dataset, state, folder)
    stream = make_stream(spec, dataset, chosen_device)
    chosen = tuple(map(choose_logger, loggers))
    _try_loss(spec, state, stream)
    run_id = ""
    if folder is not None:
        own = hash_own_parts(spec, state.model)
        source = source or describe_source(dataset)
        run_id = folder.claim(spec, dataset, settings, scores, own, source)
        if folder.is_finished:
            return _load_finished(folder, spec, chosen_device)
    bar = (ProgressBar(spec.steps),) if progress else ()
    recording = Recording(
        spec=spec,
        state=state,
        folder=folder,
        run_id=run_id,
        tracer=tracer,
        scorer=scorer,
        loggers=(*chosen, *bar),
        save_every=save_every,
        save_every_seconds=save_every_seconds,
    )
    with contextlib.nullcontext() if folder is None else folder.locked():
        return _run(recording, stream, log_every, until)


def _try_loss(spec: TrainingSpec, state: TrainingState, stream: BatchStream) -> None:
    """Evaluate the loss once, so that errors surface before anything is written."""
    batch = stream.batch(0)
    generator = torch_generator(spec.seed, "trial", device=batch.images.device)
    # As in training, because threads keep this mode from when they are started.
    with torch.no_grad(), flushed_denormals(), torch.random.fork_rng():
        context = LossContext(generator=generator, extra=state.extra)
        spec.objective.loss(state.model, batch, context)


def _load_finished(folder: RunFolder, spec: TrainingSpec, device: torch.device) -> Run:
    run = Run.load(
        folder.path,
        objective=spec.objective,
        network=spec.network,
        likelihood=spec.likelihood,
    )
    run.model.to(device)
    return run


def _make_tracer(
    settings: TraceSettings | None,
    spec: TrainingSpec,
    dataset: AbstractDataset,
    state: TrainingState,
    folder: RunFolder | None,
) -> TraceRecorder | None:
    if settings is None:
        return None
    path = None if folder is None else folder.traces
    return TraceRecorder(settings, dataset, state.model, n_steps=spec.steps, path=path)


def _make_scorer(
    settings: ScoreSettings | None,
    spec: TrainingSpec,
    dataset: AbstractDataset,
    state: TrainingState,
    folder: RunFolder | None,
) -> ScoreRecorder | None:
    if settings is None:
        return None
    path = None if folder is None else folder.scores
    return ScoreRecorder(settings, dataset, state.model, n_steps=spec.steps, path=path)


def _run(
    recording: Recording, stream: BatchStream, log_every: int, until: int | None
) -> Run:
    spec, state = recording.spec, recording.state
    last = spec.steps if until is None else min(until, spec.steps)
    try:
        recording.start()
        with deferred_interruption() as is_interrupted:
            for snapshot in _train_segments(
                state,
                stream,
                spec,
                last=last,
                every=log_every,
                also=recording.wanted_steps,
                is_interrupted=is_interrupted,
            ):
                recording.observe()
                if snapshot.step % log_every == 0 or snapshot.step == spec.steps:
                    recording.add(snapshot)
                if is_interrupted():
                    raise recording.interrupt()
        return recording.finish() if state.step == spec.steps else recording.pause()
    except Exception as error:
        recording.fail(error)
        raise
    finally:
        recording.close()


def _train_segments(
    state: TrainingState,
    stream: BatchStream,
    spec: TrainingSpec,
    *,
    last: int,
    every: int,
    also: Collection[int],
    is_interrupted: Callable[[], bool],
) -> Iterator[Snapshot]:
    """Train the remaining segments of a run up to its step ``last``."""
    for number, part in enumerate(spec.segments()):
        if state.step >= min(part.steps, last):
            continue
        own = make_stream(part, stream.dataset, torch.device(stream.device))
        yield from train(
            state,
            own if number else stream,
            part.objective,
            steps=min(part.steps, last),
            learning_rate=part.learning_rate,
            every=every,
            also=also,
            is_interrupted=is_interrupted,
        )
        if is_interrupted():
            return


def _check_intervals(
    log_every: int, save_every: int | None, save_every_seconds: float
) -> None:
    if not isinstance(save_every_seconds, int | float) or not save_every_seconds >= 0:
        raise ValueError(
            "save_every_seconds must be a non-negative number, got "
            f"{save_every_seconds!r}."
        )
    if save_every is None:
        return
    if read_count("save_every", save_every) % log_every:
        raise ValueError(
            f"save_every must be a multiple of log_every={log_every}, got "
            f"{save_every!r}."
        )


def make_stream(
    spec: TrainingSpec, dataset: AbstractDataset, device: torch.device
) -> BatchStream:
    """Return the stream of batches of a run."""
    return BatchStream(
        dataset=dataset,
        size=spec.batch_size,
        seed=spec.seed,
        order=spec.order,
        sampler=spec.objective.sampler(),
        channels_last=True,
        device=device,
    )


def choose_device(device: str | torch.device) -> torch.device:
    """Return a device; ``"auto"`` is the first available of cuda, mps and cpu."""
    if device != "auto":
        return _check_device(device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def _check_device(device: str | torch.device) -> torch.device:
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        chosen = None
    if chosen is None or chosen.type not in _DEVICES:
        raise ValueError(
            f"device must be one of {', '.join(_DEVICES)}, got {device!r}."
        )
    n_devices = {
        "cpu": 1,
        "cuda": torch.cuda.device_count(),
        "mps": int(torch.backends.mps.is_available()),
    }[chosen.type]
    if (chosen.index or 0) >= n_devices:
        raise ValueError(
            f"The device {str(device)!r} was requested, but this machine has "
            f"{n_devices} of this type. Use 'auto' or 'cpu'."
        )
    return chosen
