import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import unbraid
from unbraid.foundation import CheckpointFormatError
from unbraid.models import fit_fast_ica, fit_pca
from unbraid.training import Run, Trace, read_tensors, save_model

GOLDEN = Path(__file__).parent / "golden" / "format_1"


@pytest.fixture
def saved(train_small, tmp_path):
    return train_small(out=tmp_path / "run")


def test_a_model_comes_back_as_a_module_that_encodes_decodes_and_samples(saved):
    model = unbraid.load(saved.folder)
    assert isinstance(model, torch.nn.Module)
    assert not model.training
    images = torch.rand(4, 1, 8, 8)
    posterior, expected = model.encode(images), saved.model.encode(images)
    assert torch.equal(posterior.mean, expected.mean)
    assert torch.equal(posterior.log_variance, expected.log_variance)
    assert torch.equal(model.decode(posterior.mean), saved.model(images))
    generator = torch.Generator().manual_seed(0)
    assert model.sample(2, generator=generator).shape == (2, 1, 8, 8)


@pytest.mark.parametrize("name", ["", "model.json", "model.safetensors"])
def test_folder_and_files_name_the_model(saved, name):
    assert unbraid.load(saved.folder / name).n_latents == 3


def test_standardized_and_plain_models_come_back(train_small, tmp_path):
    for objective in ("vae", "ae"):
        run = train_small(objective, standardize=True, out=tmp_path / objective)
        model = unbraid.load(tmp_path / objective)
        images = torch.rand(4, 1, 8, 8)
        assert torch.equal(model(images), run.model(images))
        assert model.is_variational == (objective == "vae")


def test_what_is_missing_is_said(tmp_path, saved):
    with pytest.raises(
        FileNotFoundError, match="there is no model.json in this folder"
    ):
        unbraid.load(tmp_path / "nowhere")
    (saved.folder / "model.json").unlink()
    with pytest.raises(FileNotFoundError, match="the run is not finished"):
        unbraid.load(saved.folder)


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_damaged_and_foreign_files_are_refused_in_a_sentence(saved):
    description = saved.folder / "model.json"
    weights = saved.folder / "model.safetensors"
    whole = description.read_text()
    for text, said in (
        (whole[:50], "damaged or cut off"),
        ("[1, 2]", "something else"),
        ('{"a": 1}', "something else"),
    ):
        description.write_text(text)
        with pytest.raises(CheckpointFormatError, match=said):
            unbraid.load(saved.folder)
    for changes, said in (
        ({"format": 2}, "has format 2, .* Update"),
        ({"network": {"name": "transformer"}}, "'transformer'"),
        ({"n_latents": "many"}, "no model can be made"),
        ({"n_latents": 4}, "must have shape"),
    ):
        description.write_text(whole)
        change(description, **changes)
        with pytest.raises(CheckpointFormatError, match=said):
            unbraid.load(saved.folder)
    description.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CheckpointFormatError, match="not text"):
        unbraid.load(saved.folder)
    description.write_text(whole)
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(CheckpointFormatError, match="damaged or cut off"):
        unbraid.load(saved.folder)
    weights.unlink()
    with pytest.raises(CheckpointFormatError, match="there is no such file"):
        unbraid.load(saved.folder)


@pytest.mark.parametrize("fit", [fit_pca, fit_fast_ica])
def test_a_linear_model_comes_back(tmp_path, squares, fit):
    model = fit(squares, n_latents=2)
    save_model(model, tmp_path)
    again = unbraid.load(tmp_path)
    images = torch.rand(3, 1, 8, 8)
    assert torch.equal(again(images), model(images))
    codes = unbraid.encode(again, squares).codes
    assert np.array_equal(codes, unbraid.encode(model, squares).codes)


def test_wrong_files_of_a_linear_model_and_missing_settings_are_refused(
    tmp_path, squares, saved
):
    save_model(fit_pca(squares, n_latents=2), tmp_path)
    with pytest.raises(CheckpointFormatError, match="which no run makes"):
        Run.load(tmp_path)
    change(tmp_path / "model.json", n_latents=3)
    with pytest.raises(CheckpointFormatError, match="must have shape"):
        unbraid.load(tmp_path)
    with pytest.raises(ValueError, match=r"Pass those of the run: spec=run\.spec"):
        save_model(saved.model, tmp_path)


