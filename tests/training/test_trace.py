import contextlib

import numpy as np
import pytest
import torch

from unbraid.foundation import CheckpointFormatError
from unbraid.models.networks import Convolutional, Dense
from unbraid.training import Trace, TraceSettings, _fit
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
    settings = TraceSettings(layer="0", rows=(3, 1), steps=(8, 7, 7, 20))
    trace = train_small(traces=settings).trace
    assert trace.layer == "0"
    assert trace.rows.tolist() == [3, 1]
    assert trace.steps.tolist() == [7, 8, 20]  # whatever log_every is
    assert (trace.activations < 0).any()  # before the rectifier


@pytest.mark.parametrize("log_every", [1, 7, 100])
def test_snapshots_do_not_depend_on_log_every(train_small, log_every):
    settings = TraceSettings(n_snapshots=6)
    trace = train_small(traces=settings, steps=150, log_every=log_every).trace
    expected = train_small(traces=settings, steps=150, log_every=30).trace
    assert trace.steps.tolist() == [0, 30, 60, 90, 120, 150]
    assert np.array_equal(trace.activations, expected.activations)


def test_snapshots_between_records_leave_the_history_unchanged(train_small):
    plain = train_small(log_every=10)
    traced = train_small(log_every=10, traces=TraceSettings(steps=(1, 3, 12)))
    for record in (*plain.history, *traced.history):
        del record["images_per_second"]
    assert plain.history == traced.history


def test_snapshots_are_complete_after_an_interruption_between_records(
    train_small, tmp_path, monkeypatch
):
    settings = TraceSettings(steps=(2, 6, 9, 13))
    whole = train_small(traces=settings).trace

    @contextlib.contextmanager
    def interrupted_after_seven_steps():
        n_asked = 0

        def is_interrupted():
            nonlocal n_asked
            n_asked += 1
            return n_asked > 7

        yield is_interrupted

    with monkeypatch.context() as patch:
        patch.setattr(_fit, "deferred_interruption", interrupted_after_seven_steps)
        with pytest.raises(KeyboardInterrupt):
            train_small(traces=settings, out=tmp_path)
    assert Trace.load(tmp_path).steps.tolist() == [2, 6]
    resumed = train_small(traces=settings, out=tmp_path).trace
    assert resumed.steps.tolist() == [2, 6, 9, 13]
    assert np.array_equal(resumed.activations, whole.activations)


def test_a_run_that_lost_its_snapshots_is_not_resumed(
    train_small, tmp_path, monkeypatch
):
    settings = TraceSettings(n_snapshots=3)
    with monkeypatch.context() as patch:
        patch.setattr(
            _fit, "deferred_interruption", lambda: contextlib.nullcontext(lambda: True)
        )
        with pytest.raises(KeyboardInterrupt):
            train_small(traces=settings, out=tmp_path)
    (tmp_path / "traces.safetensors").unlink()
    with pytest.raises(CheckpointFormatError, match="snapshots of steps 0"):
        train_small(traces=settings, out=tmp_path)


def test_snapshots_that_a_run_is_too_short_for_are_refused(train_small, tmp_path):
    with pytest.raises(ValueError, match="at most 21 for a run of 20 steps, got 22"):
        train_small(traces=TraceSettings(n_snapshots=22), out=tmp_path)
    with pytest.raises(ValueError, match="between 0 and the 20 steps .* got -1, 21"):
        train_small(traces=TraceSettings(steps=(-1, 3, 21)), out=tmp_path)
    assert not list(tmp_path.iterdir())
    assert train_small(traces=True, steps=4).trace.steps.tolist() == [0, 1, 2, 3, 4]


def test_several_layers_are_recorded_as_each_would_be_alone(train_small, tmp_path):
    several = TraceSettings(layer=("1", "0"), n_snapshots=3)
    trace = train_small(traces=several, out=tmp_path).trace
    assert trace.layers == ("1", "0")
    loaded = Trace.load(tmp_path)
    assert loaded.layers == trace.layers
    for name in ("0", "1"):
        alone = train_small(traces=TraceSettings(layer=name, n_snapshots=3)).trace
        for recorded in (trace.at(name), loaded.at(name)):
            assert recorded.layers == (name,)
            assert np.array_equal(recorded.activations, alone.activations)
        assert Trace.load(tmp_path, layer=name).layer == name
    with pytest.raises(ValueError, match="layer must be '1' or '0', got '2'"):
        trace.at("2")


def test_several_layers_are_complete_after_an_interruption(
    train_small, tmp_path, monkeypatch
):
    settings = TraceSettings(layer=("1", "0"), n_snapshots=3)
    whole = train_small(traces=settings).trace
    with monkeypatch.context() as patch:
        patch.setattr(
            _fit, "deferred_interruption", lambda: contextlib.nullcontext(lambda: True)
        )
        with pytest.raises(KeyboardInterrupt):
            train_small(traces=settings, out=tmp_path)
    resumed = train_small(traces=settings, out=tmp_path).trace
    for name in ("0", "1"):
        assert np.array_equal(resumed.at(name).activations, whole.at(name).activations)


@pytest.mark.parametrize("layers", [(), ("0", ""), (0,)])
def test_wrong_names_of_several_layers_are_refused(layers):
    with pytest.raises(ValueError, match="layer must be the name of a module"):
        TraceSettings(layer=layers)


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
    with pytest.raises(ValueError, match="layer must be '0', '1', '2'"):
        train_small(traces=TraceSettings(layer="9"))
    with pytest.raises(
        ValueError, match="n_snapshots must be a whole number of at least 1, got 0"
    ):
        TraceSettings(n_snapshots=0)


def test_a_run_without_traces_says_so(train_small, tmp_path):
    assert train_small(out=tmp_path).trace is None
    with pytest.raises(FileNotFoundError, match="Train it with traces=True"):
        Trace.load(tmp_path)
