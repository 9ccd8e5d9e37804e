import dataclasses
import inspect

import numpy as np
import pytest
from PIL import Image

import unbraid.data
from unbraid.data import (
    PUBLISHED,
    RENDERED,
    AbstractDataset,
    ImageFolder,
    LabeledImages,
    PictureSprites,
    Sprites2D,
    XYObject,
    XYSquares,
    _catalog,
    open_dataset,
)


def test_every_exported_dataset_is_in_the_catalog_or_is_made_of_the_users_data():
    exported = {
        thing
        for name in unbraid.data.__all__
        if inspect.isclass(thing := getattr(unbraid.data, name))
        and issubclass(thing, AbstractDataset)
        and not inspect.isabstract(thing)
    }
    named = set(RENDERED.values()) | set(PUBLISHED.values())
    assert {thing.__name__ for thing in exported - named} == {
        "ImageFolder",
        "LabeledImages",
        "Relabeled",
        "Resized",
        "Reweighted",
        "Subset",
        "Vectors",
    }
    assert named <= exported


@pytest.mark.parametrize("name", RENDERED)
def test_a_rendered_dataset_bears_the_name_it_is_listed_under(name):
    assert open_dataset(name).name == name


def test_options_are_read_with_their_types():
    assert open_dataset("xy_squares:spacing=4, rgb=false") == XYSquares(
        spacing=4, rgb=False
    )
    assert open_dataset("xy_object:square_sizes=[3,5],palette=greys_2") == XYObject(
        square_sizes=(3, 5), palette="greys_2"
    )
    nested = open_dataset('picture_sprites:sprites="sprites2d:image_size=32",seed=3')
    assert nested == PictureSprites(sprites=Sprites2D(image_size=32), seed=3)


@dataclasses.dataclass(frozen=True)
class _Blurred(XYSquares):
    """A dataset with a real-valued option, as another package might offer."""

    blur: float = 0.0
    shades: tuple[float, ...] = ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("blur=1e-3", {"blur": 0.001}),
        ("blur=-2.5E+1", {"blur": -25.0}),
        ("blur=.5e1", {"blur": 5.0}),
        ("blur=1.0e-3", {"blur": 0.001}),
        ("shades=[1e-3, 0.5, 2e2]", {"shades": (0.001, 0.5, 200.0)}),
        ("spacing=1e1", {"spacing": 10}),
        ("spacing=010", {"spacing": 10}),
    ],
)
def test_options_take_numbers_in_scientific_notation(monkeypatch, options, expected):
    monkeypatch.setattr(_catalog, "DATASETS", {"blurred": _Blurred})
    dataset = open_dataset(f"blurred:{options}")
    found = {name: getattr(dataset, name) for name in expected}
    assert found == expected
    assert list(map(type, found.values())) == list(map(type, expected.values()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xy_square", "Did you mean 'xy_squares'"),
        ("nothing/here", "There is no dataset, folder or file"),
        ("", "There is no dataset, folder or file"),
        ("xy_squares:spacin=4", "Did you mean 'spacing'"),
        ("xy_squares:spacing", "options must be written as name=value"),
        (
            "xy_squares:spacing=wide",
            "spacing must be an integer, got 'wide'",
        ),
        ("xy_squares:spacing=1e-3", "spacing must be an integer, got '1e-3'"),
        ("xy_squares:spacing=1:30", "spacing must be an integer, got '1:30'"),
        ("xy_squares:spacing=true", "spacing must be an integer"),
        ("xy_squares:spacing=2.5", "spacing must be an integer"),
        ("xy_squares:spacing=!!int ''", "spacing must be an integer"),
        ("xy_squares:spacing=2024-13-45", "spacing must be an integer"),
        ("xy_squares:spacing=1,spacing=2", "option spacing is given twice"),
        ("xy_squares:rgb=1", "rgb must be true or false"),
        ("sprites2d:shapes=heart", "shapes must be a list"),
        ("picture_sprites:sprites=", "sprites must be a dataset"),
        ("coloured_sprites:seed=-1", "seed must be a non-negative integer"),
        ("xy_squares:image_size=100000", "image_size must be between 1 and 1024"),
        ("nowhere.npy:factors=x.csv", "There is no dataset, folder or file"),
        ("xy_squares:spacing=[1", "spacing must be"),
        ("xy_squares:spacing=0", "spacing must be at least 1"),
        ("xy_object:palette=pink", "palette must be one of greys_1"),
        ("picture_sprites:sprites=nonsense", "There is no dataset, folder or file"),
    ],
)
def test_wrong_text_is_refused_with_the_nearest_right_one(text, message):
    with pytest.raises(ValueError, match=message):
        open_dataset(text)


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "odd: name"
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (20, 30), (number, 0, 0)).save(folder / f"{number}.png")
    return folder


def test_a_folder_is_opened_as_pictures(pictures):
    dataset = open_dataset(str(pictures))
    assert isinstance(dataset, ImageFolder)
    assert len(dataset) == 3


def test_a_folder_takes_options(pictures):
    plain = pictures.rename(pictures.with_name("plain"))
    dataset = open_dataset(f"{plain}:image_size=16,channels=1")
    assert dataset.image_shape == (1, 16, 16)


def test_files_of_arrays_are_opened_with_their_labels(tmp_path):
    images = np.full((4, 8, 8), 9, dtype=np.uint8)
    factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    np.save(tmp_path / "plain.npy", images)
    np.savez(tmp_path / "labeled.npz", images=images, factors=factors)
    assert open_dataset(str(tmp_path / "plain.npy")).factor_names == ()
    labeled = open_dataset(str(tmp_path / "labeled.npz"))
    assert isinstance(labeled, LabeledImages)
    assert labeled.is_grid
    np.testing.assert_array_equal(labeled.factors(range(4)), factors)


def test_files_of_arrays_take_a_table_of_labels_as_an_option(tmp_path):
    np.save(tmp_path / "My Data.npy", np.full((2, 8, 8), 9, dtype=np.uint8))
    (tmp_path / "labels.csv").write_text("size\n3\n5\n")
    dataset = open_dataset(f"{tmp_path / 'My Data.npy'}:factors={tmp_path}/labels.csv")
    assert dataset.factor_names == ("size",)
    assert dataset.name == "my_data"


def test_other_files_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"file of arrays \(.npy"):
        open_dataset(str(tmp_path / "notes.txt"))
