"""Recipes: what they set, and what they leave to the user."""

import numpy as np
import pytest

import unbraid
from unbraid.models import Decay
from unbraid.models.networks import Convolutional, Dense, Separable
from unbraid.training import LEARNING_RATE, choose_recipe

NARROW = Separable(widths=(128, 128), n_units=32, rank=16)
WIDE = Separable(widths=(256, 256), n_units=32, rank=16)


@pytest.fixture
def fit_small(squares):
    def fit(**options):
        return unbraid.fit("vae", squares, steps=3, progress=False, **options).spec

    return fit


def test_a_recipe_sets_the_network_and_the_learning_rate(fit_small):
    spec = fit_small(recipe="small")
    assert spec.network == NARROW
    assert spec.learning_rate == Decay(value=1e-3, steps=3)


def test_what_is_given_goes_before_the_recipe(fit_small):
    spec = fit_small(recipe="small", network=Dense(widths=(7,)), learning_rate=0.5)
    assert spec.network == Dense(widths=(7,))
    assert spec.learning_rate == 0.5


def test_without_a_recipe_the_learning_rate_is_the_default(fit_small):
    assert fit_small().learning_rate == LEARNING_RATE == 1e-4


def test_larger_images_get_wider_and_then_convolutional_networks():
    assert choose_recipe("small", (3, 16, 16)).network == NARROW
    assert choose_recipe("small", (1, 28, 28)).network == WIDE
    assert choose_recipe("small", (3, 32, 32)).network == WIDE
    assert choose_recipe("small", (3, 48, 48)).network == Convolutional()


def test_vectors_get_dense_layers():
    assert choose_recipe("small", (20,)).network == Dense(widths=(128, 128))
    assert choose_recipe("small", (1_000,)).network == Dense(widths=(256, 256))
    vectors = np.random.default_rng(0).normal(size=(40, 5))
    run = unbraid.fit("vae", vectors, steps=2, recipe="small", progress=False)
    assert run.spec.network == Dense(widths=(128, 128))


def test_an_unknown_recipe_is_refused(fit_small):
    with pytest.raises(ValueError, match="recipe must be 'small', got 'large'"):
        fit_small(recipe="large")


def test_the_estimator_takes_a_recipe():
    images = np.random.default_rng(0).random((40, 1, 8, 8))
    estimator = unbraid.Disentangler("vae", steps=2, recipe="small").fit(images)
    assert estimator.run_.spec.network == NARROW


def test_the_command_line_takes_a_recipe(tmp_path):
    from typer.testing import CliRunner

    from unbraid.cli._app import app
    from unbraid.training import Run

    data = "xy_squares:image_size=8,square_size=1,n_squares=1"
    arguments = ["train", data, "--steps", "2", "--recipe", "small", "--objective"]
    arguments += ["vae", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert Run.load(tmp_path / "run").spec.network == NARROW
