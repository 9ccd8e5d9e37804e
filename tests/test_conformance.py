"""The shipped conformance suites, over everything that is exported."""

import numpy as np
import pytest

from unbraid.data import (
    RENDERED,
    AbstractDataset,
    XYSquares,
    add_label_noise,
    correlate,
    hold_out,
    keep_labels,
)
from unbraid.testing import check_dataset

SQUARES = XYSquares(image_size=8, square_size=1)


@pytest.mark.parametrize("name", RENDERED)
def test_every_rendered_dataset_conforms(name):
    check_dataset(RENDERED[name]())


@pytest.mark.parametrize(
    "view",
    [
        correlate(SQUARES, "x_R", "y_R"),
        hold_out(SQUARES, {"x_R": [0, 1]})[0],
        hold_out(SQUARES, {"x_R": [0, 1]})[1],
        add_label_noise(SQUARES, 2),
        keep_labels(SQUARES, n=100),
    ],
    ids=["correlated", "train", "test", "noisy", "partial"],
)
def test_every_view_conforms(view):
    check_dataset(view)


class Broken(AbstractDataset):
    """Keeps every promise but the one that a test breaks."""

    name = "broken"
    image_shape = (1, 4, 4)
    factor_names = ()

    def __len__(self):
        return 5

    def _gather(self, indices):
        return np.zeros((len(indices), 1, 4, 4), dtype=np.uint8)


def float_images(self, indices):
    return np.zeros((len(indices), 1, 4, 4))


SHARED = np.zeros((64, 1, 4, 4), dtype=np.uint8)


def shared_images(self, indices):
    return SHARED[: len(indices)]


def images_by_position(self, indices):
    images = np.zeros((len(indices), 1, 4, 4), dtype=np.uint8)
    images[:] = np.arange(len(indices))[:, None, None, None]
    return images


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        ({"_gather": float_images}, "images must be uint8"),
        ({"_gather": shared_images}, "must not change the dataset"),
        ({"_gather": images_by_position}, "at any time and in any order"),
        ({"image_shape": (1, 4, 5)}, r"must have shape \(n, \*image_shape\)"),
        ({"__len__": lambda self: 0}, "must have at least one image"),
        ({"factor_names": ("x",)}, "must be as many factor kinds"),
        ({"weights": np.zeros(5)}, "at least one weight must be positive"),
        ({"weights": np.ones(4)}, "must be one weight per image"),
    ],
)
def test_the_suite_names_the_broken_promise(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_dataset(type("Wrong", (Broken,), broken)())


def test_the_suite_passes_what_keeps_every_promise():
    check_dataset(Broken())
