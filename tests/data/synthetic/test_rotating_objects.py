import math

import numpy as np
import pytest

from unbraid.data import RotatingObjects, open_dataset, render_rotating_object
from unbraid.foundation import numpy_generator


def spots_of(shape):
    """Forty spots on an irregular surface: position, and direction that it faces."""
    generator = numpy_generator(shape, "rotating object")
    normals = generator.normal(size=(40, 3))
    distances = generator.uniform(0.4, 0.9, size=(40, 1))
    for normal, distance in zip(normals, distances, strict=True):
        facing = normal / np.linalg.norm(normal)
        yield distance * facing, facing


def literal_image(shape, rotation, light, side):
    """One image spot by spot and pixel by pixel, in the words of the docstring."""
    image = np.zeros((side, side))
    for position, normal in spots_of(shape):
        x, y, _ = rotation @ position
        facing = rotation @ normal
        if facing[2] <= 0:
            continue
        lit = max(float(facing @ light), 0.0)
        bright = 160 * facing[2] * (0.2 + 0.8 * lit)
        for row in range(side):
            for column in range(side):
                across = -1 + 2 * column / (side - 1) - x
                down = -1 + 2 * row / (side - 1) - y
                squared = (across**2 + down**2) / 0.12**2
                image[row, column] += bright * math.exp(-squared / 2)
    return np.clip(image, 0, 255).astype(np.uint8)


def rotation_of(azimuth, elevation, roll):
    """Turn about the vertical axis, then tilt, then turn in the image."""
    cos, sin = math.cos, math.sin
    about_y = [
        [cos(azimuth), 0, sin(azimuth)],
        [0, 1, 0],
        [-sin(azimuth), 0, cos(azimuth)],
    ]
    about_x = [
        [1, 0, 0],
        [0, cos(elevation), -sin(elevation)],
        [0, sin(elevation), cos(elevation)],
    ]
    about_z = [[cos(roll), -sin(roll), 0], [sin(roll), cos(roll), 0], [0, 0, 1]]
    return np.array(about_z) @ np.array(about_x) @ np.array(about_y)


def test_images_equal_a_drawing_spot_by_spot():
    objects = RotatingObjects(image_size=9, n_azimuths=5, n_light_elevations=2)
    rows = numpy_generator(0).integers(0, len(objects), 4)
    for row, image in zip(rows, objects.images(rows), strict=True):
        shape, azimuth, elevation, roll, around, above = objects.factors([row])[0]
        rotation = rotation_of(
            2 * math.pi * azimuth / 5,
            math.radians(-60 + 120 * elevation / 6),
            2 * math.pi * roll / 24,
        )
        around, above = 2 * math.pi * around / 8, math.radians(60 * above)
        light = np.array(
            [
                math.cos(above) * math.cos(around),
                math.cos(above) * math.sin(around),
                math.sin(above),
            ]
        )
        expected = literal_image(shape, rotation, light, 9).astype(int)
        assert np.abs(image[0].astype(int) - expected).max() <= 1
        own = render_rotating_object(
            rotation[None], light[None], shape=int(shape), image_size=9
        )
        assert np.abs(own[0].astype(int) - image.astype(int)).max() <= 1


def test_every_factor_changes_the_image():
    objects = RotatingObjects(image_size=16)
    rows = numpy_generator(1).integers(0, len(objects), 20)
    for name in objects.factor_names:
        images = objects.images(objects.factor_space.traversals(name, rows).ravel())
        images = images.reshape(20, -1, 256).astype(int)
        assert np.abs(np.diff(images, axis=1)).sum(axis=2).min() > 0, name


def test_angles_go_around_the_circle_once():
    # Half a turn in the image mirrors it through its center.
    objects = RotatingObjects(
        image_size=16, n_rolls=2, n_light_azimuths=2, n_elevations=1
    )
    space = objects.factor_space
    upright, turned = objects.images(
        space.indices(np.array([[0, 3, 0, 0, 0, 1], [0, 3, 0, 1, 1, 1]]))
    )
    difference = upright.astype(int) - turned[:, ::-1, ::-1].astype(int)
    assert np.abs(difference).max() <= 1


def test_it_is_opened_by_name_with_options():
    found = open_dataset("rotating_objects:image_size=16,n_shapes=1")
    assert found == RotatingObjects(image_size=16, n_shapes=1)
    assert found.factor_kinds[1:4] == ("cyclic", "ordinal", "cyclic")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 7}, "image_size must be between 8 and"),
        ({"n_shapes": 0}, "n_shapes must be at least 1, got 0"),
        ({"n_rolls": 2.5}, "n_rolls must be an integer, got 2.5"),
    ],
)
def test_wrong_options_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        RotatingObjects(**options)


def test_wrong_poses_are_rejected():
    rotations, lights = np.eye(3)[None], np.array([[0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="rotations must have shape"):
        render_rotating_object(rotations[0], lights)
    with pytest.raises(ValueError, match="lights must have shape"):
        render_rotating_object(rotations, lights[0])
    with pytest.raises(ValueError, match="shape must be at least 0, got -1"):
        render_rotating_object(rotations, lights, shape=-1)
