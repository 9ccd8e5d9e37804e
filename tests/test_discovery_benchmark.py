"""The sets and the table of the benchmark of discoveries."""

import numpy as np
import pytest
from discovery import summarize
from discovery_sets import HELD_OUT, N_IMAGES, REFUSED, SETS, make_set


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
