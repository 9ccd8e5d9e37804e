"""A model that was trained for a moment, and its data."""

import pytest

from unbraid.data import XYSquares
from unbraid.training import fit


@pytest.fixture(scope="session")
def squares():
    return XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)


@pytest.fixture(scope="session")
def trained(squares):
    settings = {"steps": 60, "n_latents": 3, "batch_size": 8, "seed": 1}
    return fit("vae", squares, network="dense", **settings)
