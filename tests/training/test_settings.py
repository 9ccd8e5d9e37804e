"""One set of training settings, the same in every place that takes them."""

import inspect
import pydoc
import subprocess
import sys
from typing import get_type_hints

import pytest
from command_line import app
from typer.testing import CliRunner

import unbraid
from unbraid.cli._discover import discover
from unbraid.cli._evaluate import evaluate
from unbraid.cli._study import retry as study_retry
from unbraid.cli._study import run as study_run
from unbraid.cli._train import train
from unbraid.evolution import evolve
from unbraid.models import Bernoulli, Decay, Gaussian, save_likelihood
from unbraid.models.networks import Dense
from unbraid.studies import RunSpec, run_study
from unbraid.training import (
    Run,
    RunSettings,
    Training,
    TrainingOverrides,
    TrainingSettings,
    TrainingSpec,
    fit,
    specify,
)
from unbraid_claims._command import reproduce

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"
FIELDS = TrainingSettings.model_fields


def test_types_for_static_checkers_name_every_setting():
    assert get_type_hints(TrainingOverrides).keys() == FIELDS.keys()


def test_every_setting_has_a_description():
    assert all(field.description.endswith(".") for field in FIELDS.values())


@pytest.mark.parametrize("function", [fit, specify])
def test_functions_list_every_setting_with_its_default_and_description(function):
    parameters = inspect.signature(function).parameters
    text = " ".join(pydoc.render_doc(function).split())
    for name, field in FIELDS.items():
        assert parameters[name].default == field.default
        assert f"{name}: {field.description}" in text
    assert "{settings}" not in text


def test_the_keywords_of_a_call_are_known():
    known = {
        *("steps", "batch_size", "n_latents", "network", "likelihood", "standardize"),
        *("order", "optimizer", "learning_rate", "recipe", "seed", "device", "out"),
        *("save_every", "save_every_seconds", "traces", "loggers", "log_every"),
        "progress",
    }
    assert known <= inspect.signature(fit).parameters.keys()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("stpes", "steps"), ("learning_rates", "learning_rate"), ("devices", "device")],
)
def test_a_wrong_keyword_is_an_error_that_suggests_the_nearest(squares, wrong, right):
    with pytest.raises(TypeError, match=f"argument '{wrong}'. Did you mean '{right}'"):
        fit("vae", squares, **{wrong: 1})


def test_settings_are_shared_and_replaced_one_by_one(squares):
    settings = TrainingSettings(steps=3, n_latents=2, seed=4)
    spec = specify("vae", squares, settings=settings, seed=5)
    assert (spec.steps, spec.n_latents, spec.seed) == (3, 2, 5)
    # A learning rate that nobody gave leaves the choice to the recipe.
    spec = specify("vae", squares, settings=settings, recipe="small")
    assert spec.learning_rate == Decay(value=1e-3, steps=3)


def test_settings_are_records_however_they_are_written(tmp_path):
    path = save_likelihood(Gaussian(variance=2.0), tmp_path / "loss.json")
    settings = TrainingSettings.read(
        {
            "network": {"name": "dense", "widths": [4]},
            "likelihood": str(path),
            "learning_rate": {"name": "decay", "value": 1e-3},
        },
        "example",
    )
    assert settings.network == Dense(widths=(4,))
    assert settings.likelihood == Gaussian(variance=2.0)
    assert settings.learning_rate == Decay(value=1e-3)
    assert TrainingSettings.read({"likelihood": "bernoulli"}, "").likelihood == (
        Bernoulli()
    )


def test_a_specification_takes_its_defaults_from_the_settings():
    spec, settings = TrainingSpec(), TrainingSettings()
    for name in TrainingSpec.shared_settings() - {"network", "likelihood"}:
        assert getattr(spec, name) == getattr(settings, name), name


def test_a_study_has_all_settings_and_takes_a_recipe(squares):
    assert {*Training.model_fields, *RunSettings.model_fields} >= FIELDS.keys()
    plain = {"data": DATA, "training": {"recipe": "small", "steps": 3}}
    spec = RunSpec.read(plain, "run")
    assert spec.training_spec(squares).learning_rate == Decay(value=1e-3, steps=3)
    assert RunSpec.read(spec.to_plain(), "again") == spec


def test_settings_that_are_not_given_are_not_written():
    plain = RunSpec.read({"data": DATA}, "run").to_plain()
    assert "recipe" not in plain["training"]
    assert plain["training"]["learning_rate"] == 1e-4


def test_the_command_line_has_an_option_for_every_setting(monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    shown = CliRunner().invoke(app, ["train", "--help"], terminal_width=1000).output
    text = " ".join(shown.replace("│", " ").split())
    for name, field in FIELDS.items():
        assert f"--{name.replace('_', '-')}" in text
        assert " ".join(field.description.split()) in text


def test_options_of_the_command_line_are_read_as_settings(tmp_path):
    options = {
        "--steps": "4",
        "--n-latents": "2",
        "--log-every": "2",
        "--optimizer": "SGD",
        "--optimizer-options": "{momentum: 0.5}",
        "--learning-rate": "{name: decay, value: 1e-3}",
        "--network": "{name: dense, widths: [4]}",
        "--order": "shuffled",
        "--out": str(tmp_path),
    }
    pairs = [part for pair in options.items() for part in pair]
    result = CliRunner().invoke(app, ["train", DATA, *pairs])
    assert result.exit_code == 0, result.output
    run = Run.load(tmp_path)
    assert [record["step"] for record in run.history] == [2, 4]
    assert run.spec.optimizer_options == (("momentum", 0.5),)
    assert run.spec.learning_rate == Decay(value=1e-3, steps=4)
    assert (run.spec.network, run.spec.order) == (Dense(widths=(4,)), "shuffled")


def test_the_former_spelling_is_read_and_written():
    former = {"optimiser": "SGD", "optimiser_options": {}, "standardise": True}
    settings = TrainingSettings.read(former, "study")
    assert (settings.optimizer, settings.standardize) == ("SGD", True)
    assert former.items() <= settings.model_dump(mode="json").items()
    with pytest.raises(ValueError, match="are the same setting"):
        TrainingSettings.read({"standardise": True, "standardize": False}, "study")
    assert TrainingSpec(optimizer="SGD").to_plain()["optimiser"] == "SGD"


@pytest.mark.parametrize("option", ["--optimizer", "--optimiser"])
def test_the_command_line_reads_both_spellings(option, tmp_path):
    arguments = ["train", DATA, "--out", str(tmp_path / "run"), option, "Nonsense"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--optimizer" in result.output
    assert "Nonsense" in result.output


def test_the_list_of_commands_does_not_wait_for_torch():
    code = (
        "import sys; from unbraid.cli._app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout


def test_options_of_the_optimizer_reach_a_run(squares):
    run = unbraid.fit(
        "vae",
        squares,
        steps=2,
        optimizer="SGD",
        optimizer_options={"momentum": 0.9},
        progress=False,
    )
    assert run.spec.optimizer_options == (("momentum", 0.9),)


def test_options_have_the_same_defaults_in_the_library_and_on_the_command_line():
    def default(function, name):
        return inspect.signature(function).parameters[name].default

    runners = (fit, unbraid.discover, unbraid.Disentangler, run_study, evolve)
    commands = (train, discover, study_run, study_retry, reproduce)
    for function in (*runners, *commands):
        assert default(function, "device") == "auto"
    assert default(evaluate, "rows") == default(unbraid.evaluate, "rows")
