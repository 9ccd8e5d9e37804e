"""Objectives of a race can be chosen, also from a file of the user."""

import pytest
from small_discovery import lamps
from whole_command import run_whole

from unbraid.discovery import name_configuration, plan_discovery, read_objectives
from unbraid.discovery._objectives import list_configurations
from unbraid.execution import LocalExecutor
from unbraid.models.objectives import OBJECTIVES
from unbraid.studies import Cost

MINE = """
from dataclasses import dataclass

from unbraid.models.objectives import BetaVAE


@dataclass(frozen=True, kw_only=True)
class LogVAE(BetaVAE):
    pass
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """A step takes a millisecond, and five with FactorVAE; other tests list all."""

    def measure(spec, **_):
        is_slow = spec.objective["name"] == "factor_vae"
        return Cost(per_step=5e-3 if is_slow else 1e-3, fixed=0.5, n_bytes=0)

    for module in ("_proposal", "_extension"):
        monkeypatch.setattr(f"unbraid.discovery.{module}.measure_run", measure)
    monkeypatch.setattr(OBJECTIVES, "_from_files", {})


def plan(folder, *objectives, budget=600.0):
    executor = LocalExecutor(2)
    options = {"budget": budget, "executor": executor, "objectives": objectives}
    return plan_discovery(lamps(), folder, **options)


def names(found):
    return list(dict.fromkeys(name_configuration(spec) for spec in found.study.runs()))


def test_every_objective_has_the_same_strengths(tmp_path):
    usual = plan_discovery(
        lamps(), tmp_path / "a", budget=600.0, executor=LocalExecutor(2)
    )
    found = plan(tmp_path / "b", "beta_vae", "beta_tc_vae")
    n_configurations = found.rungs[0].n_configurations
    assert n_configurations == usual.rungs[0].n_configurations == len(names(found))
    objectives = {name.split()[0] for name in names(found)}
    assert objectives == {"beta_vae", "beta_tc_vae"}
    assert found.steps == usual.steps
    assert plan(tmp_path / "b", "beta_vae", "beta_tc_vae") == found


def test_a_slow_objective_gets_fewer_steps(tmp_path):
    quick = plan(tmp_path / "a", "beta_vae")
    slow = plan(tmp_path / "b", "factor_vae", budget=5 * 600.0)
    assert slow.steps == pytest.approx(quick.steps, rel=0.02)
    assert slow.seconds == pytest.approx(5 * quick.seconds, rel=0.05)
    betas, gammas = (
        [[float(end) for end in name.split("=")[1].split(" to ")] for name in found]
        for found in (names(quick), names(slow))
    )
    assert len(betas) == len(gammas) > 1
    for beta, gamma in zip(betas, gammas, strict=True):
        assert gamma == pytest.approx([end - 1 for end in beta])
        if beta[0] > 1:
            assert beta[1:] == pytest.approx([max(1, beta[0] / 4)], rel=0.04)
    with pytest.raises(ValueError, match=r"slowest takes 5.0 times as long"):
        plan(tmp_path / "c", "factor_vae", budget=60.0)


def test_an_objective_in_a_file_races_in_any_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    found = plan("found", "mine.py:LogVAE")
    assert found.asked["objectives"] == f"{tmp_path / 'mine.py'}:LogVAE"
    assert len(names(found)) == found.rungs[0].n_configurations
    assert all(name.startswith("mine.py:LogVAE beta=") for name in names(found))


def test_a_strength_that_cannot_be_a_schedule_stays_constant(tmp_path, monkeypatch):
    lines = ["    beta: float = 4.0", "    beta: 'Unknown' = 4.0"]
    for number, line in enumerate(lines):
        (tmp_path / f"own{number}.py").write_text(MINE.replace("    pass", line))
        objective = f"{tmp_path}/own{number}.py:LogVAE"
        found = list_configurations([objective, "beta_vae"], 20.0, 2)
        assert found[0] == {"name": objective, "beta": 12.0}
        assert found[1]["beta"]["value"] == 12.0
        assert found[1]["beta"]["end"] == 3.0


def test_a_larger_budget_extends_the_race_of_the_same_objectives(tmp_path):
    first = plan(tmp_path, "beta_vae", "beta_tc_vae", budget=300.0)
    larger = plan(tmp_path, "beta_vae", "beta_tc_vae", budget=500.0)
    assert any("The budget was extended" in note for note in larger.notes)
    assert set(names(first)) <= set(names(larger))
    assert len(names(larger)) == larger.rungs[0].n_configurations
    other = plan(tmp_path, "beta_vae", budget=800.0)
    assert not any("The budget was extended" in note for note in other.notes)


@pytest.mark.parametrize(
    ("objectives", "message"),
    [
        ("ada_gvae", "needs pairs, triplets or labels"),
        ("dip_vae", "which 'dip_vae' does not have"),
        ("beta_va", "Did you mean 'beta_vae'"),
        ("beta_vae,beta_vae", "one or more different names"),
    ],
)
def test_objectives_that_cannot_race_are_wrong_usage(tmp_path, objectives, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read_objectives(objectives.split(","))
    given = ("--out", str(tmp_path / "found"), "--objectives", objectives)
    done = run_whole("discover", "discs", *given)
    assert done.returncode == 2
    assert message in done.stderr


def test_populations_have_an_objective_of_their_own(tmp_path):
    given = ("--out", str(tmp_path / "x"), "--objectives", "beta_vae")
    done = run_whole("discover", "discs", "--method", "pbt", *given)
    assert done.returncode == 2
    assert "--method sweep only" in done.stderr
