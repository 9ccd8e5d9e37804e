"""Room3D: a colored object in a colored room, rendered in three dimensions."""

from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer

from ._choices import check_choices
from ._room_scene import Shape, build_object, build_view, render

_COUNTS = ("n_floor_hues", "n_wall_hues", "n_object_hues", "n_scales", "n_orientations")
_SKY = (0.62, 0.88, 0.98)
# Images mixed at a time, so that their sums stay in the processor's cache.
_CHUNK = 8


@dataclass(frozen=True, kw_only=True)
class Room3D(AbstractFactorDataset):
    """A lit room with one object in it, seen by a camera that moves around it.

    The factors, their values and their order are those of 3D Shapes, and so is their
    effect on the images: pixels change most with the wall hue, then floor hue, object
    hue, shape, scale and orientation. Each combination of scale, shape and orientation
    is rendered once, at its first use; colors are added afterwards, for a whole batch
    at once.

    Args:
        image_size: Side of the image in pixels, between 16 and 64.
        n_floor_hues: Number of hues of the floor, evenly spaced on the color circle.
        n_wall_hues: Number of hues of the walls, evenly spaced on the color circle.
        n_object_hues: Number of hues of the object, evenly spaced on the color circle.
        n_scales: Number of sizes of the object, evenly spaced between 0.75 and 1.25.
        shapes: Shapes of the object: any of ``"cube"``, ``"cylinder"``, ``"sphere"``
            and ``"capsule"``.
        n_orientations: Number of angles of the camera, evenly spaced between -30 and 30
            degrees.

    Example:
        >>> room = Room3D(image_size=16)
        >>> len(room), room.images([0, 479_999]).shape
        (480000, (2, 3, 16, 16))
        >>> room.factor_space.names
        ('floor_hue', 'wall_hue', 'object_hue', 'scale', 'shape', 'orientation')

    References:
        Burgess and Kim (2018), 3D Shapes Dataset,
        https://github.com/google-deepmind/3d-shapes (its factors; the pictures differ).
        Michlo (2022), dissertation, Table 3.1 (the importance of its factors).
    """

    image_size: int = 64
    n_floor_hues: int = 10
    n_wall_hues: int = 10
    n_object_hues: int = 10
    n_scales: int = 8
    shapes: tuple[Shape, ...] = get_args(Shape)
    n_orientations: int = 15

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        check_integer("image_size", self.image_size, least=16, most=64)
        check_choices("shapes", self.shapes, Shape)
        for count in _COUNTS:
            check_integer(count, getattr(self, count), least=1)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "room3d"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels, height and width."""
        return (3, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Hues of floor, wall and object, and its scale, shape and orientation."""
        return FactorSpace(
            ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"),
            (
                self.n_floor_hues,
                self.n_wall_hues,
                self.n_object_hues,
                self.n_scales,
                len(self.shapes),
                self.n_orientations,
            ),
            ("cyclic", "cyclic", "cyclic", "ordinal", "categorical", "ordinal"),
        )

    @property
    def _n_geometries(self) -> int:
        return self.n_scales * len(self.shapes) * self.n_orientations

    @cached_property
    def _cache(self) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Shares of surfaces in pixels in 255ths, and whether they were computed."""
        # Pages of a large array of zeros take no memory until they are written to.
        shape = (self._n_geometries, 4, self.image_size**2)
        return np.zeros(shape, dtype=np.uint16), np.zeros(shape[0], dtype=np.bool_)

    def _rendered(self, geometries: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Return shares of all geometries, after computing those requested."""
        shares, is_filled = self._cache
        missing = np.unique(geometries[~is_filled[geometries]])
        scales = _spread(0.75, 1.25, self.n_scales)
        orientations = _spread(-30.0, 30.0, self.n_orientations)
        for orientation in np.unique(missing % self.n_orientations):
            view = build_view(orientations[orientation], self.image_size)
            for geometry in missing[missing % self.n_orientations == orientation]:
                rest = geometry // self.n_orientations
                scale, shape = divmod(rest, len(self.shapes))
                solid = build_object(self.shapes[shape], scales[scale])
                shares[geometry] = np.rint(255 * render(view, solid)).reshape(4, -1)
        is_filled[missing] = True
        return shares

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        # The three factors that vary fastest are the geometry.
        geometries = indices % self._n_geometries
        shares, colors = self._rendered(geometries), self._colors(indices)
        images = np.empty((len(indices), 3, self.image_size**2), dtype=np.uint8)
        for start in range(0, len(indices), _CHUNK):
            rows = slice(start, start + _CHUNK)
            images[rows] = _mix(shares[geometries[rows]], colors[rows])
        return images.reshape(len(indices), *self.image_shape)

    def _colors(self, indices: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Return colors of the four surfaces in 256ths, shape ``(n, 4, 3)``."""
        hues = self.factor_space.factors(indices)
        counts = (self.n_floor_hues, self.n_wall_hues, self.n_object_hues)
        colors = [_rainbow(n)[hues[:, surface]] for surface, n in enumerate(counts)]
        colors.append(np.broadcast_to(_SKY, (len(indices), 3)))
        return np.rint(256 * np.stack(colors, axis=1)).astype(np.uint16)


def _mix(shares: NDArray[np.uint16], colors: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return pixels ``(n, 3, pixels)`` from shares in 255ths and colors in 256ths.

    Integers are rounded in the same way on every machine, and short ones are fast. The
    sum fits into 16 bits, because neither a surface nor the sky is brighter than 0.98.
    """
    total = shares[:, None, 0] * colors[:, 0, :, None]
    part = np.empty_like(total)
    for surface in range(1, 4):
        np.multiply(shares[:, None, surface], colors[:, surface, :, None], out=part)
        total += part
    total += 128
    total >>= 8
    return total


def _rainbow(n: int) -> NDArray[np.float64]:
    """Return red, green and blue of ``n`` saturated hues around the color circle."""
    sixths = 6 * np.arange(n)[:, None] / n
    return np.clip(np.abs((sixths + [0, 4, 2]) % 6 - 3) - 1, 0.0, 1.0)


def _spread(low: float, high: float, n: int) -> list[float]:
    """Return ``n`` evenly spaced values; a single one is in the middle."""
    return np.linspace(low, high, n).tolist() if n > 1 else [(low + high) / 2]
