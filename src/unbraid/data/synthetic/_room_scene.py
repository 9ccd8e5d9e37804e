"""The room of Room3D: its geometry, its lights, and the camera.

The floor is the plane of the first two coordinates, the object is at the origin, and
the camera moves around it, facing the corner between two walls. Lengths are in units of
about half the object's height.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._ray_casting import (
    AbstractSolid,
    Box,
    Capsule,
    Cylinder,
    Floats,
    Ground,
    Sphere,
    dot,
)

Shape = Literal["cube", "cylinder", "sphere", "capsule"]

FLOOR, WALL, OBJECT, SKY = range(4)

_EYE_DISTANCE, _EYE_HEIGHT, _LOOK_HEIGHT = 5.0, 2.9, 1.62
_FIELD_OF_VIEW = np.radians(53.0)
_GROUND = Ground()
# A shaft around camera and object; above the height of the walls, rays hit the sky.
_WALL_HEIGHT = 4.5
_WALLS = Box(low=(-6.5, -6.5, -1e3), high=(6.5, 6.5, 1e3))
_LAMP, _LAMP_RADIUS = np.array([-4.2, 0.0, 5.5]), 0.9
# Contains the largest object of any shape.
_REACH = Cylinder(radius=1.6, low=0.0, high=3.8)

# Light from above and light of the lamp, for floor, wall and object. The object gets
# more light from above, so that its dark side differs from its shadow. Room3D relies on
# a surface being no brighter than 0.98.
_FROM_ABOVE = np.array([0.42, 0.46, 0.66])
_FROM_LAMP = np.array([0.56, 0.58, 0.32])
_GLOSS, _SHININESS = 0.25, 30.0


def build_object(shape: Shape, scale: float) -> AbstractSolid:
    """Return the object on the floor, scaled by ``scale``."""
    if shape == "cube":
        half = 0.86 * scale
        return Box(low=(-half, -half, 0.0), high=(half, half, 2 * half))
    if shape == "cylinder":
        return Cylinder(radius=scale, low=0.0, high=1.7 * scale)
    if shape == "sphere":
        radius = 1.27 * scale
        return Sphere(center=(0.0, 0.0, radius), radius=radius)
    radius = 0.67 * scale
    return Capsule(radius=radius, low=radius, high=3.0 * scale - radius)


@dataclass(frozen=True, kw_only=True)
class View:
    """View of the empty room, ray by ray.

    A pixel is the mean of several rays. Rays are sorted in layers of one ray per pixel.
    Everything that does not depend on the object is computed once.

    Args:
        image_size: Side of the image in pixels.
        eye: Position of the camera, ``(3,)``.
        surfaces: Surface that each ray hits, ``(n_rays,)``.
        light: Brightness of the surface there, ``(n_rays,)``.
        ahead: Indices of rays that an object could block, ``(n_ahead,)``.
        directions: Directions of these rays, ``(n_ahead, 3)``.
        shaded: Indices of rays whose end an object could shade, ``(n_shaded,)``.
        ends: Ends of these rays, ``(n_shaded, 3)``.
        to_lamp: Vectors from these ends to a point of the lamp, ``(n_shaded, 3)``.
        dimmed: Brightness of these ends if the lamp is hidden, ``(n_shaded,)``.
    """

    image_size: int
    eye: Floats
    surfaces: NDArray[np.int64]
    light: Floats
    ahead: NDArray[np.int64]
    directions: Floats
    shaded: NDArray[np.int64]
    ends: Floats
    to_lamp: Floats
    dimmed: Floats


def build_view(degrees: float, image_size: int) -> View:
    """Return the view of the empty room from a camera at an angle.

    Args:
        degrees: Angle from the direction with the corner in the middle of the image.
        image_size: Side of the image in pixels.
    """
    n_across = max(3, round(192 / image_size))
    eye, directions = _rays(degrees, image_size, n_across)
    to_floor = _GROUND.distances(eye, directions)
    to_wall = _WALLS.distances(eye, directions)
    ends = eye + np.minimum(to_floor, to_wall)[:, None] * directions
    is_floor = to_floor < to_wall
    is_sky = ~is_floor & (ends[:, 2] > _WALL_HEIGHT)
    normals = np.where(is_floor[:, None], _GROUND.normals(ends), -_WALLS.normals(ends))
    matter = np.where(is_floor, FLOOR, WALL)
    dimmed = _from_above(matter, normals)
    light = dimmed + _from_lamp(matter, normals, _unit(_LAMP - ends))
    # Each layer uses another point of the lamp: the mean over layers is a soft shadow.
    to_lamp = np.repeat(_lamp_points(n_across**2), image_size**2, axis=0) - ends
    shaded = np.flatnonzero(~is_sky & (_REACH.distances(ends, to_lamp) < 1))
    ahead = np.flatnonzero(np.isfinite(_REACH.distances(eye, directions)))
    return View(
        image_size=image_size,
        eye=eye,
        surfaces=np.where(is_sky, SKY, matter),
        light=np.where(is_sky, 1.0, light),
        ahead=ahead,
        directions=directions[ahead],
        shaded=shaded,
        ends=ends[shaded],
        to_lamp=to_lamp[shaded],
        dimmed=dimmed[shaded],
    )


def render(view: View, solid: AbstractSolid) -> Floats:
    """Return the share of each surface's color in each pixel.

    Args:
        view: View of the empty room.
        solid: The object in the room.

    Returns:
        Shares of floor, wall, object and sky, shape ``(4, image_size, image_size)``,
        not negative; those of a pixel sum to at most 1. The sky's share includes its
        reflection in the object.
    """
    surfaces, light = view.surfaces.copy(), view.light.copy()
    hidden = solid.distances(view.ends, view.to_lamp) < 1
    light[view.shaded[hidden]] = view.dimmed[hidden]
    distances = solid.distances(view.eye, view.directions)
    hits = np.isfinite(distances)
    directions = view.directions[hits]
    points = view.eye + distances[hits, None] * directions
    normals, to_lamp = solid.normals(points), _unit(_LAMP - points)
    halfway = _unit(to_lamp - _unit(directions))
    gloss = _GLOSS * np.maximum(dot(normals, halfway), 0.0) ** _SHININESS
    surfaces[view.ahead[hits]] = OBJECT
    matt = _from_above(OBJECT, normals) + _from_lamp(OBJECT, normals, to_lamp)
    light[view.ahead[hits]] = (1 - gloss) * matt
    shares = np.where(surfaces == np.arange(4)[:, None], light, 0.0)
    shares[SKY, view.ahead[hits]] = gloss
    layers = shares.reshape(4, -1, view.image_size, view.image_size)
    return layers.mean(axis=1)


def _rays(degrees: float, image_size: int, n_across: int) -> tuple[Floats, Floats]:
    """Return the position of the camera, and directions by layer, row and column.

    There are ``n_across**2`` layers: ``n_across`` rays across and down each pixel.
    """
    angle = np.radians(225.0 + degrees)
    level = _EYE_DISTANCE * np.array([np.cos(angle), np.sin(angle), 0.0])
    eye = level + [0.0, 0.0, _EYE_HEIGHT]
    forward = _unit(np.array([0.0, 0.0, _LOOK_HEIGHT]) - eye)
    right = _unit(np.cross(forward, [0.0, 0.0, 1.0]))
    down = np.cross(forward, right)
    middles = (np.arange(image_size * n_across) + 0.5) / (image_size * n_across)
    offsets = np.tan(_FIELD_OF_VIEW / 2) * (2 * middles - 1)
    offsets = offsets.reshape(image_size, n_across).T
    rows = offsets[:, None, :, None, None]
    columns = offsets[None, :, None, :, None]
    return eye, (forward + rows * down + columns * right).reshape(-1, 3)


def _lamp_points(n: int) -> Floats:
    """Return points evenly distributed over the disc of the lamp, on a spiral."""
    turns = np.arange(n) * np.pi * (3 - np.sqrt(5))
    radii = _LAMP_RADIUS * np.sqrt((np.arange(n) + 0.5) / n)
    spiral = [radii * np.cos(turns), radii * np.sin(turns), np.zeros(n)]
    return _LAMP + np.stack(spiral, axis=1)


def _from_above(surfaces: NDArray[np.integer] | int, normals: Floats) -> Floats:
    """Return the brightness by light from above, which depends on the slope."""
    return _FROM_ABOVE[surfaces] * (0.85 + 0.15 * normals[:, 2])


def _from_lamp(
    surfaces: NDArray[np.integer] | int, normals: Floats, to_lamp: Floats
) -> Floats:
    """Return the brightness by the lamp, by Lambert's cosine law."""
    return _FROM_LAMP[surfaces] * np.maximum(dot(normals, to_lamp), 0.0)


def _unit(vectors: Floats) -> Floats:
    return vectors / np.sqrt(dot(vectors, vectors))[..., None]
