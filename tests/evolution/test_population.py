import json
from pathlib import Path

import numpy as np
import pytest
import torch
from miniature_population import PLAIN, RANGES, population

from unbraid import load
from unbraid.evolution import Evolution, Population, evolve
from unbraid.execution import InlineExecutor, LocalExecutor, work
from unbraid.studies import (
    RunSpec,
    StudyFolder,
    prune,
    run_study,
    study_from_plain,
    study_table,
)
from unbraid.training import read_tensors


def bred(folder, plain=None, executor=None, **options):
    spec = RunSpec.read(plain or population(), "test")
    return evolve(spec, folder, executor=executor or InlineExecutor(), **options)


def begun(folder, other):
    """The same population as another one, in a folder of its own."""
    plan = other.population.plan
    return Population(plan, folder / "populations" / plan.id)


def equal_weights(a, b):
    return all(map(torch.equal, a.state_dict().values(), b.state_dict().values()))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return bred(tmp_path_factory.mktemp("population"))


def test_a_population_has_all_members_of_all_generations(found):
    lineage = found.population.lineage
    assert [len(members) for members in lineage.generations] == [4, 4, 4]
    assert lineage.reason == "all 3 generations are done"
    assert all(m.score is not None for g in lineage.generations for m in g)


def test_the_winner_has_the_best_score(found):
    lineage = found.population.lineage
    generation, place = lineage.winner
    codes = found.population.member_codes(generation, place)
    score = found.population.plan.score(codes)
    assert score == lineage.generations[generation][place].score
    assert score == max(lineage.best_scores)
    own = found.population.member_model(generation, place, 0)
    assert equal_weights(found.model, own)


def test_replay_of_the_winner_gives_its_weights_bit_for_bit(found, tmp_path):
    run = found.population.replay(tmp_path / "again")
    assert equal_weights(run.model, found.model)
    # An ordinary run, kept in a folder like any other.
    assert equal_weights(load(tmp_path / "again"), found.model)
    assert (tmp_path / "again" / "history.jsonl").is_file()


def test_two_workers_do_not_change_the_lineage_of_one(found, tmp_path):
    again = bred(tmp_path, executor=LocalExecutor(2))
    assert again.population.lineage == found.population.lineage
    assert equal_weights(again.model, found.model)


def test_another_seed_gives_another_lineage(found, tmp_path):
    again = bred(tmp_path, population() | {"seed": 2})
    assert again.population.lineage != found.population.lineage


def test_a_population_that_is_over_is_not_bred_again(found):
    folder = found.population.folder
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.npz")}
    again = bred(folder.parent.parent)
    assert equal_weights(again.model, found.model)
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*.npz")} == before


def test_states_that_nobody_needs_are_deleted(found):
    kept = {
        path.parent.parent.name for path in found.population.folder.rglob("state.*")
    }
    generation, _ = found.population.lineage.winner
    assert kept == {"generation-002", f"generation-{generation:03d}"}


def test_hyperparameters_that_are_used_are_those_of_the_lineage(tmp_path):
    # Read from the saved optimisers, and from the settings of the losses.
    spec = RunSpec.read(population(generations=2), "test")
    result = evolve(spec, tmp_path, executor=InlineExecutor())
    members = result.population.lineage.generations[1]
    assert any(member.parent != member.index for member in members)
    for member in members:
        folder = result.population.folder / "generation-001"
        path = folder / f"member-{member.index:03d}-model-0" / "state.safetensors"
        _, about = read_tensors(path, kind="training state")
        rate = about["optimisers"]["optimiser"]["groups"][0]["lr"]
        assert rate == member.hyperparameters["training.learning_rate"]
        assert about["step"] == member.steps
        used = result.population.plan.training_spec(member, 0)
        assert used.objective.beta == member.hyperparameters["objective.beta"]
        assert used.batch_size == member.hyperparameters["training.batch_size"]


