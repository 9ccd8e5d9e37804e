import json

import numpy as np
import pytest
from miniature_population import population

from unbraid.data import open_cached
from unbraid.evolution import SurrogateLabels, evolve, read_stages
from unbraid.evolution import _recursion as module
from unbraid.execution import InlineExecutor
from unbraid.studies import RunSpec

FINAL = {"size": 2, "generations": 1, "images": 100}


def recursed(folder, *, leaf_runs=1, final=None, **recursion):
    usual = {"active": 0.01, "least_agreement": 0.0, "leaf_runs": leaf_runs}
    more = {"final": final or FINAL, "recursion": usual | recursion}
    plain = population(
        "recursive", generations=1, size=2, images=100, evolution=more, models=2
    )
    return evolve(RunSpec.read(plain, "test"), folder, executor=InlineExecutor())


@pytest.fixture
def learned(monkeypatch):
    """Stages that learn x, then y, whatever their models do."""

    def labels(self, population, rows):
        dataset = open_cached(self._plan.run.data).dataset
        factors = dataset.factors(rows).astype(float)
        factor = 0 if len(np.unique(factors[:, 0])) > 1 else 1
        values = factors[:, [factor]] + 1e-6 * np.arange(len(rows))[:, None]
        return SurrogateLabels(
            rows=rows, values=values, latents=np.array([factor]), kl=np.ones(3)
        )

    monkeypatch.setattr(module.Recursion, "_label", labels)


def test_each_stage_learns_from_images_alike_in_what_is_known(tmp_path, learned):
    found = recursed(tmp_path, least_images=5, reduction={"least_images": 1})
    names = [stage.name for stage in found.stages]
    assert names == ["root", "leaf 1 stage 1", "final"]
    root, leaf, _ = found.stages
    assert (root.images, root.left) == (64, 8)
    assert (leaf.images, leaf.latents) == (8, (1,))
    assert leaf.reason == "too little data: 4 images are left"
    rows = np.load(tmp_path / "populations" / leaf.population / "rows.npy")
    factors = open_cached(population()["data"]).dataset.factors(rows)
    assert len(np.unique(factors[:, 0])) == 1
    assert len(np.unique(factors[:, 1])) == 8


def test_the_final_population_is_scored_by_the_labels_of_all_stages(tmp_path, learned):
    found = recursed(tmp_path, reduction={"least_images": 1}, least_images=5)
    table = found.population.plan.score.tables[0]
    assert table.names == ("root latent 0", "leaf 1 stage 1 latent 1")
    assert np.isfinite(table.values[:, 0]).all()
    assert np.isfinite(table.values[:, 1]).sum() == 8
    assert found.population.plan.rows is None


def test_leaf_runs_take_different_images(tmp_path, learned):
    found = recursed(
        tmp_path, leaf_runs=2, reduction={"least_images": 1}, least_images=5
    )
    names = [stage.name for stage in found.stages]
    assert names == ["root", "leaf 1 stage 1", "leaf 2 stage 1", "final"]
    one, two = (
        np.load(tmp_path / "populations" / stage.population / "rows.npy")
        for stage in found.stages[1:3]
    )
    assert not set(one) & set(two)
    assert len(found.population.plan.score.tables) == 2


def test_more_leaf_runs_share_what_was_bred_for_fewer(tmp_path, learned):
    options = {"reduction": {"least_images": 1}, "least_images": 5}
    few = recursed(tmp_path, leaf_runs=1, **options)
    known = {path.name for path in (tmp_path / "populations").iterdir()}
    more = recursed(tmp_path, leaf_runs=2, **options)
    assert few.stages[:2] == more.stages[:2]
    new = {path.name for path in (tmp_path / "populations").iterdir()} - known
    assert len(new) == 2  # the second leaf, and the final population


