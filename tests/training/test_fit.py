import json
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.utils.data import DataLoader

import unbraid
from unbraid.data import TorchDataset, XYSquares
from unbraid.foundation import (
    CheckpointFormatError,
    FolderInUseError,
    TrainingDivergedError,
)
from unbraid.models import Decay
from unbraid.models.networks import Convolutional, Dense
from unbraid.models.objectives import TVAE, AdaGVAE, BetaVAE
from unbraid.training import Diagnosis, Run, TraceSettings, fit
from unbraid.training.loggers import AbstractLogger

WEIGHTS = "model.safetensors"


class Listener(AbstractLogger):
    """Notes what it is told, and does something at a step."""

    def __init__(self, at=None, action=lambda: None):
        self.at, self.action, self.steps, self.is_closed = at, action, [], False

    def start(self, settings, *, step, folder):
        self.started_at = step

    def log(self, record):
        self.steps.append(record["step"])
        if record["step"] == self.at:
            self.action()

    def close(self):
        self.is_closed = True


class Pressed(BetaVAE):
    """Has Ctrl-C pressed during its twelfth step."""

    is_pressed = True

    def loss(self, model, batch, context):
        if context.step == 11 and Pressed.is_pressed:
            os.kill(os.getpid(), signal.SIGINT)
        return super().loss(model, batch, context)


def stop():
    raise RuntimeError("stopped")


def comparable(history):
    return [
        {key: value for key, value in record.items() if key != "images_per_second"}
        for record in history
    ]


def test_history_has_every_term_and_the_divergence_of_each_latent(train_small):
    history = train_small().history
    assert [record["step"] for record in history] == [5, 10, 15, 20]
    for record in history:
        assert len(record["kl_per_latent"]) == 3
        assert sum(record["kl_per_latent"]) == pytest.approx(record["kl"], rel=1e-5)
        total = record["reconstruction"] + 4 * record["kl"]
        assert record["total"] == pytest.approx(total, rel=1e-5)
        active = sum(kl > 0.01 for kl in record["kl_per_latent"])
        assert record["active_latents"] == active
        assert record["gradient_norm"] > 0
        assert record["images_per_second"] > 0


def test_a_folder_holds_what_the_run_gave(train_small, tmp_path):
    run = train_small(out=tmp_path, traces=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "spec.json",
        "status.json",
        "history.jsonl",
        "lock",
        "model.json",
        "model.safetensors",
        "state.safetensors",
        "traces.safetensors",
    }
    again = Run.load(tmp_path)
    assert (again.spec, again.history) == (run.spec, run.history)
    assert (again.warnings, again.folder) == (run.warnings, tmp_path)
    assert np.array_equal(again.trace.activations, run.trace.activations)
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["status"], status["step"]) == ("finished", 20)


