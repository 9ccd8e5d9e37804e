import numpy as np
import pytest
import torch

from unbraid.data import XYObject, XYSquares
from unbraid.reports import (
    draw_factor_traversals,
    draw_joint_embedding,
    draw_latent_traversals,
    draw_trace_embedding,
    factor_traversals,
    latent_traversals,
)
from unbraid.training import fit


def test_a_traversal_shows_the_first_and_last_value_and_holds_the_rest(tiny_grid):
    traversals = factor_traversals(tiny_grid)
    assert traversals.factors == ("x_R", "y_R")
    across = traversals.images[0][:, 0]
    assert across.shape == (4, 4, 4)
    rows, columns = np.nonzero(across.any(axis=0))[0], across.argmax(axis=2).max(axis=1)
    assert set(rows) == {2}
    assert columns.tolist() == [0, 1, 2, 3]


def test_datasets_that_are_no_grid_are_refused(plain_images):
    with pytest.raises(ValueError, match="every combination of its factors"):
        factor_traversals(plain_images)


def test_the_figure_names_every_dataset_and_factor():
    shown = [factor_traversals(XYObject()), factor_traversals(XYSquares())]
    figure = draw_factor_traversals(shown)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "xy_object",
        "xy_squares",
    ]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["x", "y", "scale", "color"]


@pytest.fixture(scope="module")
def trained():
    squares = XYSquares(n_squares=1, image_size=8, square_size=1)
    options = {"steps": 400, "n_latents": 4, "learning_rate": 1e-2}
    return squares, fit("vae", squares, **options).model


def test_latents_are_ordered_by_what_they_say(trained):
    data, model = trained
    shown = latent_traversals(model, data, n_latents=3, n_values=5, n_bases=2)
    assert shown.images.shape == (2, 3, 5, 3, 8, 8)
    assert shown.originals.shape == (2, 3, 8, 8)
    assert list(shown.kl) == sorted(shown.kl, reverse=True)
    changes = [np.ptp(shown.images[:, latent], axis=1).mean() for latent in range(3)]
    assert changes[0] > changes[-1]


def test_a_traversal_changes_one_latent_only(trained):
    data, model = trained
    shown = latent_traversals(model, data, n_latents=1, n_values=3, n_bases=1)
    (latent,) = shown.latents
    images = torch.from_numpy(shown.originals).float() / 255
    code = model.encode(images).mean.detach().repeat(3, 1)
    code[:, latent] = torch.tensor([-2.0, 0.0, 2.0])
    expected = model.decode(code).detach().numpy() * 255
    assert np.abs(shown.images[0, 0] - expected).max() < 0.6


def test_the_figure_of_latents_names_them_once(trained):
    data, model = trained
    figure = draw_latent_traversals(latent_traversals(model, data, n_latents=2))
    assert len(figure.axes) == 3
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 2
    assert all("nats" in label for label in labels)


def test_models_of_vectors_have_no_pictures():
    values = np.zeros((4, 3))
    model = fit("ae", values, steps=1).model
    with pytest.raises(ValueError, match="a model of images"):
        latent_traversals(model, values)


def test_every_point_of_a_joint_embedding_is_drawn_in_its_colour():
    embedding = np.random.default_rng(0).normal(size=(3, 4, 5, 2))
    axes = draw_joint_embedding(embedding, names=["a", "b", "c"]).axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["a", "b", "c"]
    (drawn,) = axes.collections
    colours = {}
    for point, colour in zip(
        np.asarray(drawn.get_offsets()), drawn.get_facecolors(), strict=True
    ):
        (which,) = np.unique(np.nonzero((embedding == point).all(axis=3))[0])
        colours.setdefault(int(which), set()).add(tuple(colour))
    assert [len(colours[which]) for which in range(3)] == [1, 1, 1]
    assert len(set.union(*colours.values())) == 3
    assert len(drawn.get_offsets()) == 60


def test_a_large_joint_embedding_is_drawn_in_part():
    axes = draw_joint_embedding(np.zeros((12, 4, 5, 2)), max_points=50).axes[0]
    assert len(axes.collections[0].get_offsets()) == 50
    assert len(axes.get_legend().get_texts()) == 12


def colors_of(axes):
    """The value by which each drawn point is colored, by its coordinates."""
    (drawn,) = axes.collections[:1]
    points = map(tuple, np.asarray(drawn.get_offsets()))
    return dict(zip(points, drawn.get_array(), strict=True))


def test_a_joint_embedding_may_be_colored_by_a_value_of_the_observations():
    embedding = np.random.default_rng(0).normal(size=(3, 4, 5, 2))
    values = [3.0, 1.0, 4.0, 1.5, 9.0]
    figure = draw_joint_embedding(embedding, values=values, label="x + 64 y")
    found = colors_of(figure.axes[0])
    for (*_, observation), point in zip(
        np.ndindex(3, 4, 5), embedding.reshape(-1, 2), strict=True
    ):
        assert found[tuple(point)] == values[observation]
    assert figure.axes[1].get_ylabel() == "x + 64 y"
    assert figure.axes[0].get_legend() is None
    with pytest.raises(ValueError, match=r"values must have shape \(5,\)"):
        draw_joint_embedding(embedding, values=[1.0])


def test_a_trace_is_colored_by_step_and_by_value():
    embedding = np.random.default_rng(0).normal(size=(3, 4, 2))
    steps, values = [0, 50, 100], [1.0, 2.0, 3.0, 5.0]
    figure = draw_trace_embedding(embedding, steps=steps, values=values, label="y")
    by_step, by_value = (colors_of(axes) for axes in figure.axes[:2])
    for (when, observation), point in zip(
        np.ndindex(3, 4), embedding.reshape(-1, 2), strict=True
    ):
        assert by_step[tuple(point)] == steps[when]
        assert by_value[tuple(point)] == values[observation]
    alone = draw_trace_embedding(embedding)
    assert sorted(set(colors_of(alone.axes[0]).values())) == [0, 1, 2]
    with pytest.raises(ValueError, match="embedding must have shape"):
        draw_trace_embedding(embedding[0])
    with pytest.raises(ValueError, match=r"steps must have shape \(3,\)"):
        draw_trace_embedding(embedding, steps=[0, 1])


def test_a_joint_embedding_has_two_coordinates_and_a_name_for_each_realisation():
    with pytest.raises(ValueError, match=r"n_observations, 2\)"):
        draw_joint_embedding(np.zeros((3, 4, 5)))
    with pytest.raises(ValueError, match="each of the 3 runs, got 1"):
        draw_joint_embedding(np.zeros((3, 4, 5, 2)), names=["a"])


def test_a_traversal_passes_through_a_row_and_shows_some_values(tiny_grid):
    traversals = factor_traversals(tiny_grid, n_values=2, base=0)
    assert [len(images) for images in traversals.images] == [2, 2]
    first = tiny_grid.images([0])[0]
    assert all(np.array_equal(images[0], first) for images in traversals.images)


def test_panels_stand_in_as_many_columns_as_are_asked_for():
    shown = [factor_traversals(XYSquares(image_size=8, square_size=2))] * 2
    for n_columns in (1, 2):
        figure = draw_factor_traversals(shown, n_columns=n_columns)
        lefts = {round(axes.get_position().x0, 3) for axes in figure.axes}
        assert len(lefts) == n_columns