def test_members_that_diverge_are_replaced(tmp_path):
    ranges = RANGES | {
        "training.learning_rate": {"values": [0.001, 1e25], "least": 1e-4}
    }
    spec = population(size=6, ranges=ranges)
    lineage = bred(tmp_path, spec).population.lineage
    failed = [m.index for m in lineage.generations[0] if m.score is None]
    assert failed
    assert "Training diverged at step" in lineage.generations[0][failed[0]].failure
    alive = {m.index for m in lineage.generations[0]} - set(failed)
    assert {m.parent for m in lineage.generations[1]} <= alive


def test_a_population_of_which_nobody_can_be_trained_says_why(tmp_path):
    ranges = RANGES | {"training.learning_rate": {"values": [1e25]}}
    with pytest.raises(ValueError, match="Training diverged at step"):
        bred(tmp_path, population(ranges=ranges))


def test_any_function_can_score(tmp_path):
    def spread(codes):
        return float(np.mean([part.codes.std() for part in codes]))

    result = bred(tmp_path, population(), score=spread, score_name="spread")
    generation, place = result.population.lineage.winner
    codes = result.population.member_codes(generation, place)
    assert spread(codes) == max(result.population.lineage.best_scores)


@pytest.mark.parametrize("method", ["supervised", "unsupervised"])
def test_members_have_as_many_models_as_they_should(tmp_path, method):
    result = bred(tmp_path, population(method, generations=1, size=2))
    seeds = [m.seeds for m in result.population.lineage.generations[0]]
    expected = {"supervised": 1, "unsupervised": 3}[method]
    assert [len(own) for own in seeds] == [expected, expected]


def test_few_labels_are_the_only_ones_that_score(tmp_path):
    result = bred(tmp_path, population(evolution={"labels": 20}, generations=1))
    assert len(result.population.plan.scored) == 20
    assert len(result.population.member_codes(0, 0)[0].codes) == 20


def test_it_stops_when_the_score_stands_still(tmp_path):
    plain = population(patience=1, generations=50)
    result = bred(tmp_path, plain, score=lambda codes: 0.5, score_name="level")
    assert len(result.population.lineage.generations) == 2
    assert "changed by less" in result.population.lineage.reason


def test_other_settings_are_another_population(tmp_path):
    one = bred(tmp_path, population(generations=1))
    other = bred(tmp_path, population(generations=2))
    assert one.population.folder != other.population.folder


@pytest.mark.parametrize("damage", ["cut", "types", "parent", "id"])
def test_a_damaged_lineage_is_bred_again_and_ends_the_same(tmp_path, damage):
    result = bred(tmp_path, population(generations=2))
    path = result.population.lineage_file
    words = json.loads(path.read_text())
    if damage == "types":
        words["generations"][0][0]["seeds"] = "x"
    elif damage == "parent":
        words["generations"][1][0]["parent"] = 99
    else:
        words["id"] = "of another"
    text = json.dumps(words) if damage != "cut" else path.read_text()[:50]
    path.write_text(text)
    again = bred(tmp_path, population(generations=2))
    assert again.population.lineage == result.population.lineage
    assert (path.parent / "damaged" / "lineage.json").read_text() == text


def test_a_damaged_state_is_bred_again_and_is_no_failure_of_its_heir(tmp_path, found):
    pop = begun(tmp_path, found)
    for job in pop.jobs():
        pop.record_outcome(job, work(job))
    assert len(pop.lineage.generations) == 1
    for state in pop.folder.rglob("state.safetensors"):
        state.write_bytes(b"noise")
    mended = bred(tmp_path)
    assert mended.population.lineage == found.population.lineage


@pytest.mark.parametrize("name", ["model.json", "model.safetensors"])
def test_a_damaged_winner_is_bred_again(tmp_path, name):
    first = bred(tmp_path, population(generations=1))
    path = first.population.winner_folder / name
    content = path.read_bytes()
    path.write_bytes(content[:20])
    again = bred(tmp_path, population(generations=1))
    assert again.population.lineage == first.population.lineage
    assert path.read_bytes() == content


