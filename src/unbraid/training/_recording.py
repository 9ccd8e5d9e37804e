"""Everything that is written down while a run goes on."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unbraid.foundation import TrainingDivergedError

from ._checkpoint import load_state, save_state
from ._diagnosis import Diagnosis, diagnose
from ._history import HistoryFile, read_history, record_of
from ._loop import Snapshot
from ._model_file import save_model
from ._run import Run
from ._run_folder import RunFolder
from ._specification import TrainingSpec
from ._state import TrainingState
from ._trace import TraceRecorder
from .loggers import AbstractLogger


@dataclass(kw_only=True)
class Recording:
    """Keeps a run's history, state and traces, in memory and in its folder.

    Args:
        spec: Settings of the run.
        state: What is trained.
        folder: Of the run, if it has one.
        run_id: Of the run, if it has a folder.
        tracer: Recorder of activations, if they are wanted.
        loggers: Told of every record.
        save_every: Steps after which the state is saved.
        save_every_seconds: Seconds after which the state is saved.
    """

    spec: TrainingSpec
    state: TrainingState
    folder: RunFolder | None = None
    run_id: str = ""
    tracer: TraceRecorder | None = None
    loggers: Sequence[AbstractLogger] = ()
    save_every: int | None = None
    save_every_seconds: float = 30.0
    history: list[dict[str, Any]] = field(default_factory=list)

    def start(self) -> None:
        """Begin, or go on from what the folder holds."""
        if self.folder is not None:
            if self.folder.state.is_file():
                load_state(self.state, self.folder.state, run_id=self.run_id)
            if self.tracer is not None:
                self.tracer.resume(self.state.step, self.run_id)
            # A killed run may have written further than its last state.
            self.history = read_history(self.folder.history, until=self.state.step)
            self._file = HistoryFile(self.folder.history, self.history)
            self._write_status("running")
        self.trace()
        self._saved_at, self._saved_step = time.monotonic(), self.state.step
        where = None if self.folder is None else self.folder.path
        for logger in self.loggers:
            logger.start(self.spec.to_plain(), step=self.state.step, folder=where)

    def trace(self) -> None:
        """Record activations, if they are wanted at this step."""
        if self.tracer is not None:
            self.tracer.record(self.state.step)

    def take(self, snapshot: Snapshot) -> None:
        """Write down a snapshot, and save the state if it is time."""
        record = record_of(snapshot)
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
        """Write the state, in place of the last one."""
        if self.folder is None:
            return
        # What the state says has happened must be on the disk before it.
        self._file.sync()
        save_state(self.state, self.folder.state, run_id=self.run_id)
        self._saved_at, self._saved_step = time.monotonic(), self.state.step

    def interrupt(self) -> KeyboardInterrupt:
        """Save, and say how to go on."""
        self.save()
        self._write_status("interrupted")
        where = "" if self.folder is None else f", saved in {self.folder.path}"
        return KeyboardInterrupt(f"fit: interrupted at step {self.state.step}{where}")

    def fail(self, error: Exception) -> None:
        """Write down why there is no model; the last good state stays."""
        reason, warnings = f"{type(error).__name__}: {error}", ()
        if isinstance(error, TrainingDivergedError):
            reason = str(error)
            warnings = (Diagnosis("diverged", reason, error.step),)
        # A disk that is full may be what failed; its own error says more.
        with contextlib.suppress(OSError):
            self._write_status("failed", error=reason, warnings=warnings)

    def pause(self) -> Run:
        """Save the state of an unfinished run, and return the run so far."""
        self.save()
        self._write_status("paused")
        return self._result(())

    def finish(self) -> Run:
        """Write the model, and hand over the run."""
        warnings = diagnose(self.spec, self.history)
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
        )

    def close(self) -> None:
        """Let go of files and loggers."""
        if self.folder is not None and hasattr(self, "_file"):
            self._file.close()
        for logger in self.loggers:
            logger.close()

    def _write_status(self, status: Any, **more: Any) -> None:
        if self.folder is not None:
            step, steps = self.state.step, self.spec.steps
            self.folder.write_status(status, step=step, steps=steps, **more)
