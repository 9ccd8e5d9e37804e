"""Images of one object from all sides, under light from all sides."""

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

_N_SPOTS = 40
_WIDTH = 0.12  # of a spot, where the object is 1 wide


def render_rotating_object(
    rotations: NDArray[np.float64], lights: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """A bumpy object of shiny spots, turned and lit.

    Every spot lies on the object, faces away from its middle, and is as bright as it
    faces the light; spots on the far side are not seen.

    Args:
        rotations: Of the object, ``(n, 3, 3)``.
        lights: Directions that the light comes from, ``(n, 3)``.

    Returns:
        Images, ``(n, 1, 16, 16)``.

    Example:
        >>> one = render_rotating_object(np.eye(3)[None], np.array([[0.0, 0.0, 1.0]]))
        >>> one.shape, bool(one.max() > 100)
        ((1, 1, 16, 16), True)
    """
    generator = numpy_generator(0, "rotating object")
    facing = generator.normal(size=(_N_SPOTS, 3))
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    # Unequal distances from the middle, so that no two views are alike.
    places = facing * generator.uniform(0.4, 0.9, size=(_N_SPOTS, 1))
    turned = np.einsum("nij,sj->nsi", rotations, places)
    normals = np.einsum("nij,sj->nsi", rotations, facing)
    lit = np.clip(np.einsum("nsi,ni->ns", normals, lights), 0.0, None)
    seen = np.clip(normals[..., 2], 0.0, None) * (0.2 + 0.8 * lit)
    axis = np.linspace(-1.0, 1.0, 16)
    across = np.exp(-(((turned[..., 0, None] - axis) / _WIDTH) ** 2) / 2)
    down = np.exp(-(((turned[..., 1, None] - axis) / _WIDTH) ** 2) / 2)
    light = np.einsum("ns,nsy,nsx->nyx", seen, down, across)
    return np.clip(light * 160.0, 0, 255).astype(np.uint8)[:, None]
