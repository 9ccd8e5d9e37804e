import dataclasses
import json

import pytest
import torch
from safetensors.torch import save_file

from unbraid.foundation import CheckpointFormatError
from unbraid.models import Loss
from unbraid.models.networks import Convolutional, Dense
from unbraid.models.objectives import VAE, AbstractAdversarialObjective
from unbraid.training import TrainingSpec, TrainingState, train
from unbraid.training._checkpoint import load_state, save_state
from unbraid.training._fit import make_stream

SPEC = TrainingSpec(
    network=Dense(widths=(4,)), image_shape=(1, 8, 8), n_latents=2, batch_size=4
)


def trained(spec, data, steps=3):
    state = TrainingState.create(spec)
    stream = make_stream(spec, data, torch.device("cpu"))
    list(train(state, stream, spec.objective, steps=steps))
    return state


def test_a_state_comes_back_with_values_layout_and_step(tmp_path, squares):
    spec = dataclasses.replace(SPEC, network=Convolutional())
    state, path = trained(spec, squares), tmp_path / "state.safetensors"
    save_state(state, path, run_id="a")
    again = TrainingState.create(spec)
    load_state(again, path, run_id="a")
    assert again.step == 3
    weights = zip(state.model.parameters(), again.model.parameters(), strict=True)
    for weight, other_weight in weights:
        assert torch.equal(weight, other_weight)
        assert weight.stride() == other_weight.stride()
        values = state.optimizer.state[weight]
        other_values = again.optimizer.state[other_weight]
        assert values.keys() == other_values.keys()
        for name, value in values.items():
            assert torch.equal(value, other_values[name])
            assert value.stride() == other_values[name].stride()
    groups = zip(
        state.optimizer.param_groups, again.optimizer.param_groups, strict=True
    )
    for group, other in groups:
        assert {**group, "params": 0} == {**other, "params": 0}


def test_values_that_are_no_tensors_come_back(tmp_path, squares):
    spec = dataclasses.replace(
        SPEC, optimizer="SGD", optimizer_options=(("momentum", 0.9),)
    )
    state, path = trained(spec, squares), tmp_path / "state.safetensors"
    weight = next(state.model.parameters())
    state.optimizer.state[weight]["count"] = 7
    state.optimizer.param_groups[0]["lr"] = 0.125
    save_state(state, path, run_id="a")
    again = TrainingState.create(spec)
    load_state(again, path, run_id="a")
    assert again.optimizer.state[next(again.model.parameters())]["count"] == 7
    assert again.optimizer.param_groups[0]["lr"] == 0.125


class Adversarial(AbstractAdversarialObjective):
    """A second network that is told to say 1, which the model does not care about."""

    def loss(self, model, batch, context):
        return VAE().loss(model, batch, context)

    def build_extra(self, model):
        return torch.nn.Linear(model.n_latents, 1)

    def adversary_loss(self, model, batch, context):
        codes = model.encode(batch.images).mean.detach()
        return Loss((context.extra(codes) - 1).square().mean())

    def adversary_optimizer(self, adversary):
        return torch.optim.Adam(adversary.parameters(), lr=0.01)


def test_an_adversary_goes_on_to_the_same_bytes(tmp_path, squares):
    spec = dataclasses.replace(SPEC, objective=Adversarial())
    stream = make_stream(spec, squares, torch.device("cpu"))
    save_state(trained(spec, squares, 6), tmp_path / "whole", run_id="a")
    save_state(trained(spec, squares, 3), tmp_path / "half", run_id="a")
    state = TrainingState.create(spec)
    load_state(state, tmp_path / "half", run_id="a")
    list(train(state, stream, spec.objective, steps=6))
    save_state(state, tmp_path / "resumed", run_id="a")
    whole, resumed = (tmp_path / name for name in ("whole", "resumed"))
    assert whole.read_bytes() == resumed.read_bytes()
    assert b"adversary_optimiser.0.exp_avg" in whole.read_bytes()


def test_the_same_state_gives_the_same_bytes(tmp_path, squares):
    state = trained(SPEC, squares)
    for name in ("one", "other"):
        save_state(state, tmp_path / name, run_id="a")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_the_state_of_another_run_is_refused(tmp_path, squares):
    path = tmp_path / "state.safetensors"
    save_state(trained(SPEC, squares), path, run_id="a")
    with pytest.raises(CheckpointFormatError, match="other settings or data"):
        load_state(TrainingState.create(SPEC), path, run_id="b")


def test_the_state_of_another_network_is_refused(tmp_path, squares):
    path = tmp_path / "state.safetensors"
    save_state(trained(SPEC, squares), path, run_id="a")
    wider = dataclasses.replace(SPEC, network=Dense(widths=(5,)))
    with pytest.raises(CheckpointFormatError, match="must have shape"):
        load_state(TrainingState.create(wider), path, run_id="a")
    deeper = dataclasses.replace(SPEC, network=Dense(widths=(4, 4)))
    with pytest.raises(CheckpointFormatError, match="without 'decoder"):
        load_state(TrainingState.create(deeper), path, run_id="a")


def test_files_of_something_else_are_refused(tmp_path):
    path = tmp_path / "state.safetensors"
    state = TrainingState.create(SPEC)
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(CheckpointFormatError, match="something else"):
        load_state(state, path, run_id="a")
    record = {"format": 1, "kind": "model"}
    save_file({"a": torch.zeros(1)}, path, {"unbraid": json.dumps(record)})
    with pytest.raises(CheckpointFormatError, match="but a model"):
        load_state(state, path, run_id="a")
    record = {"format": 99, "kind": "training state"}
    save_file({"a": torch.zeros(1)}, path, {"unbraid": json.dumps(record)})
    with pytest.raises(CheckpointFormatError, match="has format 99, .* Update unbraid"):
        load_state(state, path, run_id="a")
    path.write_bytes(b"nonsense")
    with pytest.raises(CheckpointFormatError, match="damaged or cut off"):
        load_state(state, path, run_id="a")
