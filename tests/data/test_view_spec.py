"""Views of datasets by name: wrong, missing and correlated labels, unseen rows."""

import numpy as np
import pytest
from PIL import Image

from unbraid.data import (
    DataSpec,
    ViewSpec,
    XYSquares,
    add_label_noise,
    correlate,
    hold_out,
    keep_labels,
    open_dataset,
)

NAME = "xy_squares:n_squares=1,image_size=32,square_size=4,spacing=4"
SQUARES = XYSquares(n_squares=1, image_size=32, square_size=4, spacing=4)
FACTORS = {"x_R": 0.1, "y_R": 0.1}


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("noise:p=0.1", add_label_noise(SQUARES, FACTORS)),
        ("noise:p=0.3,factors=[y_R]", add_label_noise(SQUARES, {"y_R": 0.3})),
        ("noise:level=2,seed=5", add_label_noise(SQUARES, 2, seed=5)),
        ("labels:n=10", keep_labels(SQUARES, n=10)),
        ("labels:factors=[y_R]", keep_labels(SQUARES, factors=["y_R"])),
        (
            "correlate:first=x_R,second=y_R,width=0.4,inverse=true",
            correlate(SQUARES, "x_R", "y_R", width=0.4, inverse=True),
        ),
        ("without:x_R=[0,1],y_R=2", hold_out(SQUARES, {"x_R": [0, 1], "y_R": [2]})[0]),
        ("only:x_R=[0,1],y_R=2", hold_out(SQUARES, {"x_R": [0, 1], "y_R": [2]})[1]),
    ],
)
def test_a_view_by_name_is_that_of_the_function(view, expected):
    dataset = open_dataset(f"{NAME}+{view}")
    assert type(dataset) is type(expected)
    assert dataset.fingerprint() == expected.fingerprint()


def test_views_are_applied_in_turn():
    spec = DataSpec.parse(f"{NAME}+without:x_R=0+noise:p=1e-1+labels:n=20,seed=3")
    assert spec.name == "xy_squares"
    assert [view.name for view in spec.views] == ["without", "noise", "labels"]
    rest = hold_out(SQUARES, {"x_R": [0]})[0]
    expected = keep_labels(add_label_noise(rest, FACTORS), n=20, seed=3)
    assert spec.open().fingerprint() == expected.fingerprint()


def test_a_record_with_views_is_written_as_the_text_that_gives_it_again():
    spec = DataSpec.model_validate(
        {
            "name": "xy_squares",
            "options": {"n_squares": 1},
            "views": ["only:x_R=[0,1]", {"name": "noise", "options": {"p": 0.1}}],
        }
    )
    text = "xy_squares:n_squares=1+only:x_R=[0,1]+noise:p=0.1"
    assert str(spec) == spec.model_dump() == text
    assert DataSpec.parse(text) == spec
    assert DataSpec.parse(text).open().fingerprint() == spec.open().fingerprint()


def test_a_view_may_stand_inside_of_a_nested_dataset():
    nested = open_dataset("noisy_sprites:sprites='sprites2d+only:shape=1'")
    assert len(nested) == 737_280 // 3


@pytest.mark.parametrize("name", ["a+noise", "one+two"])
def test_a_path_may_contain_a_plus(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    for i in range(2):
        Image.new("L", (8, 8), 100 * i).save(tmp_path / name / f"{i}.png")
    assert open_dataset(name).image_shape == (3, 64, 64)
    spec = DataSpec.parse(f"{name}:image_size=16,channels=1")
    assert (spec.name, spec.views) == (name, ())
    assert spec.open().image_shape == (1, 16, 16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xy_squares+nois:p=0.1", "Did you mean 'noise'"),
        ("xy_squares+noise:q=0.1", "'q'"),
        ("xy_squares+noise:p=high", "p must be a number"),
        ("xy_squares+noise", "either level or p"),
        ("xy_squares+noise:level=1,p=0.1", "either level or p"),
        ("xy_squares+noise:level=1,factors=[x_R]", "with p only"),
        ("xy_squares+noise:level=4", "one of 1, 2, 3"),
        ("xy_squares+noise:p=0.1,p=0.2", "twice"),
        ("xy_squares+noise:0.1", "name=value"),
        ("xy_squares+labels:factors=x_R", "a list such as"),
        ("xy_squares+labels:n=0", "n must be between 1 and"),
        ("xy_squares+correlate:first=x_R", "needs the option second"),
        ("xy_squares+correlate:first=x_R,second=z", "no factor 'z'"),
        ("xy_squares+without:shape=1", "no factor 'shape'"),
        ("xy_squares+without:x_R=100", "between 0 and 7"),
        ("xy_squares+without", "conditions must not be empty"),
        ("photographs+only:photograph=two", "photograph must be"),
    ],
)
def test_a_wrong_view_is_refused_in_a_sentence(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        open_dataset(text)
    assert "\n" not in str(caught.value)


def test_a_view_needs_labels(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((4, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="Labels are required"):
        open_dataset(f"{tmp_path / 'images.npy'}+labels:n=1")


def test_names_of_views_are_checked_in_records_too():
    with pytest.raises(ValueError, match="no view 'shuffle'"):
        ViewSpec(name="shuffle")


def test_unknown_views_after_options_are_named():
    with pytest.raises(ValueError, match="no view 'hold_out'"):
        open_dataset("xy_squares:n_squares=1+hold_out:x_R=0")
    # A view of a dataset within a dataset is none of the outer one.
    inner = "sprites2d:image_size=16+without:shape=2"
    text = f"picture_sprites:sprites='{inner}'"
    assert DataSpec.parse(text).options["sprites"].strip("'") == inner
