"""Images that are made smaller because the time is short."""

import numpy as np
import pytest
from small_discovery import plan_race

from unbraid.data import LabeledImages, average_blocks
from unbraid.discovery import Limits, _image_size, discover, read_plan
from unbraid.discovery._data import downscale, read_source
from unbraid.discovery._image_size import choose_factor
from unbraid.execution import InlineExecutor
from unbraid.studies import Cost


@pytest.fixture
def _step_per_pixel(monkeypatch):
    """A step takes a microsecond per number in an image."""

    def measure(image_shape, device):
        return Cost(1e-6 * np.prod(image_shape), 0.0, 0)

    monkeypatch.setattr(_image_size, "_measure", measure)


@pytest.mark.usefixtures("_step_per_pixel")
def test_large_images_become_smaller_only_where_the_time_is_short():
    def choose(side, seconds):
        return choose_factor((3, side, side), Limits(seconds=seconds, n_workers=2))

    assert choose(32, 180.0) == (1, ())
    factor, (note,) = choose(128, 180.0)
    assert factor == 4
    assert note.startswith("The images were made smaller, from 128x128 to 32x32 pixels")
    assert choose(128, 1e6) == (1, ())
    needed = note.split("A budget of ")[1].split(" keeps")[0]
    assert needed.endswith((" min", " h"))
    assert choose(16, 1.0)[0] == 1  # not below 16 pixels; the plan says what is needed
    assert choose(64, 1.0)[0] == 4


def test_vectors_stay_as_they_are():
    assert choose_factor((10,), Limits(seconds=1.0, n_workers=1)) == (1, ())


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_a_pixel_is_the_mean_of_a_block(factor):
    images = np.random.default_rng(0).integers(0, 256, (5, 3, 12, 24), dtype=np.uint8)
    found = average_blocks(images, factor)
    assert found.shape == (5, 3, 12 // factor, 24 // factor)
    block = images[4, 1, factor : 2 * factor, :factor]
    assert found[4, 1, 1, 0] == np.round(block.mean())
    floats = average_blocks(images / 255, factor)
    np.testing.assert_allclose(floats, found / 255, atol=0.51 / 255)


def test_sides_that_are_no_multiples_repeat_their_last_pixels():
    images = np.arange(15, dtype=np.uint8).reshape(1, 1, 3, 5)
    # Halves are rounded to the even number.
    assert average_blocks(images, 2).tolist() == [[[[3, 5, 6], [10, 12, 14]]]]


def pictures():
    images = np.random.default_rng(0).integers(0, 256, (60, 1, 16, 16), dtype=np.uint8)
    return LabeledImages(images, np.arange(60)[:, None], factor_names=["number"])


def test_smaller_data_keep_their_labels_and_open_from_their_text(tmp_path):
    source = read_source(pictures(), tmp_path)
    small = downscale(source, 2, tmp_path)
    assert small.dataset.image_shape == (1, 8, 8)
    assert small.dataset.factor_names == ("number",)
    rows = np.array([3, 40])
    expected = average_blocks(source.dataset.images(rows), 2)
    assert np.array_equal(small.dataset.images(rows), expected)
    assert small.dataset.factors(rows).tolist() == [[3], [40]]


def test_a_discovery_on_smaller_images_says_so_and_can_be_resumed(
    tmp_path, monkeypatch, request
):
    def choose(image_shape, limits):
        return 2, ("The images were made smaller.",)

    def propose(text, dataset, limits):
        plan_race(tmp_path / "other", text)
        return read_plan(tmp_path / "other")

    monkeypatch.setattr("unbraid.discovery._make_plan.choose_factor", choose)
    monkeypatch.setattr("unbraid.discovery._make_plan.propose", propose)
    out = tmp_path / "out"
    first = discover(pictures(), out, executor=InlineExecutor())
    assert read_plan(out).factor == 2
    assert "The images were made smaller.\n" in first.summary.read_text()
    assert "The images were made smaller." in first.report.read_text()
    monkeypatch.undo()
    request.getfixturevalue("without_pages")
    again = discover(pictures(), out, executor=InlineExecutor())
    assert again.ranking == first.ranking
    assert len(first.ranking.models) == 3
