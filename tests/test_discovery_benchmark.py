"""The sets and the table of the benchmark of discoveries."""

import json

import numpy as np
import pytest
from discovery import OBJECTIVE, measure_single, read_results, summarize
from discovery_sets import HELD_OUT, N_IMAGES, REFUSED, SETS, make_set, write_set
from recipes import BASE, TUNED, VARIANTS, choose_beta, measure, result_path
from recipes import summarize as summarize_recipes
from refusals import refuse_codes
from scipy.stats import ortho_group

from unbraid.data import open_dataset
from unbraid.discovery import bearable_strength
from unbraid.models import Decay, fill_steps
from unbraid.representation import Representation


@pytest.fixture
def few_images(monkeypatch):
    monkeypatch.setattr("discovery_sets.N_IMAGES", 300)


@pytest.mark.usefixtures("few_images")
@pytest.mark.parametrize("name", SETS)
def test_every_set_has_images_that_vary_and_a_kind_for_each_factor(name):
    made = make_set(name)
    assert made.images.dtype == np.uint8
    assert made.images.ndim == 4
    assert len(made.images) == 300 < N_IMAGES
    assert made.images.std(axis=0).max() > 10
    assert list(made.kinds) == list(made.factors)
    assert (made.factors.nunique() > 1).all()
    assert np.array_equal(make_set(name).images, made.images)


@pytest.mark.usefixtures("few_images")
def test_factors_are_independent_except_where_the_set_says_otherwise(monkeypatch):
    monkeypatch.setattr("discovery_sets.N_IMAGES", 2_000)
    for name in ("shapes", "squares", "correlated"):
        found = np.abs(np.corrcoef(make_set(name).factors.to_numpy().T) - np.eye(4))
        assert (found.max() > 0.5) == (name == "correlated")


@pytest.mark.usefixtures("few_images")
def test_signs_are_drawn_in_full_wherever_they_are():
    made = make_set("signs")
    light = made.images.sum(axis=(1, 2, 3))
    for _, rows in made.factors.groupby(["sign", "size"]).groups.items():
        assert len(set(light[rows])) == 1
    assert made.images.sum(axis=(1, 2, 3)).min() > 0
    symbols = made.factors.groupby(["sign", "size"])
    assert symbols.ngroups == 4 * 6
    middle = (made.factors[["x", "y"]] == 3).all(axis=1).to_numpy()
    assert len({image.tobytes() for image in made.images[middle]}) > 1


@pytest.mark.usefixtures("few_images")
def test_crops_of_the_flower_are_brightest_in_the_middle_of_it():
    made = make_set("flower")
    far_left = made.factors["x"].to_numpy() < 65
    far_right = made.factors["x"].to_numpy() > 95
    columns = made.images.mean(axis=(1, 3))
    sides = columns[:, 8:].mean(axis=1) - columns[:, :8].mean(axis=1)
    assert (sides[far_left] > 0).all()
    assert (sides[far_right] < 0).all()


def test_three_sets_are_held_out_and_two_should_be_refused():
    assert len(set(HELD_OUT)) == 3
    assert len(set(REFUSED)) == 2
    assert len(SETS) - len(REFUSED) >= 10


def scores(value):
    return dict.fromkeys(("mig", "dci", "infom", "infoc", "infoe"), value)


def test_the_table_shows_choice_long_run_regret_and_refusals():
    models = {"a": scores(0.5), "b": scores(0.8), "c": scores(0.2)}
    row = {
        "set": "blobs",
        "budget": "3m",
        "chosen": "a",
        "models": models,
        "single": scores(0.4),
    }
    refused = row | {"set": "faces", "chosen": None}
    right = {"set": "noise", "budget": "3m", "chosen": None}
    table = summarize([row, refused, right])
    assert (
        "| blobs | 3m | 0.50 / 0.50 | 0.40 / 0.40 | 0.80 | 0.50 | 0.30 | 33% |" in table
    )
    assert "| faces (held out) | 3m | 0.00 / 0.00 |" in table
    assert "| noise | 3m | refused, as it should |" in table
    assert "**mean, tuned on** | 3m | 0.50 / 0.50 | 0.40 / 0.40" in table