def test_without_a_folder_nothing_is_written(train_small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = train_small()
    assert run.folder is None
    assert not list(tmp_path.iterdir())


def test_a_folder_changes_no_number(train_small, tmp_path):
    alone, kept = train_small(), train_small(out=tmp_path, save_every=5)
    for mine, other in zip(
        alone.model.parameters(), kept.model.parameters(), strict=True
    ):
        assert torch.equal(mine, other)


def test_a_finished_run_is_not_computed_again(train_small, tmp_path):
    train_small(out=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    listener = Listener()
    run = train_small(out=tmp_path, loggers=[listener])
    assert listener.steps == []
    assert len(run.history) == 4
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


@pytest.mark.parametrize("optimizer", ["Adam", "SGD", "RMSprop", "NAdam", "Adagrad"])
def test_a_broken_run_goes_on_to_the_same_bytes(train_small, tmp_path, optimizer):
    options = {"optimizer": optimizer, "save_every": 5}
    whole = train_small(out=tmp_path / "whole", **options)
    with pytest.raises(RuntimeError, match="stopped"):
        train_small(out=tmp_path / "broken", loggers=[Listener(15, stop)], **options)
    listener = Listener()
    broken = train_small(out=tmp_path / "broken", loggers=[listener], **options)
    assert listener.started_at == 10  # the logger spoke before step 15 was saved
    for name in (WEIGHTS, "state.safetensors"):
        one, other = (tmp_path / run / name for run in ("whole", "broken"))
        assert one.read_bytes() == other.read_bytes()
    assert comparable(whole.history) == comparable(broken.history)


def test_convolutions_go_on_to_the_same_bytes_in_the_same_layout(tmp_path):
    data = XYSquares(image_size=16, square_size=2, n_squares=1)
    options = {
        "network": Convolutional(),
        "steps": 6,
        "batch_size": 4,
        "log_every": 2,
        "save_every": 2,
    }
    whole = fit("beta_vae", data, out=tmp_path / "whole", **options)
    with pytest.raises(RuntimeError, match="stopped"):
        fit(
            "beta_vae",
            data,
            out=tmp_path / "broken",
            loggers=[Listener(4, stop)],
            **options,
        )
    broken = fit("beta_vae", data, out=tmp_path / "broken", **options)
    one, other = (tmp_path / run / WEIGHTS for run in ("whole", "broken"))
    assert one.read_bytes() == other.read_bytes()
    loaded = unbraid.load(tmp_path / "whole")
    for models in zip(
        whole.model.parameters(),
        broken.model.parameters(),
        loaded.parameters(),
        strict=True,
    ):
        assert len({parameter.stride() for parameter in models}) == 1


def test_lines_after_the_saved_step_and_half_lines_are_dropped(train_small, tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        train_small(out=tmp_path, save_every=5, loggers=[Listener(15, stop)])
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write('{"step": 20, "total": 1.0}\n{"step": 2')
    run = train_small(out=tmp_path)
    assert comparable(run.history) == comparable(train_small().history)
    assert Run.load(tmp_path).history == run.history


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "another seed"),
        ({"objective": BetaVAE(beta=2.0)}, "another objective"),
        ({"steps": 30}, "another steps"),
        ({"traces": True}, "another traces"),
        ({"data": XYSquares(image_size=8, square_size=1, rgb=False)}, "another data"),
    ],
)
def test_a_folder_of_other_settings_is_refused(train_small, tmp_path, change, said):
    train_small(out=tmp_path)
    with pytest.raises(CheckpointFormatError, match=said):
        train_small(out=tmp_path, **change)


