"""A larger budget in the same folder extends a discovery."""

import dataclasses

import pytest
from small_discovery import lamps, plan_race

from unbraid.discovery import _make_plan, _rounds, discover, read_plan
from unbraid.discovery._extension import can_extend
from unbraid.discovery._proposal import Proposal
from unbraid.discovery._rounds import extend_race, longest_race
from unbraid.execution import InlineExecutor
from unbraid.studies import Cost, study_from_plain

COST = Cost(per_step=1e-3, fixed=0.5, n_bytes=0)


def sizes(race):
    return [(rung.steps, rung.n_configurations, rung.n_seeds) for rung in race]


@pytest.mark.parametrize("seconds", [60.0, 180.0, 600.0])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_a_larger_race_contains_the_smaller_one_and_fits_into_the_time(
    seconds, n_workers
):
    race = longest_race(COST, seconds, n_workers)
    for factor in (1.0, 1.5, 3.0, 10.0):
        larger = extend_race(race, COST, factor * seconds, n_workers)
        for before, now in zip(sizes(race), sizes(larger), strict=True):
            assert now[0] == before[0]
            assert now[1:] >= before[1:] or larger[0] == race[0]
            assert now[1] >= before[1]
            assert now[2] >= before[2]
        assert sum(rung.seconds for rung in larger) <= 0.9 * (factor * seconds - 10)
    # Ten times the time buys something.
    assert sizes(larger) != sizes(race)


def test_a_plan_is_extended_only_if_nothing_but_the_budget_grew(tmp_path):
    plan_race(tmp_path, lamps(), asked=60.0)
    plan = read_plan(tmp_path)
    proposal = Proposal(plan.study, 1.0, plan.rungs)
    more = {"seconds": 180.0, "seed": 0}
    assert can_extend(plan, more, 1, proposal)
    assert not can_extend(plan, more | {"seconds": 30.0}, 1, proposal)
    assert not can_extend(plan, more | {"seconds": None}, 1, proposal)
    assert not can_extend(plan, more | {"seed": 1}, 1, proposal)
    assert not can_extend(plan, more | {"n_latents": 5}, 1, proposal)
    assert not can_extend(plan, more, 2, proposal)
    assert not can_extend(dataclasses.replace(plan, rungs=()), more, 1, proposal)
    # Runs of twice the length are worth a new start.
    longer = plan.study.to_plain()
    longer["training"]["steps"] = 1_600
    study = study_from_plain(longer, "discovery")
    assert not can_extend(plan, more, 1, Proposal(study, 1.0, plan.rungs))


def test_finished_runs_count_and_the_former_result_is_kept(tmp_path, monkeypatch):
    plan_race(tmp_path, lamps(), asked=60.0)
    first = discover(lamps(), tmp_path, budget=60, executor=InlineExecutor())
    models = sorted((tmp_path / "study" / "runs").glob("*/model.safetensors"))
    written = {path: path.stat().st_mtime_ns for path in models}
    before = read_plan(tmp_path)
    monkeypatch.setattr(_make_plan, "can_extend", lambda *_: True)
    monkeypatch.setattr(_rounds, "_MOST_SEEDS", 4)
    monkeypatch.setattr(_rounds, "_MOST_CONFIGURATIONS", 4)
    second = discover(lamps(), tmp_path, budget=600, executor=InlineExecutor())
    plan = read_plan(tmp_path)
    assert sizes(plan.rungs) == [(200, 4, 2), (400, 3, 3), (800, 3, 4)]
    assert plan.asked["seconds"] == 600
    assert {run.model_dump_json() for run in before.study.runs()} < {
        run.model_dump_json() for run in plan.study.runs()
    }
    assert {path: path.stat().st_mtime_ns for path in models} == written
    assert len(list((tmp_path / "study" / "runs").glob("*/scores.json"))) == 12
    assert "The budget was extended" in plan.notes[-1]
    assert second.ranking.chosen is not None
    names = {model.name for model in second.ranking.models}
    assert {model.name for model in first.ranking.models} < names
    # Nothing is trained again by the same command.
    again = discover(lamps(), tmp_path, budget=600, executor=InlineExecutor())
    assert again.ranking.chosen == second.ranking.chosen
    assert read_plan(tmp_path) == plan
