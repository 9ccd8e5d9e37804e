"""One run with rising capacity: what is recorded on the way, and the claim on it."""

import numpy as np
import pytest

from unbraid.data import open_dataset
from unbraid.studies import preset, study_from_plain
from unbraid.training import train_run
from unbraid_claims import CLAIMS
from unbraid_claims.claims.burgess_figure_3 import (
    draw_capacity_course,
    follow_capacity,
)


@pytest.fixture(scope="module")
def run():
    plain = preset("burgess-2018")
    plain["training"]["steps"] = 30
    (only,) = study_from_plain(plain).runs()
    return only


@pytest.fixture(scope="module")
def course(run):
    return follow_capacity(run, n_snapshots=3, n_rows=200, n_images=2)


def test_the_capacity_rises_in_one_run(course):
    assert course.capacities == pytest.approx([10 / 3, 20 / 3, 10.0])
    assert np.shape(course.kl_per_latent) == (3, 10)
    assert np.shape(course.known) == (3, 5)
    assert np.shape(course.images) == (2, 1, 16, 16)
    assert np.shape(course.reconstructions) == (3, 2, 1, 16, 16)
    assert "position_x" in course.factor_names


def test_it_is_the_run_of_the_preset(run, course):
    dataset = open_dataset(run.data)
    trained = train_run(run.training_spec(dataset), dataset, progress=False)
    last = trained.history[-1]
    # The history averages all thirty steps, the course ten at a time.
    mean = np.mean(course.kl_per_latent, axis=0)
    np.testing.assert_allclose(mean, last["kl_per_latent"], rtol=1e-4, atol=1e-6)
    assert np.mean(course.reconstruction) == pytest.approx(last["reconstruction"])


def test_the_figure_shows_images_beside_reconstructions(course):
    figure = draw_capacity_course(course)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[2:] == ["images", "3.3 nats", "6.7 nats", "10.0 nats"]
    assert len(figure.axes[0].lines) == 10
    assert len(figure.axes[1].lines) == 5


class Hand:
    """Evidence made by hand."""

    preset = "smoke"

    def __init__(self, course):
        self._course = course

    def cached(self, name, compute):
        return self._course


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (("position_x", "position_y", "scale", "shape", "orientation"), "holds"),
        (
            ("scale", "shape", "orientation", "position_x", "position_y"),
            "does not hold",
        ),
    ],
)
def test_the_order_of_factors_decides(order, expected):
    names = ["shape", "scale", "orientation", "position_x", "position_y"]
    image = np.zeros((1, 1, 4, 4)).tolist()
    course = {
        "capacities": [1.0, 2.0],
        "kl_per_latent": [[0.5, 0.5], [1.0, 0.9]],
        "reconstruction": [2.0, 1.0],
        "factor_names": names,
        "known": [[2.0 - 0.3 * order.index(name) for name in names]] * 2,
        "images": image,
        "reconstructions": [image, image],
    }
    measured = CLAIMS["burgess-figure-3"].measure(Hand(course))
    assert measured.verdict == expected
    ratio = measured.checks[-1]
    assert ratio.value == pytest.approx(0.95)