def test_a_folder_with_a_strangers_model_is_refused(train_small, tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(CheckpointFormatError, match=r"holds model\.json"):
        train_small(out=tmp_path)


def test_wrong_settings_do_not_take_a_folder(train_small, tmp_path):
    with pytest.raises(ValueError, match="layer must be '0'"):
        train_small(traces=TraceSettings(layer="none"), out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_damaged_state_is_refused_and_not_overwritten(train_small, tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        train_small(out=tmp_path, save_every=5, loggers=[Listener(10, stop)])
    state = tmp_path / "state.safetensors"
    half = state.read_bytes()[:-50]
    state.write_bytes(half)
    with pytest.raises(CheckpointFormatError, match="damaged or cut off"):
        train_small(out=tmp_path)
    assert state.read_bytes() == half


@pytest.mark.parametrize("error", [OSError("no space"), RuntimeError("out of memory")])
def test_any_failure_is_written_down_and_the_same_call_goes_on(
    train_small, tmp_path, error
):
    def fail():
        raise error

    with pytest.raises(type(error), match=str(error)):
        train_small(out=tmp_path, save_every=5, loggers=[Listener(15, fail)])
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["status"], status["step"]) == ("failed", 15)
    assert status["error"] == f"{type(error).__name__}: {error}"
    assert train_small(out=tmp_path).history[-1]["step"] == 20
    assert json.loads((tmp_path / "status.json").read_text())["status"] == "finished"


@pytest.mark.parametrize(
    "damage",
    [None, b"", b"\xff\xfe", b"[1]\n", b"5\n", b'{"total": 1.0}\n', b'{"step": "a"}\n'],
)
def test_a_finished_run_without_its_history_is_loaded_with_a_warning(
    train_small, tmp_path, damage
):
    train_small(out=tmp_path)
    history = tmp_path / "history.jsonl"
    history.unlink() if damage is None else history.write_bytes(damage)
    for run in (train_small(out=tmp_path), Run.load(tmp_path)):
        assert run.history == []
        assert [found.name for found in run.warnings] == ["history_damaged"]
        assert "ends at step 0 of 20" in run.warnings[0].message


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[1]", b'{"a": 1}'])
def test_damaged_settings_of_a_run_are_refused_and_a_damaged_status_is_unknown(
    train_small, tmp_path, damage
):
    whole = train_small(out=tmp_path)
    (tmp_path / "status.json").write_bytes(damage)
    again = train_small(out=tmp_path)
    assert again.history == whole.history
    (tmp_path / "spec.json").write_bytes(damage)
    with pytest.raises(CheckpointFormatError, match=r"spec\.json: this is not"):
        train_small(out=tmp_path)
    with pytest.raises(CheckpointFormatError, match=r"spec\.json: this is not"):
        Run.load(tmp_path)


@pytest.mark.parametrize("key", ["spec", "data", "id"])
def test_settings_of_a_run_that_were_edited_are_refused(train_small, tmp_path, key):
    train_small(out=tmp_path)
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id": "", key: [1]}))
    with pytest.raises(CheckpointFormatError, match="another"):
        train_small(out=tmp_path)


def test_a_folder_takes_one_training_at_a_time(train_small, tmp_path):
    refused = []

    def begin_again():
        with pytest.raises(
            FolderInUseError, match="another process is training"
        ) as caught:
            train_small(out=tmp_path)
        refused.append(caught.value)

    train_small(out=tmp_path, loggers=[Listener(10, begin_again)])
    assert len(refused) == 1
    assert train_small(out=tmp_path).history[-1]["step"] == 20


def test_ctrl_c_saves_and_the_same_call_goes_on(train_small, tmp_path, monkeypatch):
    whole = train_small(out=tmp_path / "whole")
    listener = Listener()
    with pytest.raises(KeyboardInterrupt, match="interrupted at step 12"):
        train_small(Pressed(), out=tmp_path / "broken", loggers=[listener])
    assert listener.steps == [5, 10]
    assert listener.is_closed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    status = json.loads((tmp_path / "broken" / "status.json").read_text())
    assert (status["status"], status["step"]) == ("interrupted", 12)
    monkeypatch.setattr(Pressed, "is_pressed", False)
    broken = train_small(Pressed(), out=tmp_path / "broken")
    one, other = (tmp_path / run / WEIGHTS for run in ("whole", "broken"))
    assert one.read_bytes() == other.read_bytes()
    steps = [[record["step"] for record in run.history] for run in (whole, broken)]
    assert steps[0] == steps[1]


def test_it_trains_outside_the_main_thread(train_small, tmp_path):
    runs = []
    thread = threading.Thread(target=lambda: runs.append(train_small(out=tmp_path)))
    thread.start()
    thread.join()
    assert runs[0].history[-1]["step"] == 20


def test_divergence_is_written_down_and_leaves_no_model(train_small, tmp_path):
    options = {
        "out": tmp_path,
        "save_every": 5,
        "learning_rate": 1e18,
        "likelihood": "gaussian",
    }
    with pytest.raises(TrainingDivergedError) as caught:
        train_small(**options)
    assert caught.value.terms
    status = json.loads((tmp_path / "status.json").read_text())
    assert status["status"] == "failed"
    assert status["warnings"][0]["name"] == "diverged"
    assert not (tmp_path / "model.json").exists()


def test_weights_that_break_leave_the_last_good_state(train_small, tmp_path):

    class Sabotaged(BetaVAE):
        def loss(self, model, batch, context):
            found = super().loss(model, batch, context)
            if context.step == 14:  # a finite loss whose gradient is not
                weight = next(model.parameters())
                root = (weight.sum() - weight.sum().detach()).abs().sqrt()
                return type(found)(found.total + root, found.terms)
            return found

    with pytest.raises(TrainingDivergedError, match="weights"):
        train_small(Sabotaged(), out=tmp_path, save_every=5)
    kept = load_file(tmp_path / "state.safetensors")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in kept.values())
    assert kept["optimiser.0.step"] == 10


@pytest.mark.parametrize("length", [5, 500])
def test_vectors_are_learned(length):
    generator = np.random.default_rng(0)
    values = generator.normal(size=(200, 2)) @ generator.normal(size=(2, length))
    run = fit("vae", values + 3.0, steps=60, learning_rate=1e-3, log_every=10)
    assert run.history[-1]["total"] < 0.9 * run.history[0]["total"]
    assert run.model.image_shape == (length,)
    assert unbraid.encode(run.model, values).codes.shape == (200, 10)


def test_loaders_arrays_and_datasets_train_alike(train_small, squares):
    rows = np.arange(64)
    sources = (
        squares,
        squares.images(rows),
        squares.images(rows) / 255.0,
        DataLoader(TorchDataset(squares), 7),
    )
    runs = [train_small(data=data) for data in sources]
    losses = [[record["total"] for record in run.history] for run in runs]
    assert all(loss == losses[0] for loss in losses)


def test_images_that_are_standardized_get_a_gaussian_by_default(train_small):
    run = train_small(standardize=True)
    assert type(run.spec.likelihood).__name__ == "Gaussian"
    assert len(run.spec.mean) == 1


def test_intervals_that_do_not_fit_are_refused(train_small):
    with pytest.raises(ValueError, match="multiple of log_every=5, got 7"):
        train_small(save_every=7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"log_every": 0}, "log_every must be a positive integer, got 0"),
        ({"log_every": 1.5}, "log_every must be a positive integer, got 1.5"),
        ({"save_every": float("nan")}, "save_every must be a positive integer"),
        (
            {"save_every_seconds": "a"},
            "save_every_seconds must be a non-negative number",
        ),
        ({"steps": float("nan")}, "steps must be a positive integer, got nan"),
        (
            {"steps": float("nan"), "objective": "annealed_vae"},
            "steps must be a positive integer, got nan",
        ),
        ({"steps": True}, "steps must be a positive integer, got True"),
        ({"n_latents": 2.0}, "n_latents must be a positive integer, got 2.0"),
        ({"optimizer": "LBFGS"}, "one dense gradient per step, such as .* got 'LBFGS'"),
        (
            {"optimizer": "SparseAdam"},
            "one dense gradient per step, such as .* got 'SparseAdam'",
        ),
        ({"optimizer": 5}, "the name of an optimizer"),
        (
            {"batch_size": 1, "objective": "dip_vae"},
            "batch_size must be at least 2 for DIPVAE",
        ),
        (
            {"batch_size": 2, "objective": TVAE(triplets="perceived")},
            "batch_size must be at least 3 for TVAE, got 2",
        ),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(train_small, options, said):
    with pytest.raises(ValueError, match=said):
        train_small(**options)