@pytest.fixture
def smooth(monkeypatch):
    """Stages that learn three smooth latents, whatever their models do."""

    def labels(self, population, rows):
        values = np.random.default_rng(len(rows)).uniform(-2, 2, (len(rows), 3))
        return SurrogateLabels(
            rows=rows, values=values, latents=np.arange(3), kl=np.ones(3)
        )

    monkeypatch.setattr(module.Recursion, "_label", labels)


@pytest.mark.parametrize("prefer", ["median", "largest"])
def test_smooth_latents_start_leaf_runs(tmp_path, smooth, prefer):
    found = recursed(
        tmp_path,
        leaf_runs=3,
        least_images=3,
        reduction={"least_images": 3, "prefer": prefer},
    )
    names = [stage.name for stage in found.stages]
    assert names[0] == "root"
    assert [name for name in names if name.endswith("stage 1")] == [
        "leaf 1 stage 1",
        "leaf 2 stage 1",
        "leaf 3 stage 1",
    ]
    assert found.stages[0].left >= 3
    assert len(found.population.plan.score.tables) == 3


def test_the_number_of_label_bins_can_be_set(tmp_path, learned):
    found = recursed(tmp_path, label_bins=3)
    values = found.population.plan.score.tables[0].values
    assert np.nanmax(values) == 2


def test_the_interval_rule_of_a_study_is_checked():
    plain = population("recursive", evolution={"recursion": {"reduction": {}}})
    reduction = plain["evolution"]["recursion"]["reduction"]
    for prefer in ("median", "largest"):
        reduction["prefer"] = prefer
        recursion = RunSpec.read(plain, "test").evolution.recursion
        assert recursion.reduction.prefer == prefer
    reduction["prefer"] = "smallest"
    with pytest.raises(ValueError, match=r"reduction\.prefer.*'median' or 'largest'"):
        RunSpec.read(plain, "test")


def test_a_shared_population_is_labelled_again_for_another_threshold(tmp_path):
    many = recursed(tmp_path, leaf_runs=0, active=1e-9)
    assert len(many.stages[0].latents) == 3
    threshold = float(np.mean(sorted(many.stages[0].kl)[-2:]))
    few = recursed(tmp_path, leaf_runs=0, active=threshold)
    assert few.stages[0].population == many.stages[0].population
    assert len(few.stages[0].latents) == 1


def test_stages_are_kept_with_their_labels_and_intervals(tmp_path):
    found = recursed(tmp_path)
    assert read_stages(tmp_path) == list(found.stages)
    root = tmp_path / "populations" / found.stages[0].population
    labels = SurrogateLabels.load(root / "labels.npz")
    assert len(labels.rows) == 64
    reduction = json.loads((root / "reduction.json").read_text())
    assert {"latents", "choices", "reason"} <= set(reduction)


def test_without_leaf_runs_the_labels_of_the_root_are_all_there_is(tmp_path):
    found = recursed(tmp_path, leaf_runs=0)
    assert [stage.name for stage in found.stages] == ["root", "final"]


def test_agreement_below_the_threshold_ends_a_recursion(tmp_path):
    with pytest.raises(ValueError, match="agreement"):
        recursed(tmp_path, least_agreement=1.0)


def test_a_root_without_active_latents_is_said(tmp_path):
    with pytest.raises(ValueError, match="no active latent"):
        recursed(tmp_path, active=1e9)


def test_a_recursion_goes_on_with_what_is_there(tmp_path):
    first = recursed(tmp_path)
    folder = tmp_path / "populations"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("codes.npz")}
    (folder / first.stages[0].population / "labels.npz").unlink()
    again = recursed(tmp_path)
    assert again.stages == first.stages
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("codes.npz")} == before


@pytest.mark.parametrize("content", [b"noise", b"PK\x03\x04", b""])
def test_damaged_labels_are_made_again(tmp_path, content):
    first = recursed(tmp_path)
    path = tmp_path / "populations" / first.stages[0].population / "labels.npz"
    path.write_bytes(content)
    assert recursed(tmp_path).stages == first.stages
