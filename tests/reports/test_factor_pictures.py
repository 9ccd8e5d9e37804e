"""Claims about pictures of factors: what latents know of them, and distances."""

import copy
import io

import numpy as np
import pandas as pd
import pytest
import torch

from unbraid.data import LabeledImages, XYSquares
from unbraid.metrics import kl_per_latent, mutual_information_gap
from unbraid.models import KernelAugmented
from unbraid.reports import (
    cumulative_distances,
    distance_matrices,
    draw_cumulative_distances,
    draw_distance_matrices,
    draw_factor_latent_matrices,
    factor_latent_matrices,
)
from unbraid.reports.pages._model_section import model_section
from unbraid.representation import Representation, encode
from unbraid.training import fit, save_model


def grid_codes():
    factors = np.array([[x, y] for x in range(6) for y in range(6)] * 4)
    noise = np.random.default_rng(0).normal(size=(len(factors), 1))
    codes = np.concatenate([noise, 1.0 * factors[:, ::-1]], axis=1)
    return Representation(
        codes,
        factors=factors,
        factor_names=("x", "y"),
        factor_kinds=("ordinal", "ordinal"),
    )


def test_matrices_put_the_latent_of_each_factor_first():
    codes = grid_codes()
    found = factor_latent_matrices(codes)
    assert found.factors == ("x", "y")
    assert found.information.shape == (3, 2)
    matrix = mutual_information_gap(codes.codes, codes.factors).matrix
    np.testing.assert_array_equal(found.information, matrix[list(found.latents)])
    x, y = found.latents.index(2), found.latents.index(1)
    assert found.importance[x, 0] > 0.9
    assert found.importance[y, 1] > 0.9


def test_matrices_of_plain_arrays_and_frames():
    codes = grid_codes()
    found = factor_latent_matrices(codes.codes, codes.factors)
    np.testing.assert_array_equal(
        found.information, factor_latent_matrices(codes).information
    )
    assert found.factors == ("factor_0", "factor_1")
    frame = pd.DataFrame({"x": np.array(list("abcdef"))[codes.factors[:, 0]]})
    assert factor_latent_matrices(codes.codes, frame).factors == ("x",)
    with pytest.raises(ValueError, match="needs the factors of the images"):
        factor_latent_matrices(codes.codes)


def test_some_latents_of_the_matrices_can_be_shown_alone():
    whole = factor_latent_matrices(grid_codes())
    some = whole.only([0, 2])
    assert set(some.latents) == {0, 2}
    for row, latent in enumerate(some.latents):
        place = whole.latents.index(latent)
        np.testing.assert_array_equal(some.information[row], whole.information[place])
        np.testing.assert_array_equal(some.importance[row], whole.importance[place])


def test_dead_latents_are_no_rows_of_the_matrices_of_a_page(trained, squares, tmp_path):
    model = copy.deepcopy(trained.model)
    *_, last = (m for m in model.encoder.modules() if isinstance(m, torch.nn.Linear))
    with torch.no_grad():  # mean 0 and variance 1 for every image, as in the prior
        for row in (1, 1 + model.n_latents):
            last.weight[row], last.bias[row] = 0.0, 0.0
    codes = encode(model, squares, progress=False)
    nats = kl_per_latent(codes.codes, codes.log_variances).details
    assert (nats["latent_1"], nats["n_active"]) == (0.0, 2.0)
    section = model_section("A model", tmp_path, squares, model=model)
    blocks = {block.title: block for block in section.blocks}
    table = blocks["Which latent encodes which factor"].data
    assert set(table["latent"]) == {0, 2}


