"""Progress of a discovery: a live table on a terminal, plain lines in a pipe."""

import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from unbraid.discovery import name_configuration
from unbraid.execution import Event
from unbraid.foundation import format_duration
from unbraid.studies import RunSpec

if TYPE_CHECKING:
    from unbraid.discovery import Plan


class RaceView:
    """Shows which configurations are still in the race, and how far their runs are.

    Args:
        console: Console to draw on; standard error when not given.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._live: Live | None = None
        self._plan: Plan | None = None
        self._number = 0
        self._names: list[str] = []
        # Step of each run of a configuration, by seed.
        self._steps: dict[str, dict[int, int]] = defaultdict(dict)
        self._steps_before = 0
        self._failures: list[str] = []
        self._began = time.monotonic()
        self._n_runs = self._n_done = 0
        self._has_notes = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def begin_rung(self, plan: "Plan", number: int) -> None:
        """Show the runs of a round."""
        self._plan, self._number = plan, number
        self._began = time.monotonic()
        specs = plan.rung_study(number).runs()
        self._names = list(dict.fromkeys(map(name_configuration, specs)))
        if self._console.is_terminal and self._live is None:
            self._live = Live(console=self._console, refresh_per_second=4)
            self._live.start()
        for note in plan.notes if not self._has_notes else ():
            self._print(note)
        self._has_notes = True
        self._print(self._describe_rung(len(specs)))

    def end_rung(self, plan: "Plan", number: int) -> None:
        """Show how the configurations stood, best first."""
        self._plan = plan
        standings = sorted(plan.results[number], key=lambda each: -each.score)
        for each in standings:
            end = "continues" if each.is_kept else "stops here"
            if each.elbo is None or each.active_latents is None:
                self._print(f"  {each.name}: all runs failed, {end}")
                continue
            self._print(
                f"  {each.name}: {max(each.score, 0):.1f} reproducible latents of "
                f"{each.active_latents:.1f} active, agreement {each.agreement:.2f} "
                f"(chance {each.chance:.2f}), ELBO {each.elbo:.1f}, {end}"
            )

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Note how many runs there are."""
        del n_workers
        self._n_runs, self._n_done = n_runs, n_done
        # Runs that were done before this call count as a whole, and take no more time.
        known = self._steps_done()
        self._steps_before = max(known, n_done * self._goal()) if self._plan else 0

    def notify(self, event: Event) -> None:
        """Note what happened to a run, and show it."""
        if event.job is not None and event.kind != "quiet":
            spec = RunSpec.read(event.job.spec["run"], event.job.id)
            name = name_configuration(spec)
            own = self._steps[name]
            own[spec.seed] = max(own.get(spec.seed, 0), event.step)
            if event.kind == "ended" and event.outcome is not None:
                if event.outcome.end == "done":
                    own[spec.seed] = event.job.spec["until"] or spec.training.steps
                self._end_run(f"{name}, seed {spec.seed}", event)
        if self._live is not None:
            self._live.update(self._draw())

    def close(self) -> None:
        """Leave the last table on the screen."""
        if self._live is not None:
            self._live.update(self._draw())
            self._live.stop()
            self._live = None

    def _end_run(self, name: str, event: Event) -> None:
        assert event.outcome is not None
        end, message = event.outcome.end, event.outcome.message
        if end in ("done", "failed"):
            self._n_done += 1
            what = "trained" if end == "done" else f"failed: {message}"
            left = self._seconds_left()
            more = f", about {format_duration(left)} left" if left else ""
            self._print(f"  {name} {what} ({self._n_done} of {self._n_runs}{more})")
        elif end == "died":
            self._print(f"  {name} is tried again: {message}")
        elif end == "blocked":
            self._print(f"  {name} stopped: {message}")
        if end == "failed":
            self._failures.append(f"{name} failed: {message}")

    def _print(self, line: str) -> None:
        if self._live is None:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _describe_rung(self, n_runs: int) -> str:
        plan = self._plan
        assert plan is not None
        if not plan.rungs:
            return f"{n_runs} runs, about {format_duration(plan.seconds)}"
        rung = plan.rungs[self._number]
        return (
            f"Round {self._number + 1} of {len(plan.rungs)}: {rung.description}, about "
            f"{format_duration(rung.seconds)}"
        )

    def _seconds_left(self) -> float:
        """Estimate the time until the end of the last round."""
        plan = self._plan
        if plan is None:
            return 0.0
        planned = plan.rungs[self._number].seconds if plan.rungs else plan.seconds
        later = sum(rung.seconds for rung in plan.rungs[self._number + 1 :])
        spent, share = time.monotonic() - self._began, self._share_done()
        # As fast as this round has been so far; the plan until there is enough of it.
        left = spent * (1 - share) / share if share > 0.1 else planned - spent
        return max(left, 0.0) + later

    def _share_done(self) -> float:
        """Share of the steps of this round that were to be done when it began."""
        if not self._n_runs or self._plan is None:
            return 0.0
        to_do = self._goal() * self._n_runs - self._steps_before
        done = self._steps_done() - self._steps_before
        return min(max(done / to_do, 0.0), 1.0) if to_do > 0 else 1.0

    def _steps_done(self) -> int:
        goal = self._goal() if self._plan else 0
        return sum(
            min(step, goal)
            for name in self._names
            for step in self._steps[name].values()
        )

    def _goal(self) -> int:
        assert self._plan is not None
        if self._plan.rungs:
            return self._plan.rungs[self._number].steps
        return self._plan.steps

    def _draw(self) -> Group:
        plan = self._plan
        if plan is None:
            return Group()
        bar = Progress(TextColumn("{task.description}"), BarColumn(None), expand=True)
        left = self._seconds_left()
        title = self._describe_rung(self._n_runs)
        title += f"; about {format_duration(left)} left in all" if left else ""
        bar.add_task(title, total=100, completed=round(100 * self._share_done()))
        table = Table(box=None, pad_edge=False)
        for title in ("configuration", "steps by seed", "found again", "agreement"):
            table.add_column(title)
        table.add_column("ELBO", justify="right")
        last = {each.name: each for each in plan.results[-1]} if plan.results else {}
        for name in self._names:
            steps = [f"{step:,}" for _, step in sorted(self._steps[name].items())]
            row = [escape(name), "  ".join(steps) or "waiting"]
            each = last.get(name)
            if each and each.elbo is not None and each.active_latents is not None:
                row += [
                    f"{max(each.score, 0):.1f} of {each.active_latents:.1f} latents",
                    f"{each.agreement:.2f} (chance {each.chance:.2f})",
                    f"{each.elbo:.1f}",
                ]
            table.add_row(*row)
        lines = [f"[red]{escape(line[:300])}[/red]" for line in self._failures[-5:]]
        return Group(bar, table, *lines)
