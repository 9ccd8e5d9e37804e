"""Recording of a run: history, states, traces, scores and status."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unbraid.foundation import TrainingDivergedError

from ._checkpoint import load_state, save_state
from ._diagnosis import Diagnosis, diagnose, diagnose_scores
from ._history import HistoryFile, make_record, read_history
from ._loop import Snapshot
from ._model_file import save_model
from ._run import Run
from ._run_folder import RunFolder
from ._scores import ScoreRecorder
from ._specification import TrainingSpec
from ._state import TrainingState
from ._trace import TraceRecorder
from .loggers import AbstractLogger


@dataclass(kw_only=True)
class Recording:
    """Keeps a run's history, state, traces and scores, in memory and in its folder.

    Args:
        spec: Settings of the run.
        state: State of training.
        folder: Folder of the run, if it has one.
        run_id: Id of the run, if it has a folder.
        tracer: Recorder of activations, if they are recorded.
        scorer: Recorder of scores, if the model is scored during training.
        loggers: Loggers, which get every record.
        save_every: Steps after which the state is saved.
        save_every_seconds: Seconds after which the state is saved.
        history: Records so far.
    """

    spec: TrainingSpec
    state: TrainingState
    folder: RunFolder | None = None
    run_id: str = ""
    tracer: TraceRecorder | None = None
    scorer: ScoreRecorder | None = None
    loggers: Sequence[AbstractLogger] = ()
    save_every: int | None = None
    save_every_seconds: float = 30.0
    history: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> None:
        """Start the run, or resume it from its folder."""
        if self.folder is not None:
            if self.folder.state.is_file():
                load_state(self.state, self.folder.state, run_id=self.run_id)
            if self.tracer is not None:
                self.tracer.resume(self.state.step, self.run_id)
            if self.scorer is not None:
                self.scorer.resume(self.state.step)
            # A killed run may have written records after its last state.
            self.history = read_history(self.folder.history, until=self.state.step)
            self._file = HistoryFile(self.folder.history, self.history)
            self._write_status("running")
        self.observe()
        self._saved_at, self._saved_step = time.monotonic(), self.state.step
        where = None if self.folder is None else self.folder.path
        for logger in self.loggers:
            logger.start(self.spec.to_plain(), step=self.state.step, folder=where)

    @property
    def wanted_steps(self) -> tuple[int, ...]:
        """Steps at which activations are recorded, or the model is scored."""
        recorders = (self.tracer, self.scorer)
        return tuple(
            step for each in recorders if each is not None for step in each.wanted
        )

    def observe(self) -> None:
        """Record activations and scores, if they are recorded at this step."""
        if self.tracer is not None:
            self.tracer.record(self.state.step)
        if self.scorer is not None:
            self.scorer.record(self.state.step)

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot to the history, and save the state if it is time."""
        record = make_record(snapshot)
        self.history.append(record)
        if self.folder is not None:
            self._file.append(record)
        for logger in self.loggers:
            logger.log(record)
        if self.folder is not None and not self.folder.state.is_file():
            # The first good state, in case the run diverges before the next is due.
            self.save()
        is_long_ago = time.monotonic() - self._saved_at >= self.save_every_seconds
        n_steps = snapshot.step - self._saved_step
        if is_long_ago or (self.save_every is not None and n_steps >= self.save_every):
            self.save()

    def save(self) -> None:
        """Write the state, replacing the last one."""
        if self.folder is None:
            return
        # History and scores must be on the disk before the state that follows them.
        self._file.sync()
        if self.scorer is not None:
            self.scorer.sync()
        save_state(self.state, self.folder.state, run_id=self.run_id)
        self._saved_at, self._saved_step = time.monotonic(), self.state.step

    def interrupt(self) -> KeyboardInterrupt:
        """Save the state, and return the exception to raise."""
        self.save()
        self._write_status("interrupted")
        where = "" if self.folder is None else f", saved in {self.folder.path}"
        return KeyboardInterrupt(
            f"Training interrupted at step {self.state.step}{where}."
        )

    def fail(self, error: Exception) -> None:
        """Write the reason of a failure; the last good state is kept."""
        reason, warnings = f"{type(error).__name__}: {error}", ()
        if isinstance(error, TrainingDivergedError):
            reason = str(error)
            warnings = (Diagnosis("diverged", reason, error.step),)
        # The failure may be a full disk, whose own error is more useful.
        with contextlib.suppress(OSError):
            self._write_status("failed", error=reason, warnings=warnings)

    def pause(self) -> Run:
        """Save the state of an unfinished run, and return the run so far."""
        self.save()
        self._write_status("paused")
        return self._result(())

    def finish(self) -> Run:
        """Write the model, and return the run."""
        warnings = diagnose(self.spec, self.history)
        if self.scorer is not None:
            warnings += diagnose_scores(self.scorer.failures, self.spec.steps)
        if self.folder is not None:
            self.save()
            model = self.state.model.eval()
            save_model(model, self.folder.path, self.spec, run=self.run_id)
            self._write_status("finished", warnings=warnings)
        return self._result(warnings)

    def _result(self, warnings: tuple[Diagnosis, ...]) -> Run:
        return Run(
            model=self.state.model.eval(),
            history=self.history,
            spec=self.spec,
            warnings=warnings,
            folder=None if self.folder is None else self.folder.path,
            trace=None if self.tracer is None else self.tracer.trace,
            scores=[] if self.scorer is None else self.scorer.records,
        )

    def close(self) -> None:
        """Close files and loggers."""
        if self.folder is not None and hasattr(self, "_file"):
            self._file.close()
        if self.scorer is not None:
            self.scorer.close()
        for logger in self.loggers:
            logger.close()

    def _write_status(self, status: Any, **more: Any) -> None:
        if self.folder is not None:
            step, steps = self.state.step, self.spec.steps
            self.folder.write_status(status, step=step, steps=steps, **more)
