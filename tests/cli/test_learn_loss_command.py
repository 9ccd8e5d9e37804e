import json

import numpy as np
import pytest
from whole_command import run_whole

import unbraid
from unbraid.data import XYSquares
from unbraid.models import FeatureAugmented, KernelAugmented, load_likelihood
from unbraid.perception import learn_features, learn_loss

DATA = "xy_squares:image_size=8,square_size=2,n_squares=1,rgb=false"
SQUARES = XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)
SHORT = ("--steps", 5, "--batch-size", 8)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learn(*arguments, data=DATA):
    return run_whole("data", "learn-loss", data, *SHORT, *arguments)


def test_a_kernel_is_written_drawn_and_measured(here):
    done = learn("-o", "loss.json", "--radius", 2, "--figures", "figures")
    assert done.returncode == 0, done.stderr
    expected = learn_loss(SQUARES, radius=2, steps=5, batch_size=8).likelihood
    assert load_likelihood(here / "loss.json") == expected
    assert "squared error" in done.stdout
    assert "loss.json: written" in done.stdout
    drawn = {path.name for path in (here / "figures").iterdir()}
    assert drawn == {"learning.png", "kernel.png", "traversals.png"}


def test_features_and_json(here):
    options = ("--features", "--filters", 3, "--direction", "hinder", "--seed", 4)
    done = learn(*options, "--weight", 2, "-o", "loss.json", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["kind"], facts["direction"], facts["steps"]) == (
        "features",
        "hinder",
        5,
    )
    assert [row["factor"] for row in facts["rank_correlations"]] == [
        *SQUARES.factor_names,
        "random",
    ]
    assert facts["figures"] == []
    settings = {"n_filters": 3, "weight": 2.0, "direction": "hinder", "seed": 4}
    expected = learn_features(SQUARES, steps=5, batch_size=8, **settings)
    assert load_likelihood(here / "loss.json") == expected.likelihood
    assert facts["correlation_first"] == expected.correlations[0]


def test_a_model_is_trained_with_the_written_loss():
    learn("-o", "loss.json", "--per-channel")
    done = run_whole(
        *("train", DATA, "--likelihood", "loss.json", "--steps", 3, "--latents", 2),
        *("--device", "cpu", "--out", "run"),
    )
    assert done.returncode == 0, done.stderr
    model = unbraid.load("run")
    assert isinstance(model.likelihood, KernelAugmented)
    assert model.likelihood == load_likelihood("loss.json")


def test_labels_may_be_missing(here):
    rows = np.arange(len(SQUARES))
    factors = np.asarray(SQUARES.factors(rows), dtype=float)
    factors[::3, 0], factors[1::3, 1] = np.nan, np.nan
    images = SQUARES.images(rows)[:, 0]
    np.savez(here / "some.npz", images=images, factors=factors)
    options = ("--features", "--filters", 2, "--figures", "figures")
    done = learn(*options, "-o", "loss.json", data="some.npz")
    assert done.returncode == 0, done.stderr
    assert isinstance(load_likelihood("loss.json"), FeatureAugmented)
    # Traversals need every combination.
    assert [path.name for path in (here / "figures").iterdir()] == ["learning.png"]


def test_a_finished_loss_is_not_replaced(here):
    (here / "loss.json").write_text("mine")
    done = learn("-o", "loss.json")
    assert done.returncode == 1
    assert "loss.json exists already" in done.stderr
    assert (here / "loss.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "loss.pickle"), "must end in .json"),
        (("-o", "no/loss.json"), "there is no folder"),
        (("-o", "x.json", "--features", "--radius", 2), "options of a kernel"),
        (("-o", "x.json", "--features", "--per-channel"), "options of a kernel"),
        (("-o", "x.json", "--filters", 2), "Add --features"),
        (("-o", "x.json", "--weight", 2), "Add --features"),
        (("-o", "x.json", "--direction", "both"), "--direction"),
        (("-o", "x.json", "--along-factors", 2), "--along-factors"),
        ((), "--out"),
    ],
)
def test_wrong_usage_is_explained(arguments, message):
    done = learn(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_data_without_labels_are_refused(here):
    np.save(here / "plain.npy", np.zeros((4, 8, 8), np.uint8))
    done = learn("-o", "loss.json", data="plain.npy")
    assert done.returncode == 1
    assert "learn_loss needs labeled images" in done.stderr
    assert not (here / "loss.json").exists()


def test_a_figure_of_someone_else_is_kept(here):
    (here / "kernel.png").write_bytes(b"mine")
    done = learn("-o", "loss.json", "--figures", ".")
    assert done.returncode == 1
    assert (here / "kernel.png").read_bytes() == b"mine"
    assert not (here / "loss.json").exists()
