"""A larger budget in the same folder extends a discovery."""

import json

import numpy as np
import pytest
from small_discovery import lamps, plan_race

from unbraid.discovery import discover, judge, plan_discovery, read_plan
from unbraid.execution import InlineExecutor, LocalExecutor
from unbraid.representation import Representation
from unbraid.studies import Cost, Preview


@pytest.fixture
def cost(monkeypatch):
    """A step takes a millisecond, whatever the machine does."""
    known = Cost(per_step=1e-3, fixed=0.5, n_bytes=0)
    for module in ("_proposal", "_extension"):
        monkeypatch.setattr(
            f"unbraid.discovery.{module}.measure_run", lambda *_, **__: known
        )
    # Images of 8x8 pixels are not made smaller, however long a step takes.
    monkeypatch.setattr("unbraid.discovery._image_size._measure", lambda *_: known)
    return known


def plan_for(folder, seconds, n_workers=2, **options):
    executor = LocalExecutor(n_workers)
    return plan_discovery(lamps(), folder, budget=seconds, executor=executor, **options)


def sizes(plan):
    return [(rung.steps, rung.n_configurations, rung.n_seeds) for rung in plan.rungs]


def settings(plan):
    return {run.model_dump_json() for run in plan.study.runs()}


def is_extended(plan):
    return any("The budget was extended" in note for note in plan.notes)


@pytest.mark.parametrize("seconds", [60.0, 180.0, 600.0])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_a_larger_plan_contains_the_smaller_one_and_fits_into_the_time(
    tmp_path, cost, seconds, n_workers
):
    plan = plan_for(tmp_path, seconds, n_workers)
    for factor in (1.2, 1.5, 1.8):
        larger = plan_for(tmp_path, factor * seconds, n_workers)
        assert is_extended(larger)
        assert settings(plan) <= settings(larger)
        for before, now in zip(sizes(plan), sizes(larger), strict=True):
            assert now[0] == before[0]
            assert now[1] >= before[1]
            assert now[2] >= before[2]
        assert larger.seconds <= 0.9 * (factor * seconds - 10)
        plan = larger


def test_more_time_buys_more_finished_runs(tmp_path, cost):
    first = plan_for(tmp_path, 180.0)
    larger = plan_for(tmp_path, 330.0)
    n_before, n_now = (
        plan.rungs[-1].n_configurations * plan.rungs[-1].n_seeds
        for plan in (first, larger)
    )
    assert n_now >= n_before + 3


@pytest.mark.parametrize(
    ("seconds", "options"),
    [
        (40.0, {}),
        (70.0, {"seed": 1}),
        (70.0, {"n_latents": 5}),
        # There is time for runs of more than twice the length.
        (3_600.0, {}),
    ],
)
def test_anything_but_a_somewhat_larger_budget_is_another_plan(
    tmp_path, cost, seconds, options
):
    first = plan_for(tmp_path, 60.0)
    second = plan_for(tmp_path, seconds, **options)
    assert not is_extended(second)
    assert settings(first) != settings(second)
    assert "A new race begins" in second.notes[-1]


@pytest.mark.usefixtures("without_pages")
def test_finished_runs_count_and_the_former_result_is_kept(tmp_path, monkeypatch):
    plan_race(tmp_path, lamps(), asked=60.0)
    first = discover(lamps(), tmp_path, budget=60, executor=InlineExecutor())
    models = sorted((tmp_path / "study" / "runs").glob("*/model.safetensors"))
    written = {path: path.stat().st_mtime_ns for path in models}
    before = read_plan(tmp_path)
    # Its runs are far too short for a real plan, which would begin anew.
    monkeypatch.setattr("unbraid.discovery._make_plan.can_extend", lambda *_: True)
    monkeypatch.setattr("unbraid.discovery._rounds._MOST_SEEDS", 4)
    monkeypatch.setattr("unbraid.discovery._rounds._MOST_CONFIGURATIONS", 4)
    second = discover(lamps(), tmp_path, budget=600, executor=InlineExecutor())
    plan = read_plan(tmp_path)
    assert sizes(plan) == [(200, 4, 2), (400, 3, 3), (800, 3, 4)]
    assert plan.asked["seconds"] == 600
    assert settings(before) < settings(plan)
    assert {path: path.stat().st_mtime_ns for path in models} == written
    assert len(list((tmp_path / "study" / "runs").glob("*/scores.json"))) == 12
    assert second.ranking.chosen is not None
    names = {model.name for model in second.ranking.models}
    assert {model.name for model in first.ranking.models} < names
    # Nothing is trained again by the same command.
    again = discover(lamps(), tmp_path, budget=600, executor=InlineExecutor())
    assert again.ranking.chosen == second.ranking.chosen
    assert read_plan(tmp_path) == plan


def test_former_finalists_go_on_even_if_a_new_configuration_scores_higher():
    def preview(seed, n_active):
        codes = np.random.default_rng(seed).normal(size=(200, 3))
        fit = {"elbo": -1.0, "active_latents": n_active}
        return Preview(100, Representation(codes, log_variances=0 * codes - 4), fit)

    previews = {
        "finished": [preview(0, 0), preview(1, 0)],
        "new": [preview(2, 3), preview(2, 3)],
    }
    free = judge(previews, n_kept=1)
    assert [each.is_kept for each in free] == [False, True]
    bound = judge(previews, n_kept=1, always=["finished"])
    assert [each.is_kept for each in bound] == [True, False]


@pytest.mark.parametrize("seconds", ["40", [1], {}])
def test_a_plan_with_a_damaged_budget_is_no_plan(tmp_path, cost, seconds):
    plan_for(tmp_path, 60.0)
    path = tmp_path / "plan.json"
    content = json.loads(path.read_text())
    content["asked"]["seconds"] = seconds
    path.write_text(json.dumps(content))
    assert read_plan(tmp_path) is None
    with pytest.raises(FileExistsError, match=r"no plan\.json that unbraid wrote"):
        plan_for(tmp_path, 70.0)
