"""The sets and the table of the benchmark of discoveries."""

import json

import numpy as np
import pytest
from discovery import read_results, summarize
from discovery_sets import HELD_OUT, N_IMAGES, REFUSED, SETS, make_set
from recipes import TUNED
from recipes import summarize as summarize_recipes
from refusals import refuse_codes
from scipy.stats import ortho_group

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


def test_no_set_that_is_held_out_is_used_for_recipes():
    assert not set(TUNED) & {*HELD_OUT, *REFUSED}
    assert len(TUNED) == 9


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
