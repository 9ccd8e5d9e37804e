"""The progress of a discovery, on a terminal and in a pipe."""

import dataclasses
import io
import re

import pytest
from rich.console import Console
from small_discovery import lamps, plan_race

from unbraid.cli._race_view import RaceView
from unbraid.discovery import discover, judge, read_plan
from unbraid.execution import Event, InlineExecutor, Job, Outcome


def follow(folder, **options):
    plan_race(folder, lamps())
    output = io.StringIO()
    view = RaceView(Console(file=output, width=150, **options))
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is told of the pages, which take seconds to draw.
        patch.setattr(
            "unbraid.discovery._write_discovery._write_pages", lambda *_: None
        )
        discover(lamps(), folder, executor=InlineExecutor(), observer=view)
    view.close()
    return output.getvalue()


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return follow(tmp_path_factory.mktemp("lines")).splitlines()


def test_a_pipe_gets_a_line_per_round_run_and_configuration(lines):
    first = lines.index(
        "Round 1 of 3: 3 configurations with 2 seeds each up to step 200, about 1 s"
    )
    assert re.fullmatch(
        r"  beta_vae beta=0.3, seed 0 trained \(1 of 6, about \d+ s left\)",
        lines[first + 1],
    )
    standing = lines[first + 7]
    assert re.fullmatch(
        r"  beta_vae beta=(0.3|1): \d\.\d reproducible latents of \d\.\d active, "
        r"agreement 0\.\d\d \(chance 0\.\d\d\), ELBO -\d+\.\d, continues",
        standing,
    )
    assert lines[first + 9].startswith("  beta_vae beta=1000: 0.0 reproducible")
    assert lines[first + 9].endswith("stops here")
    assert any(line.startswith("Round 3 of 3: 1 configuration with") for line in lines)


def test_runs_are_called_by_what_they_are_and_not_by_their_ids(lines):
    assert not any(re.search(r"\b[0-9a-f]{16}\b", line) for line in lines)


def test_a_terminal_gets_a_table_of_what_is_still_in_the_race(tmp_path):
    text = follow(tmp_path, force_terminal=True)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert "configuration" in shown
    assert "found again" in shown
    assert "Round 3 of 3" in shown
    assert re.search(r"\d\.\d of \d\.\d latents", shown)
    last = shown[shown.rindex("Round 3 of 3") :]
    assert "beta=1000" not in last
    assert "800" in last


def test_failures_are_shown_with_the_name_of_the_run(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise ArithmeticError("no numbers left")

    monkeypatch.setattr("unbraid.studies._work.train_run", fail)
    with pytest.raises(ValueError, match="two finished runs"):
        follow(tmp_path)


def test_the_time_left_counts_only_what_this_round_has_to_do(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("unbraid.cli._race_view.time.monotonic", lambda: clock[0])
    plan_race(tmp_path, lamps())
    plan = read_plan(tmp_path)
    slow = [rung.model_copy(update={"seconds": 100.0}) for rung in plan.rungs]
    plan = dataclasses.replace(plan, rungs=tuple(slow))
    view = RaceView(Console(file=io.StringIO()))
    view.begin_rung(plan, 0)
    for spec in plan.rung_study(0).runs():
        job = Job(
            id="id",
            kind="unbraid.studies:do_run",
            folder="folder",
            spec={"run": spec.to_plain(), "until": 200},
        )
        view.notify(Event("ended", job, Outcome("id", "done")))
    standings = judge({name: [] for name in ("a", "b", "c")}, n_kept=2)
    view.begin_rung(plan.with_result(standings), 1)
    view.begin(n_runs=6, n_done=0, n_workers=2)
    clock[0] = 1.0
    assert view._seconds_left() == pytest.approx(199.0)
    # Resumed with four of six runs done: what is left is what was planned.
    fresh = RaceView(Console(file=io.StringIO()))
    fresh.begin_rung(plan, 0)
    fresh.begin(n_runs=6, n_done=4, n_workers=2)
    assert fresh._share_done() == 0.0
