import numpy as np
import pytest

from unbraid.data import XYObject, XYSquares
from unbraid.reports import draw_factor_traversals, factor_traversals


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
