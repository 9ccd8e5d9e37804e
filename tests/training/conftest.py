import pytest

from unbraid.data import XYSquares
from unbraid.models.networks import Dense
from unbraid.training import fit


@pytest.fixture
def squares():
    """The miniature: 64 images of 8x8 pixels with one square."""
    return XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)


@pytest.fixture
def train_small(squares):
    """fit with settings that take milliseconds, any of which may be changed."""

    def train(objective="beta_vae", data=squares, **options):
        small = {
            "steps": 20,
            "n_latents": 3,
            "network": Dense(widths=(8,)),
            "batch_size": 8,
            "log_every": 5,
        }
        return fit(objective, data, **small | options)

    return train
