import json
import pickle

import numpy as np
import pydantic
import pytest

from unbraid.data import DataSpec, XYSquares, as_dataset, open_cached, open_dataset


@pytest.mark.parametrize(
    "options",
    [
        {"spacing": 4, "rgb": False},
        {"spacing": 4.0, "rgb": False},
        {"spacing": "4", "rgb": "false"},
        {"spacing": "4e0", "rgb": "False"},
    ],
)
def test_options_have_their_types_in_every_way_of_writing_them(options):
    spec = DataSpec(name="xy_squares", options=options)
    assert spec.open() == XYSquares(spacing=4, rgb=False)
    kind, checked = spec.resolve()
    assert kind is XYSquares
    assert checked == {"spacing": 4, "rgb": False}
    assert list(map(type, checked.values())) == [int, bool]


@pytest.mark.parametrize(
    "text",
    [
        "xy_squares",
        "xy_squares:spacing=4, rgb=false",
        "xy_object:square_sizes=[3,5],palette=greys_2",
        'picture_sprites:sprites="sprites2d:image_size=32",seed=3',
        "/a/folder/that/is:gone, since",
    ],
)
def test_text_stays_as_it_was_written(text):
    spec = DataSpec.parse(text)
    assert str(spec) == text
    assert json.loads(spec.model_dump_json()) == text
    assert DataSpec.model_validate(text) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert len({spec, DataSpec.parse(text)}) == 1


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("xy_squares", {}, "xy_squares"),
        ("xy_squares", {"spacing": 4, "rgb": True}, "xy_squares:spacing=4,rgb=true"),
        ("xy_object", {"square_sizes": [3, 5]}, "xy_object:square_sizes=[3, 5]"),
        (
            "picture_sprites",
            {"sprites": DataSpec(name="sprites2d", options={"image_size": 32})},
            'picture_sprites:sprites="sprites2d:image_size=32"',
        ),
    ],
)
def test_what_is_written_is_read_again(name, options, text):
    spec = DataSpec(name=name, options=options)
    assert str(spec) == text
    assert DataSpec.parse(text).open() == spec.open()


def test_a_value_with_a_comma_is_quoted(tmp_path):
    np.save(tmp_path / "images.npy", np.full((2, 8, 8), 9, dtype=np.uint8))
    (tmp_path / "a, b.csv").write_text("size\n3\n5\n")
    options = {"factors": str(tmp_path / "a, b.csv")}
    spec = DataSpec(name=str(tmp_path / "images.npy"), options=options)
    assert spec.open().factor_names == ("size",)
    assert open_dataset(str(spec)).factor_names == ("size",)


def test_a_mapping_is_read_and_unknown_keys_are_refused():
    plain = {"name": "xy_squares", "options": {"spacing": 4}}
    assert DataSpec.model_validate(plain).open() == XYSquares(spacing=4)
    with pytest.raises(pydantic.ValidationError, match="optoins"):
        DataSpec.model_validate({"name": "xy_squares", "optoins": {}})


def test_whether_there_is_such_a_dataset_is_found_out_by_opening_it():
    spec = DataSpec.parse("xy_square:spacing=4")
    assert (spec.name, spec.options) == ("xy_square", {"spacing": "4"})
    with pytest.raises(ValueError, match="Did you mean 'xy_squares'"):
        spec.open()
    with pytest.raises(ValueError, match="Did you mean 'spacing'"):
        DataSpec(name="xy_squares", options={"spacin": 4}).open()
    with pytest.raises(ValueError, match="spacing must be an integer, got True"):
        DataSpec(name="xy_squares", options={"spacing": True}).open()


def test_it_is_data_wherever_a_name_is():
    spec = DataSpec(name="xy_squares", options={"spacing": 4})
    assert open_dataset(spec) == as_dataset(spec) == XYSquares(spacing=4)
    assert open_cached(spec) is open_cached(DataSpec.parse("xy_squares:spacing=4"))
