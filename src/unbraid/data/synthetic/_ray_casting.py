"""Intersections of rays with convex solids, in closed form, for arrays of rays."""

import abc
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Replaces a zero component of a direction, so that quotients are finite.
_TINY = 1e-30


class AbstractSolid(abc.ABC):
    """A convex solid, upright and axis-aligned, that rays can hit.

    A line intersects a convex solid in one interval, so that a solid only needs to
    compute its ends; the closer end in front of the ray is visible. Rays may have any
    length, and distances are in units of it.
    """

    @abc.abstractmethod
    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return where each line enters and leaves the solid.

        Args:
            origins: Origins of the rays, shape ``(n, 3)`` or ``(3,)`` for a common one.
            directions: Directions of the rays, shape ``(n, 3)``, not zero.

        Returns:
            Two arrays ``(n,)``: multiples of the direction from the origin, the first
            below the second; infinity and minus infinity for a line that misses.
        """

    @abc.abstractmethod
    def normals(self, points: Floats) -> Floats:
        """Return the outer unit normals at points ``(n, 3)`` on the surface."""

    def distances(self, origins: Floats, directions: Floats) -> Floats:
        """Return the distance at which each ray first hits the surface.

        Args:
            origins: Origins of the rays, shape ``(n, 3)`` or ``(3,)`` for a common one.
            directions: Directions of the rays, shape ``(n, 3)``, not zero.

        Returns:
            Positive multiples of the direction, shape ``(n,)``; infinity for a miss.

        Example:
            >>> ball = Sphere(center=(0.0, 0.0, 1.0), radius=1.0)
            >>> eye, towards = np.array([-3.0, 0.0, 1.0]), np.array([[1.0, 0.0, 0.0]])
            >>> ball.distances(eye, towards), ball.distances(eye, -towards)
            (array([2.]), array([inf]))
        """
        enter, leave = self.interval(origins, directions)
        first = np.where(enter > 0, enter, leave)
        return np.where(first > 0, first, np.inf)


@dataclass(frozen=True, kw_only=True)
class Ground(AbstractSolid):
    """The half-space below a horizontal plane.

    Args:
        height: Third coordinate of the plane.
    """

    height: float = 0.0

    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return where each line enters and leaves the ground, one end at infinity."""
        falls = directions[..., 2] < 0
        meets = (self.height - origins[..., 2]) / _not_zero(directions[..., 2])
        return np.where(falls, meets, -np.inf), np.where(falls, np.inf, meets)

    def normals(self, points: Floats) -> Floats:
        """Return vertical unit vectors."""
        return np.broadcast_to([0.0, 0.0, 1.0], points.shape)


@dataclass(frozen=True, kw_only=True)
class Box(AbstractSolid):
    """A box with faces along the axes.

    Args:
        low: Corner with the smallest coordinates.
        high: Corner with the largest coordinates.
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return where each line is between all three pairs of faces."""
        slabs = [
            _slab(origins, directions, axis, self.low[axis], self.high[axis])
            for axis in range(3)
        ]
        return _intersection(*slabs)

    def normals(self, points: Floats) -> Floats:
        """Return the normal of the closest face."""
        low, high = np.array(self.low), np.array(self.high)
        outward = (2 * points - low - high) / (high - low)
        face = np.abs(outward).argmax(axis=-1)[..., None]
        return np.where(np.arange(3) == face, np.sign(outward), 0.0)


@dataclass(frozen=True, kw_only=True)
class Sphere(AbstractSolid):
    """A ball.

    Args:
        center: Coordinates of the center.
        radius: Radius, positive.
    """

    center: tuple[float, float, float]
    radius: float

    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return where each line is at most a radius from the center."""
        return _quadratic(origins - np.array(self.center), directions, self.radius)

    def normals(self, points: Floats) -> Floats:
        """Return unit vectors away from the center."""
        return (points - np.array(self.center)) / self.radius


@dataclass(frozen=True, kw_only=True)
class Cylinder(AbstractSolid):
    """An upright cylinder around the third axis.

    Args:
        radius: Radius, positive.
        low: Height of the bottom.
        high: Height of the top, above ``low``.
    """

    radius: float
    low: float
    high: float

    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return where each line is in the infinite cylinder, from bottom to top."""
        tube = _quadratic(origins[..., :2], directions[..., :2], self.radius)
        return _intersection(tube, _slab(origins, directions, 2, self.low, self.high))

    def normals(self, points: Floats) -> Floats:
        """Return vertical normals at bottom and top, horizontal ones at the side."""
        height = (2 * points[..., 2:] - self.low - self.high) / (self.high - self.low)
        side = np.concatenate([points[..., :2] / self.radius, 0 * height], axis=-1)
        is_side = np.linalg.norm(side, axis=-1, keepdims=True) > np.abs(height)
        return np.where(is_side, side, np.sign(height) * [0.0, 0.0, 1.0])


@dataclass(frozen=True, kw_only=True)
class Capsule(AbstractSolid):
    """All points within a radius of a vertical segment on the third axis.

    Args:
        radius: Radius, positive.
        low: Height of the lower end of the segment.
        high: Height of the upper end of the segment, above ``low``.
    """

    radius: float
    low: float
    high: float

    def interval(self, origins: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Return the union of the intervals of the cylinder and the two spheres."""
        tube = Cylinder(radius=self.radius, low=self.low, high=self.high)
        ends = [
            Sphere(center=(0.0, 0.0, height), radius=self.radius)
            for height in (self.low, self.high)
        ]
        parts = [part.interval(origins, directions) for part in (tube, *ends)]
        enter, leave = zip(*parts, strict=True)
        return np.minimum.reduce(enter), np.maximum.reduce(leave)

    def normals(self, points: Floats) -> Floats:
        """Return unit vectors away from the closest point of the segment."""
        nearest = np.clip(points[..., 2:], self.low, self.high) * [0.0, 0.0, 1.0]
        return (points - nearest) / self.radius


def dot(a: Floats, b: Floats) -> Floats:
    """Return inner products of vectors along the last axis, shape ``(...)``."""
    return np.einsum("...i,...i->...", a, b)


def _not_zero(components: Floats) -> Floats:
    return np.where(components == 0, _TINY, components)


def _slab(
    origins: Floats, directions: Floats, axis: int, low: float, high: float
) -> tuple[Floats, Floats]:
    """Return where lines are between two planes orthogonal to an axis."""
    along = _not_zero(directions[..., axis])
    first = (low - origins[..., axis]) / along
    second = (high - origins[..., axis]) / along
    return np.minimum(first, second), np.maximum(first, second)


def _quadratic(
    offsets: Floats, directions: Floats, radius: float
) -> tuple[Floats, Floats]:
    """Return where ``|offset + t * direction| <= radius``, in 2 or 3 dimensions."""
    squared = _not_zero(dot(directions, directions))
    half = dot(offsets, directions)
    discriminant = half**2 - squared * (dot(offsets, offsets) - radius**2)
    root = np.sqrt(np.maximum(discriminant, 0.0))
    hits = discriminant >= 0
    enter = np.where(hits, (-half - root) / squared, np.inf)
    return enter, np.where(hits, (-half + root) / squared, -np.inf)


def _intersection(*intervals: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the intersection of intervals."""
    enter, leave = zip(*intervals, strict=True)
    last, first = np.maximum.reduce(enter), np.minimum.reduce(leave)
    hits = last <= first
    return np.where(hits, last, np.inf), np.where(hits, first, -np.inf)
