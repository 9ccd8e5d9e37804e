"""Sensitivity of training dynamics to the options that the source leaves open."""

import numpy as np
import pytest

from unbraid.selection import (
    VARIED,
    compare_training,
    dynamics_pairs,
    dynamics_sensitivity,
    training_dynamics,
)
from unbraid.training import Trace

RNG = np.random.default_rng(0)


def trace(noise, *, layers=("1", "3")):
    """Activations that share a course, with as much noise as a seed adds."""
    shared = np.random.default_rng(7).normal(size=(5, 15, 4)).cumsum(axis=0)
    every = {
        name: (shared + noise * RNG.normal(size=shared.shape)).astype(np.float32)
        for name in layers
    }
    first = every.pop(layers[0])
    return Trace(layers[0], np.arange(15), np.arange(5), first, every)


TRACES = {
    f"noise {noise}": [trace(noise) for _ in range(3)] for noise in (0.0, 0.1, 0.5, 2)
}


@pytest.fixture(scope="module")
def table():
    stable = {name: -float(name.split()[1]) for name in TRACES}
    return dynamics_sensitivity(TRACES, reference=stable)


def test_every_value_is_a_row_and_one_of_each_option_is_used(table):
    for option, values in VARIED.items():
        own = table[table["option"] == option]
        assert own["value"].tolist() == [str(value) for value in values]
        assert own["is_usual"].sum() == 1
        assert (own["agreement"][own["is_usual"]] == 1).all()
    assert table[table["option"] == "layer"]["value"].tolist() == ["1", "3"]


def test_a_true_order_is_found_with_the_usual_options(table):
    usual = table[table["is_usual"]]
    assert (usual["most_stable"] == "noise 0.0").all()
    assert (usual["correlation"] == 1).all()


def test_values_that_were_asked_for_are_the_usual_ones():
    table = dynamics_sensitivity(
        TRACES, varied={"steps": (1, 2)}, usual={"steps": 6, "layer": "3"}
    )
    steps = table[table["option"] == "steps"]
    assert steps["value"].tolist() == ["1", "2", "6"]
    assert steps["is_usual"].tolist() == [False, False, True]
    layers = table[table["option"] == "layer"]
    assert layers["value"][layers["is_usual"]].tolist() == ["3"]


def test_layers_are_compared_only_if_all_traces_have_them():
    mixed = {**TRACES, "other": [trace(0.1, layers=("1",)) for _ in range(2)]}
    table = dynamics_sensitivity(mixed, varied={"steps": (2,)})
    assert table["option"].tolist() == ["steps"]


def test_two_configurations_have_no_rank_correlation():
    two = dict(list(TRACES.items())[:2])
    table = dynamics_sensitivity(two, varied={"steps": (2,)})
    assert table["agreement"].isna().all()
    with pytest.raises(ValueError, match="needs a configuration with traces"):
        dynamics_sensitivity({})


def test_runs_are_compared_with_seeds_of_their_configuration_only():
    names = ["a", "b", "a", "c", "b", "a"]
    traces = [trace(0.3) for _ in names]
    active = np.array([True, True, True, True, True, False])
    missing = {4}
    compared = compare_training(
        names, lambda k: None if k in missing else traces[k], is_active=active
    )
    assert list(compared) == ["a"]  # b has one trace, c one seed
    assert compared["a"].runs.tolist() == [0, 2]
    expected = training_dynamics([traces[0], traces[2]])
    np.testing.assert_array_equal(compared["a"].score.pairs, expected.pairs)
    assert compared["a"].per_run.tolist() == [expected.score] * 2
    pairs = dynamics_pairs(names, compared)
    assert list(pairs) == ["a", "b", "c"]
    np.testing.assert_array_equal(pairs["a"][:2, :2], expected.pairs)
    assert np.isnan(pairs["a"][2]).all()
    assert np.isnan(pairs["b"]).all()
