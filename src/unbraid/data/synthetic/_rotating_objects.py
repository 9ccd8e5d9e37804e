"""RotatingObjects: three-dimensional objects that turn under a moving light."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer, check_shape, numpy_generator

_N_SPOTS = 40
_SPOT_WIDTH = 0.12  # standard deviation, where the image reaches from -1 to 1
_COUNTS = (
    "n_shapes",
    "n_azimuths",
    "n_elevations",
    "n_rolls",
    "n_light_azimuths",
    "n_light_elevations",
)


def render_rotating_object(
    rotations: NDArray[np.float64],
    lights: NDArray[np.float64],
    *,
    shape: int = 0,
    image_size: int = 64,
) -> NDArray[np.uint8]:
    """Render an object in any orientation, lit from any direction.

    The object is a set of bright spots on an irregular surface, so that no two views
    are alike. A spot is the brighter the more it faces the light and the camera; spots
    on the far side are invisible.

    Args:
        rotations: Rotation matrix of the object in each image, ``(n, 3, 3)``. The
            camera looks along the third axis.
        lights: Unit vector towards the light in each image, ``(n, 3)``.
        shape: Number of the object; each has another surface.
        image_size: Side of the image in pixels.

    Returns:
        Images, ``(n, 1, image_size, image_size)``.

    Example:
        >>> light = np.array([[0.0, 0.0, 1.0]])
        >>> image = render_rotating_object(np.eye(3)[None], light, image_size=16)
        >>> image.shape, bool(image.max() > 100)
        ((1, 1, 16, 16), True)
    """
    check_shape("rotations", rotations, ("n", 3, 3))
    check_shape("lights", lights, (len(rotations), 3))
    check_integer("shape", shape, least=0)
    check_integer("image_size", image_size, least=8, most=LARGEST_IMAGE)
    shapes = np.zeros(len(rotations), dtype=np.int64)
    return _render(rotations, lights, _spots(shape)[None], shapes, image_size)


@dataclass(frozen=True, kw_only=True)
class RotatingObjects(AbstractFactorDataset):
    """Objects that turn about three axes, under a light that moves.

    Orientation and light are a small version of the Stanford 3D Objects for
    Disentangling, in which an object is seen from all sides in all lights. Rotations
    about different axes do not commute, so the three angles of the orientation are one
    factor in the sense of symmetry. :func:`render_rotating_object` renders any
    orientation, not only those of the grid.

    Args:
        image_size: Side of the image in pixels, at least 8.
        n_shapes: Number of objects.
        n_azimuths: Angles about the vertical axis, spread evenly over the circle.
        n_elevations: Tilts, spread evenly from -60 to 60 degrees.
        n_rolls: Angles about the line of sight, spread evenly over the circle.
        n_light_azimuths: Directions of the light around the line of sight, spread
            evenly over the circle.
        n_light_elevations: Angles of the light above the plane of the image, spread
            evenly from 0 to 60 degrees.

    Example:
        >>> objects = RotatingObjects(image_size=16)
        >>> len(objects), objects.images([0, 5]).shape
        (290304, (2, 1, 16, 16))

    References:
        Pfau, Higgins, Botev and Racanière (2020), Disentangling by Subspace Diffusion,
        section 5.2 (the factors; the objects differ). https://arxiv.org/abs/2006.12982
    """

    image_size: int = 64
    n_shapes: int = 3
    n_azimuths: int = 24
    n_elevations: int = 7
    n_rolls: int = 24
    n_light_azimuths: int = 8
    n_light_elevations: int = 3

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=8, most=LARGEST_IMAGE)
        for name in _COUNTS:
            check_integer(name, getattr(self, name), least=1)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "rotating_objects"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """One channel."""
        return (1, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Shape, orientation and direction of the light."""
        return FactorSpace(
            (
                "shape",
                "azimuth",
                "elevation",
                "roll",
                "light_azimuth",
                "light_elevation",
            ),
            tuple(getattr(self, name) for name in _COUNTS),
            ("categorical", "cyclic", "ordinal", "cyclic", "cyclic", "ordinal"),
        )

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        shapes, *factors = self._space.factors(indices).T
        azimuth, elevation, roll, light_azimuth, light_elevation = (
            angles[values] for angles, values in zip(self._angles, factors, strict=True)
        )
        rotations = _turn(roll, 0, 1) @ _turn(elevation, 1, 2) @ _turn(azimuth, 2, 0)
        lights = np.stack(
            [
                np.cos(light_elevation) * np.cos(light_azimuth),
                np.cos(light_elevation) * np.sin(light_azimuth),
                np.sin(light_elevation),
            ],
            axis=1,
        )
        return _render(rotations, lights, self._surfaces, shapes, self.image_size)

    @cached_property
    def _surfaces(self) -> NDArray[np.float64]:
        return np.stack([_spots(shape) for shape in range(self.n_shapes)])

    @cached_property
    def _angles(self) -> tuple[NDArray[np.float64], ...]:
        """Radians of each value of the factors after the shape."""
        return (
            _circle(self.n_azimuths),
            _spread(-60, 60, self.n_elevations),
            _circle(self.n_rolls),
            _circle(self.n_light_azimuths),
            _spread(0, 60, self.n_light_elevations),
        )


def _circle(count: int) -> NDArray[np.float64]:
    return 2 * np.pi * np.arange(count) / count


def _spread(first: float, last: float, count: int) -> NDArray[np.float64]:
    """Angles in radians from first to last in degrees; one alone is in the middle."""
    degrees = np.linspace(first, last, count) if count > 1 else [(first + last) / 2]
    return np.radians(degrees)


def _turn(angles: NDArray[np.float64], first: int, second: int) -> NDArray[np.float64]:
    """Rotations in the plane of two axes, ``(n, 3, 3)``."""
    rotations = np.tile(np.eye(3), (len(angles), 1, 1))
    rotations[:, first, first] = rotations[:, second, second] = np.cos(angles)
    rotations[:, second, first] = np.sin(angles)
    rotations[:, first, second] = -np.sin(angles)
    return rotations


def _spots(shape: int) -> NDArray[np.float64]:
    """Position of each spot, and the direction that it faces, ``(n_spots, 2, 3)``."""
    generator = numpy_generator(shape, "rotating object")
    normals = generator.normal(size=(_N_SPOTS, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # Unequal distances from the center, so that no two views are alike.
    positions = normals * generator.uniform(0.4, 0.9, size=(_N_SPOTS, 1))
    return np.stack([positions, normals], axis=1)


def _render(
    rotations: NDArray[np.float64],
    lights: NDArray[np.float64],
    surfaces: NDArray[np.float64],
    shapes: NDArray[np.int64],
    image_size: int,
) -> NDArray[np.uint8]:
    turned = surfaces[shapes] @ np.swapaxes(rotations, 1, 2)[:, None]
    positions, normals = turned[:, :, 0], turned[:, :, 1]
    lit = np.clip((normals @ lights[..., None])[..., 0], 0.0, None)
    brightness = np.clip(normals[..., 2], 0.0, None) * (0.2 + 0.8 * lit)
    axis = np.linspace(-1.0, 1.0, image_size)
    across, down = (
        np.exp(-(((positions[..., index, None] - axis) / _SPOT_WIDTH) ** 2) / 2)
        for index in (0, 1)
    )
    images = np.swapaxes(brightness[..., None] * down, 1, 2) @ across
    return np.clip(images * 160.0, 0, 255).astype(np.uint8)[:, None]
