"""Progress of a study: a live table on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from unbraid.foundation import format_duration

if TYPE_CHECKING:  # which imports torch
    from unbraid.execution import Event

# Runs of which the time left is judged: the last ones, as the machine is now.
_RECENT = 50


class StudyView:
    """Draws runs, throughput, failures and time left.

    Args:
        console: Console to draw on; standard error when not given.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._live: Live | None = None
        self._running: dict[str, Event] = {}
        self._failures: deque[str] = deque(maxlen=5)
        self._ends: deque[float] = deque(maxlen=_RECENT)
        self.n_runs = self.n_done = self.n_failed = self.n_retried = 0
        self._n_workers, self._began = 1, time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Say what there is to do."""
        self.n_runs, self.n_done, self._n_workers = n_runs, n_done, n_workers
        self._began = time.monotonic()
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4)
            self._live.start()
        else:
            self._say(f"{n_runs} runs, {n_done} done before, {n_workers} workers")

    def notify(self, event: Event) -> None:
        """Take note of what happened, and show it."""
        job = event.job
        if job is not None and event.kind in ("begun", "progress"):
            self._running[job.id] = event
        if job is not None and event.kind == "ended" and event.outcome is not None:
            self._running.pop(job.id, None)
            self._count(job.id, event.outcome.end, event.outcome.message)
        if self._live is not None:
            self._live.update(self._drawing())

    def _count(self, name: str, end: str, message: str) -> None:
        if end in ("done", "failed"):
            self._ends.append(time.monotonic())
            self.n_done += end == "done"
            self.n_failed += end == "failed"
            left = f", {self._left()} left" if self._left() else ""
            reason = f": {message}" if message else ""
            self._say(
                f"{name} {end}{reason} "
                f"({self.n_done + self.n_failed} of {self.n_runs}{left})"
            )
        elif end == "died":
            self.n_retried += 1
            self._say(f"{name} is tried again: {message}")
        elif end == "blocked":
            self._say(f"{name} stopped: {message}")
        if end == "failed":
            self._failures.append(f"{name}: {message}")

    def close(self) -> None:
        """Leave the last picture as it is."""
        if self._live is not None:
            self._live.update(self._drawing())
            self._live.stop()
            self._live = None

    def _say(self, line: str) -> None:
        if self._live is None:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _left(self) -> str:
        """Time left, as far as the last runs tell."""
        n_left = self.n_runs - self.n_done - self.n_failed
        if not self._ends or not n_left:
            return ""
        since = self._ends[0] if len(self._ends) == _RECENT else self._began
        n_ended = len(self._ends) - (len(self._ends) == _RECENT)
        seconds = (time.monotonic() - since) / max(n_ended, 1) * n_left
        return format_duration(seconds)

    def _drawing(self) -> Group:
        bar = Progress(TextColumn("{task.description}"), BarColumn(None), expand=True)
        ended = self.n_done + self.n_failed
        title = f"{ended} of {self.n_runs} runs"
        if self.n_failed:
            title += f", [red]{self.n_failed} failed[/red]"
        if self.n_retried:
            title += f", {self.n_retried} tried again"
        rate = sum(event.images_per_second for event in self._running.values())
        if rate:
            title += f", {rate:,.0f} images per second"
        if self._left():
            title += f", {self._left()} left"
        bar.add_task(title, total=self.n_runs or 1, completed=ended)
        table = Table.grid(padding=(0, 2))
        for name, event in self._running.items():
            job = event.job
            if job is None:
                continue
            far = f"{event.step:,} of {job.steps:,} steps" if event.step else "begun"
            table.add_row(name, escape(job.description), far)
        lines = [f"[red]{escape(line[:300])}[/red]" for line in self._failures]
        return Group(bar, table, *lines)