def test_every_cell_of_a_matrix_has_its_number():
    figure = draw_factor_latent_matrices(factor_latent_matrices(grid_codes()))
    assert [len(axes.texts) for axes in figure.axes] == [6, 6]
    assert "1.79" in [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("name", ["long" * 500, "$x_{", "\u202e\U0001f600", "a\nb"])
def test_any_name_of_a_factor_can_be_drawn(name):
    codes = grid_codes()
    named = Representation(
        codes.codes,
        factors=codes.factors,
        factor_names=(name, "y"),
        factor_kinds=codes.factor_kinds,
    )
    # Warnings, as of missing glyphs or of too little room, are errors in tests.
    draw_factor_latent_matrices(factor_latent_matrices(named)).savefig(io.BytesIO())


def test_codes_without_factors_have_no_matrices():
    with pytest.raises(ValueError, match="needs the factors of the images"):
        factor_latent_matrices(Representation(np.eye(3)))


def test_distances_of_data_are_mean_squared_differences(squares):
    found = distance_matrices(squares, n_traversals=4)
    assert found.levels == ("factor", "data")
    for steps, table in zip(*found.matrices.values(), strict=True):
        np.testing.assert_array_equal(steps[0], [0, 1, 2, 3])
        np.testing.assert_allclose(np.diag(table), 0)
        # Squares that never overlap: 4 of 64 pixels go out and 4 others go on.
        np.testing.assert_allclose(table[~np.eye(4, dtype=bool)], 8 / 64)


def test_a_model_adds_three_levels_of_symmetric_distances(trained, squares):
    found = distance_matrices(squares, trained.model, n_traversals=3)
    assert found.levels[2:] == ("latent", "divergence", "reconstruction")
    for level in found.levels:
        for table in found.matrices[level]:
            np.testing.assert_allclose(table, table.T, atol=1e-12)
            np.testing.assert_allclose(np.diag(table), 0, atol=1e-12)
            assert table.max() > 0
    assert len(draw_distance_matrices(found).axes) == 10


@pytest.fixture(scope="module")
def trained_through_a_box(squares):
    return fit(
        "vae",
        squares,
        likelihood=KernelAugmented(),
        network="dense",
        steps=2,
        n_latents=2,
        progress=False,
    )


def test_distances_of_a_model_are_those_of_its_own_loss(trained_through_a_box, squares):
    model = trained_through_a_box.model
    found = distance_matrices(squares, model)
    same = distance_matrices(squares, model, loss=KernelAugmented())
    squared = distance_matrices(squares, model, loss="mse")
    for level in ("data", "reconstruction"):
        for table, equal in zip(
            found.matrices[level], same.matrices[level], strict=True
        ):
            np.testing.assert_array_equal(table, equal)
    assert np.ptp(squared.matrices["data"][0][0, 1:]) == pytest.approx(0, abs=1e-12)
    assert (np.diff(found.matrices["data"][0][0]) > 0).all()
    lines = [
        cumulative_distances(squares, loss=loss, n_pairs=50).distances
        for loss in (model, KernelAugmented(), "mse")
    ]
    np.testing.assert_array_equal(lines[0], lines[1])
    assert not np.allclose(lines[0], lines[2])


def test_a_page_shows_verdicts_under_the_loss_of_the_model(
    trained_through_a_box, trained, squares, tmp_path
):
    # Squares that never overlap look equally far apart without a kernel.
    expected = {
        "augmented": (trained_through_a_box, "likely", "through a box kernel"),
        "plain": (trained, "no", "cross-entropy"),
    }
    for name, (run, expectation, loss) in expected.items():
        save_model(run.model, tmp_path / name, run.spec)
        section = model_section("The model", tmp_path / name, squares)
        blocks = {block.title: block for block in section.blocks}
        verdicts = blocks["Will a VAE disentangle this?"]
        assert [row[1] for row in verdicts.rows] == [expectation] * 2
        assert loss in verdicts.caption
        assert loss in blocks["Distances along factors"].caption
        curves = blocks["Perceived distances of images that differ in one factor"]
        assert loss in curves.caption


def test_factors_that_change_more_pixels_lie_further_right():
    small = XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)
    found = cumulative_distances(small, n_pairs=50)
    assert found.names == ("x_R", "y_R", "any two images")
    np.testing.assert_allclose(found.distances[:2], 2 / 64)
    assert (np.diff(found.distances, axis=1) >= 0).all()
    large = XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)
    np.testing.assert_allclose(cumulative_distances(large).distances[:2], 8 / 64)
    assert len(draw_cumulative_distances(found).axes[0].lines) == 3


@pytest.mark.parametrize("call", [distance_matrices, cumulative_distances])
def test_distances_need_a_complete_grid(call):
    data = LabeledImages(np.zeros((5, 1, 8, 8), np.uint8), channels_first=True)
    with pytest.raises(
        ValueError, match="needs a dataset with every combination of its factors"
    ):
        call(data)


def test_importance_is_learned_from_some_rows_drawn_by_the_seed():
    codes = grid_codes()
    noisy = codes.codes + np.random.default_rng(1).normal(size=codes.codes.shape)
    few = factor_latent_matrices(noisy, codes.factors, n_train=90)
    other = factor_latent_matrices(noisy, codes.factors, n_train=90, seed=1)
    usual = factor_latent_matrices(noisy, codes.factors)
    assert not np.array_equal(few.importance, other.importance)
    assert not np.array_equal(few.importance, usual.importance)


def test_pairs_of_images_are_drawn_by_the_seed():
    squares = XYSquares(image_size=8, square_size=2)
    lines = [
        cumulative_distances(squares, n_pairs=20, seed=seed).distances
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(lines[0], lines[1])
    assert not np.array_equal(lines[0], lines[2])
