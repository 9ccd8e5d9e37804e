"""Objectives, metrics and datasets of other packages, as a user meets them."""

import json

import pytest
from extension_package import EXAMPLE, install, install_example, run_commands

SMALL = "clock:image_size=8,n_minutes=6"
STUDY = "{name: clocks, preset: clocks}"
TRAIN = (
    *("train", SMALL, "--objective", "free_bits_vae", "--set", "free_bits=0.2"),
    *("--network", "dense", "--steps", "4", "--out", "run"),
)
COMMANDS = {
    "tests": ("pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE / "tests")),
    "names": ("names", "--json"),
    "list": ("data", "list"),
    "info": ("data", "info", SMALL, "--json"),
    "train": TRAIN,
    "again": TRAIN,
    "evaluate": ("evaluate", "run", "--data", SMALL, "--metrics", "mig,mcc"),
    "study": ("study", "run", "study.yaml", "--workers", "1"),
    "table": ("study", "table", "study"),
    "presets": ("study", "preset", "--json"),
    "preset": ("study", "preset", "clocks", "--scale", "paper", "--json"),
    "scale?": ("study", "preset", "clocks", "--scale", "small"),
    "help": ("--help",),
    "greet": ("greet", "--json"),
    "objective?": ("train", SMALL, "--objective", "free_bit_vae", "--out", "x"),
    "metric?": ("evaluate", "--codes", "z.npy", "--metrics", "mccc"),
    "dataset?": ("data", "info", "clok"),
}

COMMAND = """
[project]
name = "greeting"
version = "1.0"

[project.entry-points."unbraid.commands"]
greet = "greeting:greet"
"""
COMMAND_SOURCES = {
    "greeting.py": '''
from unbraid.cli.commands import JsonOption, print_json

def greet(json: JsonOption = False) -> None:
    """Say the time."""
    print_json({"time": "noon"})
'''
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands run that use the example."""
    return tmp_path_factory.mktemp("example")


@pytest.fixture(scope="module")
def example(folder, tmp_path_factory):
    """What commands say that find the example as if it were installed."""
    packages = tmp_path_factory.mktemp("packages")
    install_example(packages)
    install(packages, COMMAND_SOURCES, COMMAND)
    (folder / "study.yaml").write_text(STUDY)
    done = run_commands(list(COMMANDS.values()), extra=packages, cwd=folder)
    return dict(zip(COMMANDS, done, strict=True))


def test_the_example_passes_its_own_tests(example):
    assert example["tests"].code == 0, example["tests"].out
    assert "4 passed" in example["tests"].out


def test_names_of_packages_are_listed_with_the_package(example):
    rows = json.loads(example["names"].out)
    theirs = [row for row in rows if row["from"] == "unbraid-example 0.1.0"]
    assert [(row["kind"], row["name"]) for row in theirs] == [
        ("objectives", "free_bits_vae"),
        ("metrics", "mcc"),
        ("datasets", "clock"),
    ]
    assert all(row["usable"] and row["about"] for row in theirs)
    assert len(rows) > 50


def test_a_dataset_of_a_package_is_listed_and_described(example):
    assert "clock" in example["list"].out
    assert "hour 12, minute 60" in example["list"].out
    assert json.loads(example["info"].out)["n_images"] == 72


def test_a_model_is_trained_loaded_and_scored(example, folder):
    assert example["train"].code == 0, example["train"].err
    assert "4 steps" in example["train"].out
    written = json.loads((folder / "run/model.json").read_text())
    assert written["objective"]["name"] == "free_bits_vae"
    assert written["objective"]["free_bits"] == 0.2
    # The same command goes on with what is there, which is all of it.
    assert example["again"].code == 0, example["again"].err
    assert "4 steps" in example["again"].out
    assert "mcc" in example["evaluate"].out
    assert "rank" in example["evaluate"].out


def test_a_study_runs_them_in_a_worker(example, folder):
    assert example["study"].code == 0, example["study"].err
    assert "mcc" in example["table"].out
    assert len([*folder.glob("study/runs/*/scores.json")]) == 2


def test_a_preset_of_a_package_is_listed_with_those_of_unbraid(example):
    about = {row["name"]: row["about"] for row in json.loads(example["presets"].out)}
    assert about["clocks"] == "How many free bits show the time?"
    assert "dlib-2019" in about


def test_a_preset_has_the_scales_of_its_file(example):
    study = json.loads(example["preset"].out)
    assert study["name"] == "clocks-paper"
    assert study["methods"]["free_bits_vae"]["free_bits"] == [0.0, 0.1, 0.5, 1.0]
    assert not {"about", "scales", "preset"} & set(study)
    assert example["scale?"].code == 2
    assert "mini, paper" in example["scale?"].words


def test_a_command_of_a_package_is_listed_and_run(example):
    assert "greet" in example["help"].out
    assert "Say the time." in example["help"].out
    assert json.loads(example["greet"].out) == {"time": "noon"}


def test_a_name_that_is_nearly_one_is_suggested(example):
    for option, name in (
        ("objective?", "free_bits_vae"),
        ("metric?", "mcc"),
        ("dataset?", "clock"),
    ):
        assert example[option].code == 2
        assert f"Did you mean {name!r}?" in example[option].words


BROKEN = """
[project]
name = "broken"
version = "2.0"

[project.entry-points."unbraid.objectives"]
gone_vae = "broken_package.nowhere:VAE"
number_vae = "broken_package:NUMBER"
vae = "broken_package:Good"
dense = "broken_package:Good"
half_vae = "broken_package:Half"
leaving_vae = "broken_package.leaving:VAE"

[project.entry-points."unbraid.metrics"]
missing_metric = "broken_package:METRIC"
standard = "broken_package:NUMBER"

[project.entry-points."unbraid.commands"]
number = "broken_package:NUMBER"

[project.entry-points."unbraid.presets"]
empty = "broken_package"
text = "broken_package.leaving"

[project.entry-points."unbraid.datasets"]
"odd name" = "broken_package:Good"
wanting = "broken_package:Wanting"
"""
SOURCES = {
    "broken_package/leaving.py": "raise SystemExit(3)\n",
    "broken_package/__init__.py": """
from unbraid.data import AbstractDataset
from unbraid.models.objectives import VAE, AbstractObjective

NUMBER = 3
Good = VAE

class Half(AbstractObjective):
    pass

class Wanting(AbstractDataset):
    "Wants a file."
    image_shape, name = (1, 2, 2), "other"
    def __init__(self, file): ...
    def __len__(self): return 3
    def _gather(self, indices): ...
""",
}


# Asserts that nothing of other packages is imported for what is built in.
BUILT_IN = """
import sys, unbraid
from unbraid.data import XYSquares
data = XYSquares(image_size=8, square_size=1, n_squares=1)
run = unbraid.fit("vae", data, steps=1, n_latents=2, out="run")
unbraid.load("run")
unbraid.evaluate(run.model, data, metrics="mig", rows=60)
assert "broken_package" not in sys.modules
"""
ASKED = {
    "built in": ("python", BUILT_IN),
    "names": ("names", "--json"),
    "list": ("data", "list"),
    "objective": ("train", "xy_squares", "--objective", "number_vae", "--out", "x"),
    "metric": ("evaluate", "--codes", "z.npy", "--metrics", "missing_metric"),
    "presets": ("study", "preset"),
    "help": ("--help",),
    "command": ("number",),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with a package in which everything is wrong, and one that comes late."""
    folder = tmp_path_factory.mktemp("broken")
    install(folder, SOURCES, BROKEN)
    install_example(folder)
    again = EXAMPLE.joinpath("pyproject.toml").read_text()
    install(folder, {}, again.replace('"unbraid-example"', '"unbraid-later"'))
    return folder


@pytest.fixture(scope="module")
def broken(packages, tmp_path_factory):
    """What commands say that find these packages."""
    cwd = tmp_path_factory.mktemp("cwd")
    done = run_commands(list(ASKED.values()), extra=packages, cwd=cwd)
    return dict(zip(ASKED, done, strict=True))


@pytest.fixture(scope="module")
def faults(broken):
    """What is wrong, by package and name."""
    rows = json.loads(broken["names"].out)
    return {
        (row["from"], row["name"]): row["about"] for row in rows if not row["usable"]
    }


def test_what_is_broken_is_told_once_in_a_sentence_and_breaks_nothing(broken, faults):
    assert broken["names"].code == 0
    assert broken["names"].err.splitlines() == list(faults.values())
    who = "unbraid.objectives: {!r} of the package broken 2.0 cannot be used: {}."
    for name, reason in (
        (
            "gone_vae",
            "ModuleNotFoundError: No module named 'broken_package.nowhere'",
        ),
        ("leaving_vae", "SystemExit: 3"),
        ("vae", "its name is taken"),
        ("dense", "its name is taken"),
        ("number_vae", "3 is not a subclass of AbstractObjective"),
        ("half_vae", "it does not implement loss of AbstractObjective"),
    ):
        assert faults["broken 2.0", name] == who.format(name, reason)
    assert "has no attribute 'METRIC'" in faults["broken 2.0", "missing_metric"]
    assert "its name is taken" in faults["broken 2.0", "standard"]
    assert "letters, digits and underscores" in faults["broken 2.0", "odd name"]
    assert broken["list"].err == ""


def test_to_ask_for_what_is_broken_gives_the_reason(broken, faults):
    assert broken["objective"].code == broken["metric"].code == 2
    assert faults["broken 2.0", "number_vae"] in broken["objective"].words
    assert faults["broken 2.0", "missing_metric"] in broken["metric"].words


def test_presets_and_commands_that_are_broken_are_told_and_hide_no_others(broken):
    assert broken["presets"].code == broken["help"].code == 0
    assert "dlib-2019" in broken["presets"].out
    assert "reproduce" in broken["help"].out
    for what, reason in (
        ("unbraid.presets: 'empty'", "there are no YAML files in the package"),
        ("unbraid.presets: 'text'", "SystemExit: 3"),
    ):
        line = f"{what} of the package broken 2.0 cannot be used: {reason}."
        assert line in broken["presets"].err
    line = "unbraid.commands: 'number' of the package broken 2.0 cannot be used: 3 is"
    assert line in broken["help"].err
    assert broken["command"].code == 1
    assert "3 is not a function" in broken["command"].err


def test_a_dataset_that_needs_options_is_listed_unopened(broken):
    lines = broken["list"].out.splitlines()
    assert "Wants a file." in next(line for line in lines if "wanting" in line)


def test_of_two_packages_with_one_name_the_first_has_it(faults):
    assert "its name is taken" in faults["unbraid-later 0.1.0", "mcc"]
    assert ("unbraid-example 0.1.0", "mcc") not in faults


def test_built_in_names_load_no_package_and_say_nothing(broken):
    assert broken["built in"] == (0, "", "")
