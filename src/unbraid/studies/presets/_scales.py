"""What the scales have in common, whatever is studied."""

from typing import Any

Plain = dict[str, Any]

SCALES = ("mini", "small", "paper")
"""From seconds to days for a run."""

MINI_NETWORK: Plain = {"name": "dense", "widths": [128, 128]}

MINI_SPRITES = "sprites2d:image_size=16,n_scales=3,n_orientations=5,n_positions=8"
MINI_ROOM = (
    "room3d:image_size=16,n_floor_hues=4,n_wall_hues=4,n_object_hues=4,n_scales=3,"
    "n_orientations=5"
)
SMALL_SPRITES = "sprites2d:n_scales=3,n_orientations=10,n_positions=16"
SMALL_ROOM = (
    "room3d:n_floor_hues=5,n_wall_hues=5,n_object_hues=5,n_scales=4,n_orientations=5"
)


def by_scale(scale: str, *, mini: Any, small: Any, paper: Any) -> Any:
    """The value that belongs to a scale."""
    return {"mini": mini, "small": small, "paper": paper}[scale]


def linear(start: float, end: float, share: float = 1.0) -> Plain:
    """A straight line during the first share of a run, as plain data."""
    return {"name": "linear", "start": start, "end": end, "share": share}