HUGE = 10**12
EDITS = [
    {"network": None},
    {"network": "dense"},
    {"network": []},
    {"network": {}},
    {"network": {"name": None}},
    {"network": {"name": ["dense"]}},
    {"network": {"name": "gaussian"}},
    {"network": {"name": "own"}},
    {"network": {"name": "dense", "widths": 8}},
    {"network": {"name": "dense", "widths": [-8]}},
    {"network": {"name": "dense", "widths": [0.5]}},
    {"network": {"name": "dense", "widths": [HUGE]}},
    {"network": {"name": "dense", "widths": [10**30]}},
    {"network": {"name": "dense", "widths": []}},
    {"network": {"name": "dense", "depth": 3}},
    {"network": {"name": "convolutional"}},
    {"network": {"name": "convolutional", "n_units": HUGE}},
    {"likelihood": None},
    {"likelihood": {"name": "dense"}},
    {"likelihood": {"name": "gaussian", "variance": "wide"}},
    {"likelihood": {"name": "gaussian", "variance": -1}},
    {"likelihood": {"name": "kernel_augmented", "base": 3}},
    {"image_shape": 64},
    {"image_shape": "abc"},
    {"image_shape": []},
    {"image_shape": [1, 8]},
    {"image_shape": [1, -8, -8]},
    {"image_shape": [1, 8, HUGE]},
    {"image_shape": [1, 8.0, 8.0]},
    {"n_latents": None},
    {"n_latents": -3},
    {"n_latents": True},
    {"n_latents": HUGE},
    {"n_latents": 10**30},
    {"is_variational": "no"},
    {"is_variational": False},
    {"mean": 0.5},
    {"mean": ["a"]},
    {"mean": [0.5, 0.5]},
    {"mean": [float("nan")]},
    {"std": None},
    {"std": [-1.0]},
    {"format": "1"},
    {"format": None},
    {"kind": 3},
]


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_settings_that_were_edited_are_refused(saved, edit):
    change(saved.folder / "model.json", **edit)
    with pytest.raises(CheckpointFormatError) as caught:
        unbraid.load(saved.folder)
    assert "object has no attribute" not in str(caught.value)


@pytest.mark.parametrize("key", ["network", "likelihood", "image_shape", "n_latents"])
def test_settings_that_are_missing_are_refused(saved, key):
    path = saved.folder / "model.json"
    record = json.loads(path.read_text())
    del record[key]
    path.write_text(json.dumps(record))
    with pytest.raises(CheckpointFormatError, match=f"these settings: no '{key}'"):
        unbraid.load(saved.folder)


def test_a_run_of_format_1_stays_readable():
    run = Run.load(GOLDEN)
    assert run.spec.steps == 20
    assert [record["step"] for record in run.history] == [10, 20]
    images = torch.linspace(0, 1, 64).reshape(1, 1, 8, 8)
    expected = json.loads((GOLDEN / "expected.json").read_text())
    codes = run.model.encode(images).mean.detach().numpy()[0]
    assert codes == pytest.approx(expected["codes"], abs=1e-6)
    trace = Trace.load(GOLDEN)
    assert np.array_equal(trace.steps, [0, 10, 20])
    assert trace.activations.shape == (3, 4, 4)


def test_a_broken_run_of_format_1_goes_on(tmp_path, squares):
    """Its state is read and its settings are known, so the run is finished by it."""
    import shutil

    from unbraid.models.networks import Dense
    from unbraid.training import TraceSettings, fit

    shutil.copytree(GOLDEN, tmp_path / "run")
    for name in ("model.json", "model.safetensors", "status.json"):
        (tmp_path / "run" / name).unlink()
    fit(
        "beta_vae",
        squares,
        steps=20,
        n_latents=2,
        network=Dense(widths=(4,)),
        batch_size=8,
        log_every=10,
        traces=TraceSettings(n_observations=4, n_snapshots=3),
        out=tmp_path / "run",
    )
    golden, made = (
        load_file(folder / "model.safetensors") for folder in (GOLDEN, tmp_path / "run")
    )
    assert golden.keys() == made.keys()
    assert all(torch.equal(golden[name], made[name]) for name in golden)


def test_a_byte_that_changed_is_found_or_makes_no_difference(saved):
    path = saved.folder / "model.safetensors"
    whole, expected = path.read_bytes(), load_file(path)
    n_header = 8 + int.from_bytes(whole[:8], "little")
    n_found = 0
    for position in range(len(whole)):
        path.write_bytes(
            whole[:position] + bytes([whole[position] ^ 16]) + whole[position + 1 :]
        )
        try:
            tensors, _ = read_tensors(path, kind="model")
        except CheckpointFormatError:
            n_found += position >= n_header
        else:
            assert position < n_header
            assert all(torch.equal(tensors[name], expected[name]) for name in expected)
    assert n_found == len(whole) - n_header


def test_weights_that_are_not_numbers_are_refused(saved):
    path = saved.folder / "model.safetensors"
    with safe_open(path, "pt") as file:
        record = json.loads(file.metadata()["unbraid"])
    del record["checksum"]
    tensors = load_file(path)
    next(iter(tensors.values())).view(-1)[0] = torch.nan
    save_file(tensors, path, {"unbraid": json.dumps(record)})
    with pytest.raises(CheckpointFormatError, match="contains NaN"):
        unbraid.load(saved.folder)