def test_only_results_with_both_sides_are_shown(tmp_path):
    row = {"set": "blobs", "budget": "3m", "chosen": "a", "models": {"a": scores(0.5)}}
    refused = {"set": "noise", "budget": "3m", "chosen": None}
    for name, part in (("blobs", row), ("discs", row), ("noise", refused)):
        (tmp_path / "3m" / name).mkdir(parents=True)
        (tmp_path / "3m" / name / "discovery.json").write_text(json.dumps(part))
    single = json.dumps({"single": scores(0.4), "single_steps": 10})
    (tmp_path / "3m" / "blobs" / "single.json").write_text(single)
    assert [row["set"] for row in read_results(tmp_path)] == ["blobs", "noise"]


def test_recipes_are_compared_by_their_mean_over_sets():
    rows = [
        {"variant": variant, "set": name, "seed": 0, "mig": mig, "dci": 2 * mig}
        for variant, name, mig in (
            ("a", "blobs", 0.1),
            ("a", "discs", 0.3),
            ("b", "blobs", 0.4),
        )
    ]
    table = summarize_recipes(rows)
    assert "| variant | mean | blobs | discs | runs |" in table
    assert "| a | 0.20 / 0.40 | 0.10 / 0.20 | 0.30 / 0.60 | 2 |" in table
    assert "| b | 0.40 / 0.80 | 0.40 / 0.80 | nan / nan | 1 |" in table


@pytest.fixture
def short_runs(monkeypatch, few_images):
    """Runs of 100 steps on few images, one of them scored on all of these."""
    slow = type("Cost", (), {"per_step": 1e9})
    for module in ("recipes", "discovery"):
        monkeypatch.setattr(f"{module}.measure_training", lambda *_, **__: slow)
    monkeypatch.setattr("discovery._ROWS", 300)


@pytest.mark.usefixtures("short_runs")
@pytest.mark.parametrize("variant", ["base", "constant beta, half", "rising"])
def test_a_variant_is_trained_scored_and_written(tmp_path, variant):
    task = (variant, "signs", 0, 20.0, tmp_path)
    measure(task)
    row = json.loads(result_path(task).read_text())
    assert (row["variant"], row["set"], row["steps"]) == (variant, "signs", 100)
    assert 0 <= row["mig"] <= 1
    assert "," not in str(result_path(task).relative_to(tmp_path))


@pytest.mark.usefixtures("few_images")
def test_strengths_of_variants_are_shares_of_what_the_data_can_bear(tmp_path):
    data = open_dataset(write_set("signs", tmp_path))
    third, first = (bearable_strength(data, n) for n in (3, 1))
    beta = choose_beta(BASE, data)
    assert beta == Decay(
        value=pytest.approx(0.6 * third),
        end=pytest.approx(max(1, 0.15 * third)),
        until=0.7,
    )
    assert choose_beta(VARIANTS["beta 8"], data).end == 2.0
    assert choose_beta(VARIANTS["constant beta"], data) == beta.value
    of_first = choose_beta(VARIANTS["largest eigenvalue, share 0.4"], data)
    assert of_first.value == pytest.approx(0.4 * first)


@pytest.mark.usefixtures("short_runs")
def test_the_long_run_is_relaxed_like_the_runs_of_a_discovery(tmp_path, monkeypatch):
    monkeypatch.setattr("discovery.count_cores", lambda: 1)
    folder = tmp_path / "1s" / "signs"
    folder.mkdir(parents=True)
    measure_single(("signs", "1s", folder))
    assert json.loads((folder / "single.json").read_text())["single_steps"] == 1_000
    beta = fill_steps(OBJECTIVE, 1_000).beta
    assert [beta.at(step) for step in (0, 400, 700, 999)] == [8.0, 8.0, 2.0, 2.0]


def test_no_set_that_is_held_out_is_used_for_recipes():
    assert not set(TUNED) & {*HELD_OUT, *REFUSED}
    assert len(TUNED) == 11
    assert {"flower", "signs"} < set(TUNED)


def test_refusals_tell_aligned_codes_from_rotated_ones():
    generator = np.random.default_rng(0)
    codes = generator.normal(size=(400, 5))
    turns = [ortho_group.rvs(5, random_state=seed) for seed in range(4)]
    assert refuse_codes([Representation(codes @ turn) for turn in turns])
    assert not refuse_codes(
        [
            Representation(codes[:, order])
            for order in generator.permuted([range(5)] * 4, axis=1)
        ]
    )
