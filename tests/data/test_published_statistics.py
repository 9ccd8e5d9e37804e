"""Published normalization constants, and how files are compared with them."""

import io
import json
import tarfile

import numpy as np
import pytest
import scipy.io
from command_line import app
from typer.testing import CliRunner

from unbraid.data import (
    PUBLISHED_STATISTICS,
    Cars3D,
    DSprites,
    PublishedStatistics,
    Shapes3D,
    SmallNORB,
    XYObject,
    XYObjectShaded,
    XYSquares,
    channel_statistics,
    compare_statistics,
    published_statistics,
)
from unbraid.foundation import numpy_generator


@pytest.fixture
def cars(tmp_path, monkeypatch):
    """Root of a stand-in for the published file: one car of noise."""
    path = tmp_path / "cars3d" / "nips2015-analogy-data.tar.gz"
    path.parent.mkdir()
    views = numpy_generator(0).integers(0, 256, (64, 64, 3, 24, 4), dtype=np.uint8)
    car = io.BytesIO()
    scipy.io.savemat(car, {"im": views})
    members = {"data/cars/list.txt": b"car", "data/cars/car.mat": car.getvalue()}
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    monkeypatch.setattr(Cars3D, "verify_files", lambda self: ())
    return tmp_path


def check(root, *more):
    return CliRunner().invoke(app, ["data", "check", f"cars3d:root={root}", *more])


def test_every_dataset_of_table_a2_has_its_constants():
    channels = {
        Cars3D: 3,
        Shapes3D: 3,
        SmallNORB: 1,
        DSprites: 1,
        XYSquares: 3,
        XYObject: 3,
        XYObjectShaded: 3,
    }
    assert set(PUBLISHED_STATISTICS) == set(channels)
    for kind, published in PUBLISHED_STATISTICS.items():
        assert len(published.mean) == len(published.std) == channels[kind]
        assert all(0 < value < 1 for value in published.mean + published.std)


def test_constants_hold_for_the_published_options_only(cars):
    assert published_statistics(XYSquares()) is not None
    assert published_statistics(XYSquares(spacing=2)) is None
    assert compare_statistics(XYSquares(image_size=8, square_size=1)) is None
    # Where the files are makes no difference, their size does.
    assert published_statistics(Cars3D(root=cars)) is not None
    assert published_statistics(Cars3D(root=cars, image_size=32)) is None


def test_check_says_that_other_images_differ_from_the_constants(cars):
    result = check(cars)
    assert result.exit_code == 0
    assert "differs from Michlo (2022), Table A.2 by up to 0.4" in result.output
    assert "0.897668" in result.output
    statistics = json.loads(check(cars, "--json").output)["statistics"]
    assert statistics["agrees"] is False
    assert statistics["published_std"][0] == 0.225031955315030


def test_check_says_that_the_same_images_agree(cars, monkeypatch):
    computed = channel_statistics(Cars3D(root=cars))
    same = PublishedStatistics(mean=computed.mean, std=computed.std)
    monkeypatch.setitem(PUBLISHED_STATISTICS, Cars3D, same)
    assert "agrees with Michlo (2022), Table A.2" in check(cars).output
    assert json.loads(check(cars, "--json").output)["statistics"]["agrees"] is True


def test_constants_agree_within_a_thousandth(cars, monkeypatch):
    computed = channel_statistics(Cars3D(root=cars))
    near = tuple(value + 0.0009 for value in computed.std)
    far = tuple(value + 0.0011 for value in computed.std)
    for std, agrees in ((near, True), (far, False)):
        published = PublishedStatistics(mean=computed.mean, std=std)
        monkeypatch.setitem(PUBLISHED_STATISTICS, Cars3D, published)
        assert compare_statistics(Cars3D(root=cars)).agrees is agrees


def test_data_without_constants_have_nothing_to_compare():
    result = CliRunner().invoke(
        app, ["data", "check", "xy_squares:image_size=8,square_size=1", "--json"]
    )
    assert json.loads(result.output)["statistics"] is None
