"""Images of one object under all rotations and light directions."""

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

_N_SPOTS = 40
_WIDTH = 0.12  # width of a spot, relative to the object


def render_rotating_object(
    rotations: NDArray[np.float64], lights: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """Render an object of bright spots for given rotations and light directions.

    Each spot faces away from the center of the object, and its brightness depends on
    the angle to the light. Spots on the far side are hidden.

    Args:
        rotations: Rotation matrices of the object, ``(n, 3, 3)``.
        lights: Directions of the light source, ``(n, 3)``.

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
    # Unequal distances from the center, so that no two views are equal.
    positions = facing * generator.uniform(0.4, 0.9, size=(_N_SPOTS, 1))
    turned = np.einsum("nij,sj->nsi", rotations, positions)
    normals = np.einsum("nij,sj->nsi", rotations, facing)
    lit = np.clip(np.einsum("nsi,ni->ns", normals, lights), 0.0, None)
    seen = np.clip(normals[..., 2], 0.0, None) * (0.2 + 0.8 * lit)
    axis = np.linspace(-1.0, 1.0, 16)
    across = np.exp(-(((turned[..., 0, None] - axis) / _WIDTH) ** 2) / 2)
    down = np.exp(-(((turned[..., 1, None] - axis) / _WIDTH) ** 2) / 2)
    light = np.einsum("ns,nsy,nsx->nyx", seen, down, across)
    return np.clip(light * 160.0, 0, 255).astype(np.uint8)[:, None]
