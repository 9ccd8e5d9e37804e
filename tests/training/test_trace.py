import numpy as np
import pytest
import torch

from unbraid.models.networks import Convolutional, Dense
from unbraid.training import Trace, TraceSettings
from unbraid.training._trace import last_hidden_layer


def test_a_trace_holds_the_last_hidden_layer_at_even_steps(train_small, squares):
    settings = TraceSettings(n_observations=6, n_snapshots=3)
    run = train_small(traces=settings)
    trace = run.trace
    assert trace.steps.tolist() == [0, 10, 20]
    assert trace.activations.shape == (3, 6, 8)
    images = torch.from_numpy(squares.images(trace.rows)).float() / 255
    codes = run.model.encode(images).mean
    expected = run.model.decoder[:2](codes).detach().numpy()
    assert np.array_equal(trace.activations[-1], expected)
    assert not np.array_equal(trace.activations[0], trace.activations[-1])


def test_tracing_changes_no_number(train_small):
    plain, traced = train_small(), train_small(traces=True)
    assert [record["total"] for record in plain.history] == [
        record["total"] for record in traced.history
    ]


def test_layer_rows_and_steps_can_be_chosen(train_small):
    settings = TraceSettings(layer="0", rows=(3, 1), steps=(7, 8, 20))
    trace = train_small(traces=settings).trace
    assert trace.layer == "0"
    assert trace.rows.tolist() == [3, 1]
    assert trace.steps.tolist() == [10, 20]  # the first snapshots from there on
    assert (trace.activations < 0).any()  # before the rectifier


def test_all_runs_see_the_same_observations(train_small):
    one, other = (train_small(seed=seed, traces=True).trace for seed in (0, 1))
    assert np.array_equal(one.rows, other.rows)


def test_the_last_hidden_layer_is_found_in_every_network():
    dense = Dense(widths=(7, 5)).decoder((1, 8, 8), 2)
    assert last_hidden_layer(dense) == "3"
    decoder = Convolutional().decoder((1, 16, 16), 2)
    name = last_hidden_layer(decoder)
    assert isinstance(decoder.get_submodule(name), torch.nn.ReLU)
    assert last_hidden_layer(torch.nn.Sequential(torch.nn.Linear(2, 3))) == "0"


def test_wrong_settings_are_refused(train_small):
    with pytest.raises(ValueError, match="expected a layer among 0, 1, 2"):
        train_small(traces=TraceSettings(layer="9"))
    with pytest.raises(ValueError, match="n_observations and n_snapshots from 1"):
        TraceSettings(n_snapshots=0)


def test_a_run_without_traces_says_so(train_small, tmp_path):
    assert train_small(out=tmp_path).trace is None
    with pytest.raises(FileNotFoundError, match="made with traces"):
        Trace.load(tmp_path)