def test_damaged_codes_and_rows_are_made_again(tmp_path):
    whole = bred(tmp_path / "other", population(generations=1))
    pop = begun(tmp_path, whole)
    for job in pop.jobs():
        work(job)
        (Path(job.folder) / "codes.npz").write_bytes(b"noise")
    (pop.folder / "scored.npy").write_bytes(b"noise")
    lineage = bred(tmp_path, population(generations=1)).population.lineage
    assert lineage == whole.population.lineage


def test_pruning_keeps_winners_and_lineages(tmp_path):
    plain = {key: value for key, value in PLAIN.items() if key != "seed"}
    plain["evolution"] = population(generations=1)["evolution"]
    study = study_from_plain(plain)
    run_study(study, tmp_path, executor=InlineExecutor())
    members = sorted(tmp_path.rglob("populations/*/generation-*/member-*"))
    (members[0] / "notes.txt").write_text("mine")
    assert prune(tmp_path).n_files > 0
    assert (members[0] / "notes.txt").read_text() == "mine"
    (members[0] / "notes.txt").unlink()
    members[0].rmdir()
    members[0].parent.rmdir()
    assert not list(tmp_path.rglob("populations/*/generation-*"))
    assert list(tmp_path.rglob("populations/*/winner/model.safetensors"))
    assert run_study(study, tmp_path, executor=InlineExecutor()).done == 1


def test_a_study_can_compare_populations_with_single_runs(tmp_path):
    own = population(generations=2)["evolution"]
    plain = {
        **PLAIN,
        "training": {**PLAIN["training"], "steps": 20},
        "grid": {"evolution": [None, own]},
    }
    del plain["seed"]
    end = run_study(study_from_plain(plain), tmp_path, executor=InlineExecutor())
    assert (end.done, end.failed) == (2, 0)
    table = study_table(tmp_path)
    assert table["score.mig"].notna().all()
    assert set(table["evolution.method"].fillna("")) == {"", "supervised"}
    for cell in StudyFolder(tmp_path).cells:
        assert load(cell.files.path).n_latents == 3
    scores = [cell.files.read_scores() for cell in StudyFolder(tmp_path).cells]
    assert scores[1]["evolution"]["generations"] == 2


def test_settings_of_single_runs_keep_their_ids():
    spec = RunSpec.read({"data": "xy_squares"}, "test")
    assert "evolution" not in spec.to_plain()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "guess"}, "supervised"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"labels": 0}, "greater than or equal to 1"),
        ({"population": {"sizes": 4}}, "Did you mean 'size'"),
        (
            {"method": "unsupervised", "population": {"models": 1}},
            "at least two models, got 1",
        ),
        ({"method": "unsupervised", "labels": 5}, "'supervised' only"),
        (
            {"population": {"ranges": {"objective.beta": {"values": [-1]}}}},
            "values must be positive",
        ),
    ],
)
def test_wrong_settings_get_a_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        RunSpec.read({**PLAIN, "evolution": {"method": "supervised", **changes}}, "x")


def test_a_hyperparameter_that_the_objective_lacks_is_refused(tmp_path):
    plain = population() | {"objective": "vae"}
    with pytest.raises(ValueError, match="'beta'"):
        bred(tmp_path, plain)


def test_labels_are_needed_for_a_score_by_labels(tmp_path):
    np.save(tmp_path / "images.npy", np.random.default_rng(0).integers(
        0, 255, (50, 8, 8, 1), dtype=np.uint8))  # fmt: skip
    plain = population() | {"data": str(tmp_path / "images.npy")}
    with pytest.raises(ValueError, match="without"):
        bred(tmp_path / "out", plain)


def test_usual_settings_are_those_of_the_paper():
    unsupervised = Evolution.read({"method": "unsupervised"}, "x").population
    assert (unsupervised.size, unsupervised.models) == (56, 5)
    assert (unsupervised.patience, unsupervised.change) == (6, 0.005)
    supervised = Evolution.read({"method": "supervised"}, "x").population
    assert (supervised.founders, supervised.size) == (56, 28)
    assert supervised.generations == 26
    recursive = Evolution.read({"method": "recursive"}, "x")
    assert recursive.final.generations == 15
    assert recursive.recursion.leaf_runs == 3
    assert json.loads(recursive.model_dump_json())["rows"] == 1000
