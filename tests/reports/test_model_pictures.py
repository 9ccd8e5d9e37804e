"""Claims about pictures of one model, and about how its training went."""

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import float_images
from unbraid.models import Autoencoder, Gaussian, Linear
from unbraid.models.objectives import AnnealedVAE
from unbraid.reports import (
    animate_latent_traversals,
    draw_latent_scatter,
    draw_prior_samples,
    draw_reconstructions,
    draw_training_curves,
    latent_scatter,
    latent_traversals,
    prior_samples,
    reconstructions,
    training_curves,
    worst_reconstructions,
)
from unbraid.representation import Representation, encode


def vector_model():
    return Autoencoder(
        torch.nn.Linear(5, 4),
        torch.nn.Linear(2, 5),
        likelihood=Gaussian(),
        image_shape=(5,),
        n_latents=2,
    )


def test_reconstructions_are_decoded_means_beside_their_images(trained, squares):
    found = reconstructions(trained.model, squares, n_images=10)
    images = float_images(squares, found.rows)
    with torch.no_grad():
        pictures = trained.model.decode(trained.model.encode(images).mean)
    expected = pictures.clamp(0, 1).numpy()
    assert np.abs(found.pictures / 255 - expected).max() <= 0.5 / 255 + 1e-6
    errors = ((expected - images.numpy()) ** 2).mean(axis=(1, 2, 3))
    np.testing.assert_allclose(found.errors, errors, atol=1e-6)
    np.testing.assert_array_equal(found.originals, squares.images(found.rows))


def test_a_picture_of_reconstructions_has_two_rows_for_every_eight_images(
    trained, squares
):
    figure = draw_reconstructions(reconstructions(trained.model, squares, n_images=10))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "original",
        "model",
    ] * 2


def test_there_are_no_more_reconstructions_than_images(trained, squares):
    assert len(reconstructions(trained.model, squares, n_images=999).rows) == 16


def test_the_worst_reconstructions_are_those_with_the_largest_errors(trained, squares):
    rows = range(len(squares))
    errors = {}
    for row in rows:  # one image at a time, as the definition says
        image = float_images(squares, np.array([row]))
        with torch.no_grad():
            decoded = trained.model.decode(trained.model.encode(image).mean)
        errors[row] = float((decoded.clamp(0, 1) - image).square().mean())
    expected = sorted(rows, key=lambda row: -errors[row])[:5]
    found = worst_reconstructions(trained.model, squares, n_images=5)
    assert found.rows.tolist() == expected
    np.testing.assert_allclose(found.errors, [errors[k] for k in expected], atol=1e-6)
    np.testing.assert_array_equal(found.originals, squares.images(expected))
    few = worst_reconstructions(trained.model, squares, n_images=5, n_examined=3)
    assert len(few.rows) == 3


def test_samples_depend_on_the_seed_alone(trained):
    first, again = (prior_samples(trained.model, n_images=9) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != prior_samples(trained.model, n_images=9, seed=1)).any()
    assert first.shape == (9, 1, 8, 8)
    assert len(draw_prior_samples(first).axes) == 1


@pytest.mark.parametrize(
    "call",
    [
        prior_samples,
        lambda model: reconstructions(model, None),
        lambda model: worst_reconstructions(model, None),
    ],
)
def test_models_of_vectors_have_no_pictures(call):
    with pytest.raises(ValueError, match="needs a model of images, but"):
        call(vector_model())


def test_the_scatter_shows_latents_that_vary_most(trained, squares):
    codes = encode(trained.model, squares, progress=False)
    found = latent_scatter(codes, n_latents=2)
    order = np.argsort(-codes.codes.var(axis=0))[:2]
    assert list(found.latents) == order.tolist()
    np.testing.assert_array_equal(found.codes, codes.codes[:, order])
    np.testing.assert_array_equal(found.values, codes.factors[:, 0])
    # Two on the diagonal, one pair, and the bar of colours.
    assert len(draw_latent_scatter(found).axes) == 4


def test_a_scatter_of_codes_without_factors_has_no_colours():
    found = latent_scatter(Representation(np.eye(4)))
    assert found.values is None
    assert len(draw_latent_scatter(found).axes) == 4 + 6
    with pytest.raises(ValueError, match="codes come without factors"):
        latent_scatter(Representation(np.eye(4)), factor="x")


def test_curves_have_what_the_history_says(trained):
    curves = training_curves(trained.history)
    last = trained.history[-1]
    assert curves.steps[-1] == 60
    assert curves.terms["total"][-1] == last["total"]
    np.testing.assert_array_equal(curves.kl[-1], last["kl_per_latent"])
    assert curves.active_latents[-1] == last["active_latents"]
    assert curves.capacity is None
    assert len(draw_training_curves(curves).axes) == 3


def test_capacity_is_that_of_the_schedule():
    objective = AnnealedVAE(capacity=Linear(start=0.0, end=10.0, steps=100))
    history = [
        {"step": step, "total": 1.0, "kl_per_latent": [1.0, 2.0]} for step in (50, 200)
    ]
    curves = training_curves(history, objective=objective)
    np.testing.assert_allclose(curves.capacity, [5.0, 10.0])
    labels = draw_training_curves(curves).axes[2].get_legend().get_texts()
    assert "target" in [label.get_text() for label in labels]


def test_a_history_without_divergences_is_drawn_without_them():
    curves = training_curves([{"step": 1, "total": -3.0}, {"step": 2, "total": -4.0}])
    assert curves.kl is None
    assert len(draw_training_curves(curves).axes) == 1
    with pytest.raises(ValueError, match="needs at least one record"):
        training_curves([])


def test_the_animation_goes_there_and_back(trained, squares, tmp_path):
    shown = latent_traversals(trained.model, squares, n_latents=2, n_values=5)
    path = animate_latent_traversals(shown, tmp_path / "t.gif")
    with Image.open(path) as picture:
        assert picture.n_frames == 8
        # Three bases and two latents, enlarged to 64 pixels, with gaps.
        assert picture.size == (2 * 64 + 2, 3 * 64 + 2 * 2)


def test_the_seed_decides_which_images_are_shown(trained, squares):
    codes = encode(trained.model, squares, progress=False)
    for rows in (
        lambda seed: (
            reconstructions(trained.model, squares, n_images=4, seed=seed).originals
        ),
        lambda seed: (
            latent_traversals(trained.model, squares, n_bases=2, seed=seed).originals
        ),
        lambda seed: latent_scatter(codes, n_rows=5, seed=seed).codes,
    ):
        assert np.array_equal(rows(1), rows(1))
        assert not np.array_equal(rows(1), rows(2))
    assert len(latent_scatter(codes, n_rows=5).codes) == 5


def test_a_traversal_goes_as_far_as_it_is_told(trained, squares):
    options = {"n_latents": 1, "n_values": 3, "n_bases": 1}
    near, far = (
        latent_traversals(trained.model, squares, reach=reach, **options).images[0, 0]
        for reach in (0.5, 4.0)
    )
    assert np.array_equal(near[1], far[1])
    assert (
        np.ptp(near.astype(int), axis=0).max() < np.ptp(far.astype(int), axis=0).max()
    )
