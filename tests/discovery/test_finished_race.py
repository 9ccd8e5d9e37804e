"""A finished race: which runs failed to learn, and which files are kept."""

import pytest
from small_discovery import lamps, plan_race

from unbraid.discovery import discover, read_plan
from unbraid.execution import InlineExecutor
from unbraid.foundation import write_json
from unbraid.studies import StudyFolder, fingerprints_of

BUDGET = 1_000.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("raced")


@pytest.fixture(scope="module")
def raced(folder):
    plan_race(folder, lamps(), asked=BUDGET)
    return repeat(folder)


def repeat(folder, budget=BUDGET):
    return discover(lamps(), folder, budget=budget, executor=InlineExecutor())


def first_round(folder):
    """Runs of the first round by their names."""
    study, specs = StudyFolder(folder / "study"), read_plan(folder).rung_study(0).runs()
    cells = study.cells_of(specs, fingerprints_of(specs))
    return {(cell.spec.objective["beta"], cell.spec.seed): cell for cell in cells}


def names(folder, file):
    """Ids of the runs that have a file."""
    return {path.parent.name for path in (folder / "study" / "runs").glob(f"*/{file}")}


def test_a_configuration_without_an_active_latent_is_listed_with_its_round(raced):
    (failure,) = raced.failures
    assert failure.name == "beta_vae beta=1000"
    assert "No latent of any seed is active at step 200" in failure.reason
    assert f"{failure.name}: {failure.reason}" in raced.summary.read_text()
    assert failure.reason in raced.report.read_text()


def test_states_are_kept_only_of_runs_that_a_larger_budget_may_continue(raced, folder):
    finished, previewed = names(folder, "scores.json"), names(folder, "preview-*.json")
    assert len(finished) == 3
    assert names(folder, "model.safetensors") == finished
    assert names(folder, "state.safetensors") == previewed - finished
    assert len(names(folder, "state.safetensors")) > 2
    assert finished <= names(folder, "traces.safetensors")


def test_the_same_result_is_found_without_the_states(raced, folder):
    codes = (folder / "codes.npy").read_bytes()
    again = repeat(folder)
    assert again.ranking.to_plain() == raced.ranking.to_plain()
    assert (folder / "codes.npy").read_bytes() == codes
    assert not (folder / "history").exists()


@pytest.mark.usefixtures("without_pages")
def test_runs_that_ended_with_an_error_are_listed_with_it(raced, folder):
    cell = first_round(folder)[1_000, 1]
    write_json(cell.files.failure, {"error": "The disk was full."}, kind="failure")
    found = repeat(folder).failures
    cell.files.failure.unlink()
    assert [(failure.name, failure.reason) for failure in found[:1]] == [
        ("beta_vae beta=1000, seed 1", "The disk was full.")
    ]
    assert found[1:] == raced.failures


@pytest.mark.usefixtures("without_pages")
def test_no_state_is_kept_of_a_race_that_cannot_be_extended(raced, folder):
    plan_race(folder, lamps())  # without a budget, which could be extended
    again = repeat(folder, budget=None)
    assert names(folder, "state.safetensors") == set()
    assert again.ranking.to_plain() == raced.ranking.to_plain()