def test_whole_numbers_of_numpy_are_whole_numbers(train_small, tmp_path):
    five = np.int64(5)
    run = train_small(steps=five, n_latents=five, log_every=five, seed=five)
    again = train_small(steps=5, n_latents=5, seed=5, out=tmp_path)
    assert run.spec == again.spec
    assert run.spec.to_plain() == again.spec.to_plain()


def test_the_package_gives_its_names():
    for name in ("Run", "fit", "load"):
        assert getattr(unbraid, name).__name__ == name
        assert name in dir(unbraid)


def test_a_network_of_the_users_own_is_kept_and_goes_on(train_small, tmp_path):
    class Own(Dense):
        pass

    run = train_small(network=Own(widths=(6,)), out=tmp_path)
    again = train_small(network=Own(widths=(6,)), out=tmp_path)
    assert torch.equal(next(run.model.parameters()), next(again.model.parameters()))
    with pytest.raises(CheckpointFormatError, match="another network"):
        train_small(network=Own(widths=(7,)), out=tmp_path)
    with pytest.raises(CheckpointFormatError, match="Pass it as network="):
        unbraid.load(tmp_path)
    assert unbraid.load(tmp_path, network=Own(widths=(6,))).n_latents == 3


def test_a_model_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / WEIGHTS).write_text("precious")
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    with pytest.raises(CheckpointFormatError, match="something else"):
        fit(BetaVAE(), squares, steps=2, out=tmp_path, progress=False)
    assert (tmp_path / WEIGHTS).read_text() == "precious"
    assert not (tmp_path / "spec.json").exists()


