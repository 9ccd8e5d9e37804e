"""Representations of known quality over the factor grids of published datasets.

Each is a table of ten codes, one row per combination of factors, so that metrics that
resample with a factor fixed can be compared as well. ``SPACES`` are the factor sizes of
dSprites and 3D Shapes.
"""

import numpy as np

from unbraid.data import FactorSpace
from unbraid.foundation import numpy_generator

N_LATENTS = 10

SPACES = {
    "dsprites": FactorSpace(
        ("shape", "scale", "orientation", "position_x", "position_y"),
        (3, 6, 40, 32, 32),
        ("categorical", "ordinal", "cyclic", "ordinal", "ordinal"),
    ),
    "shapes3d": FactorSpace(
        ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"),
        (10, 10, 10, 8, 4, 15),
        ("cyclic", "cyclic", "cyclic", "ordinal", "categorical", "ordinal"),
    ),
}

NAMES = (
    "perfect",
    "permuted",
    "warped",
    "rotated",
    "duplicated",
    "noisy",
    "partial",
    "mixed",
    "random",
)


def constructed(name, space, rows):
    """Codes ``(n, 10)`` and factors ``(n, n_factors)`` of some rows of a grid."""
    factors = space.factors(rows)
    generator = numpy_generator(0, name, *space.names)
    # The noise of a row must not depend on which rows are asked for.
    noise = generator.standard_normal((space.size, N_LATENTS), dtype=np.float32)[rows]
    scaled = 2.0 * factors / (np.array(space.sizes) - 1) - 1.0
    k = space.n_factors
    codes = 0.01 * noise.astype(np.float64)  # dead latents: a whiff of noise
    if name == "perfect":
        codes[:, :k] = scaled
    elif name == "permuted":
        codes[:, generator.permutation(N_LATENTS)[:k]] = -scaled
    elif name == "warped":
        codes[:, :k] = np.sign(scaled) * np.abs(scaled) ** 3 + scaled
    elif name == "rotated":
        codes[:, :k] = scaled @ _rotation(k)
    elif name == "duplicated":
        codes[:, :k] = scaled
        codes[:, k : k + 4] = scaled[:, :4] + 0.05 * noise[:, :4]
    elif name == "noisy":
        codes[:, :k] = scaled + 0.3 * noise[:, :k]
    elif name == "partial":
        codes = 1.0 * noise.astype(np.float64)
        codes[:, :2] = scaled[:, :2]
    elif name == "mixed":
        codes = scaled @ generator.standard_normal((k, N_LATENTS)) + 0.1 * noise
    elif name == "random":
        codes = noise.astype(np.float64)
    else:
        raise ValueError(name)
    return codes, factors


def sampled(name, space, n_rows, seed=0):
    """Codes and factors of random rows, with replacement."""
    rows = numpy_generator(seed, "rows", n_rows).integers(0, space.size, n_rows)
    return constructed(name, space, rows)


def _rotation(k):
    """Rotation by 45 degrees in each plane of two neighbouring factors."""
    rotation = np.eye(k)
    for i in range(0, k - 1, 2):
        rotation[i : i + 2, i : i + 2] = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    return rotation
