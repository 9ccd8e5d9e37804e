"""One call reads each file once and builds each network once per trained run."""

import numpy as np
import pytest
from file_reads import MAIN, traced
from small_discovery import lamps, plan_race, plan_small

from unbraid.cli import main
from unbraid.cli.commands import ExecutorOptions
from unbraid.data import open_cached
from unbraid.discovery import discover
from unbraid.execution import InlineExecutor
from unbraid.training import load, read_model

# Files of runs that an earlier call finished are looked at before anything is planned,
# so that a damaged model is trained again, and loaded when all runs are done.
CHECKED_AGAIN = {"model.json", "model.safetensors"}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "lamps.npy"
    np.save(path, lamps().images(np.arange(216)))
    open_cached.cache_clear()
    return f"{path}:channels_first=true"


def test_discover_reads_each_file_and_builds_each_network_once(
    tmp_path, data, monkeypatch
):
    out = tmp_path / "found"
    plan_small(out, data, betas=(0.3, 1), steps=300)
    with traced(tmp_path, monkeypatch) as trace:
        found = discover(data, out, executor=InlineExecutor())
    assert found.model is not None
    assert found.report is not None
    assert trace.repeated() == {}
    # Six runs: trained once by their jobs, loaded once to be compared.
    assert trace.builds.pop(MAIN) == 6
    assert list(trace.builds.values()) == [1] * 6
    assert list(trace.opened.values()) == [1]
    assert "study.yaml" not in trace.read_by(MAIN)
    assert {"plan.json", "scores.json", "traces.safetensors"} <= trace.read_by(MAIN)


def test_a_race_reads_each_file_once_in_every_process(tmp_path, data, monkeypatch):
    out = tmp_path / "found"
    plan_race(out, data)
    with traced(tmp_path, monkeypatch) as trace:
        discover(data, out, executor=InlineExecutor())
    ours = {key: n for key, n in trace.repeated().items() if key[0] == MAIN}
    assert ours == {}
    assert trace.builds[MAIN] == 3
    assert list(trace.opened.values()) == [1]


def test_a_finished_discovery_reads_only_models_again(tmp_path, data, monkeypatch):
    out = tmp_path / "found"
    plan_small(out, data, betas=(1,), steps=30, seeds=2)
    discover(data, out, executor=InlineExecutor())
    with traced(tmp_path, monkeypatch) as trace:
        discover(data, out, executor=InlineExecutor())
    names = {path.rpartition("/")[2] for _, path in trace.repeated()}
    assert names <= CHECKED_AGAIN
    assert set(trace.repeated().values()) <= {2}
    assert trace.builds == {MAIN: 2}


def run_study(monkeypatch, *arguments):
    monkeypatch.setattr(ExecutorOptions, "make", lambda self: InlineExecutor())
    monkeypatch.setattr("sys.argv", ["unbraid", "study", "run", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_study_run_reads_each_file_and_builds_each_network_once(
    tmp_path, data, monkeypatch
):
    (tmp_path / "small.yaml").write_text(
        f"data: {data}\n"
        "objective: beta_vae\n"
        "network: {name: dense, widths: [16]}\n"
        "training: {steps: 20, n_latents: 3}\n"
        "evaluation: {metrics: [active_units], rows: 64}\n"
        "seeds: 2\n"
    )
    with traced(tmp_path, monkeypatch) as trace:
        assert run_study(monkeypatch, tmp_path / "small.yaml") == 0
    assert trace.repeated() == {}
    assert trace.builds.pop(MAIN) == 1  # the one whose steps are timed
    assert list(trace.builds.values()) == [1, 1]
    assert list(trace.opened.values()) == [1]
    assert not {"study.yaml", "data.json"} & trace.read_by(MAIN)
    with traced(tmp_path, monkeypatch) as trace:
        assert run_study(monkeypatch, tmp_path / "small") == 0
    assert trace.repeated() == {}
    assert not trace.builds


@pytest.mark.usefixtures("without_pages")
def test_the_counter_notices_a_second_read_and_a_second_build(
    tmp_path, data, monkeypatch
):
    plan_small(tmp_path / "found", data, betas=(1,), steps=10, seeds=2)
    discover(data, tmp_path / "found", executor=InlineExecutor())
    run = next((tmp_path / "found" / "study" / "runs").iterdir())
    with traced(tmp_path, monkeypatch) as trace:
        load(run)
        assert trace.repeated() == {}
        assert trace.builds == {MAIN: 1}
        read_model(run)
        (run / "scores.json").read_text()
        (run / "scores.json").read_bytes()
    assert sorted(trace.repeated().values()) == [2, 2, 2]
    assert {path.rpartition("/")[2] for _, path in trace.repeated()} == {
        *("model.json", "model.safetensors", "scores.json")
    }
    assert trace.builds == {MAIN: 2}