def test_a_run_that_cannot_begin_leaves_the_folder_free(tmp_path):
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    out = tmp_path / "run"
    with pytest.raises(ValueError, match="n_changed"):
        fit(AdaGVAE(n_changed=9), squares, steps=2, out=out, progress=False)
    fit(AdaGVAE(n_changed=1), squares, steps=2, out=out, progress=False)


def test_large_gradients_are_told_in_double_precision():
    large = np.random.default_rng(0).normal(scale=1e10, size=(50, 5)).astype(np.float32)
    run = fit("ae", large, steps=3, n_latents=2, progress=False)
    assert np.isfinite(run.history[-1]["gradient_norm"])


def test_a_schedule_of_the_learning_rate_is_followed(train_small, monkeypatch):
    rates = []
    update = torch.optim.Adam.step

    def step(self, *arguments, **options):
        rates.append(self.param_groups[0]["lr"])
        return update(self, *arguments, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", step)
    rate = Decay(value=0.01, share=0.5)
    run = train_small(steps=20, learning_rate=rate, device="cpu")
    filled = Decay(value=0.01, share=0.5, steps=20)
    assert rates == [filled.at(step) for step in range(20)]
    assert run.spec.learning_rate == filled


def test_a_run_with_a_schedule_of_the_learning_rate_resumes_to_the_same_bytes(
    train_small, tmp_path
):
    settings = {"steps": 20, "learning_rate": Decay(value=0.01, share=0.5)}
    train_small(out=tmp_path / "whole", **settings)
    press = Listener(15, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        train_small(out=tmp_path / "parts", loggers=[press], **settings)
    train_small(out=tmp_path / "parts", **settings)
    whole, parts = (
        (tmp_path / name / "model.safetensors").read_bytes()
        for name in ("whole", "parts")
    )
    assert whole == parts


@pytest.mark.parametrize("rate", ["a", 0.0, -1.0, float("nan"), Decay(value=0.0)])
def test_a_learning_rate_that_is_not_positive_is_refused(train_small, rate):
    with pytest.raises(ValueError, match="learning rate must be positive, got"):
        train_small(learning_rate=rate)


def test_a_run_is_shown_in_a_line_and_as_a_table(tmp_path):
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    options = {"steps": 1_200, "log_every": 600, "n_latents": 2, "batch_size": 4}
    run = fit("beta_vae", squares, out=tmp_path / "run", **options)
    warned = replace(run, warnings=(Diagnosis("dead", "<No latent> is active.", 9),))
    assert repr(run) == (
        f"Run(BetaVAE, 2 latents, 1,200 steps, seed 0, folder={str(run.folder)!r})"
    )
    assert "seed 0, warnings: dead, folder=" in repr(warned)
    page = warned._repr_html_()
    assert f"<td>last loss</td><td>{run.history[-1]['total']:.4g} nats" in page
    assert "<td>data</td><td>3 x 8 x 8</td>" in page
    assert "&lt;No latent&gt; is active." in page
    assert "last loss" not in replace(run, history=[])._repr_html_()
