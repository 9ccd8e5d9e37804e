"""As published: pixels and codes of images show no product structure."""

import numpy as np
import pytest

from unbraid import encode, fit
from unbraid.data import Sprites2D
from unbraid.geometry import Geomancer


@pytest.fixture(scope="module")
def hearts():
    """A heart that turns, moves and grows."""
    return Sprites2D(image_size=16, shapes=("heart",), n_orientations=39, n_scales=3)


@pytest.fixture(scope="module")
def rows(hearts):
    return np.random.default_rng(0).permutation(len(hearts))[:400]


@pytest.mark.parametrize("dimension", [3, 4])
def test_raw_images_of_a_turning_object_are_not_split(hearts, rows, dimension):
    pixels = np.unique(hearts.images(rows).reshape(len(rows), -1), axis=0)
    found = Geomancer(dimension, 20).fit(pixels / 255.0)
    assert not found.is_product_
    assert found.gap_ < 0.5
    assert found.confidence_ == 0


def test_codes_of_a_turning_object_are_not_split(hearts, rows):
    run = fit("beta_vae", hearts, steps=150, n_latents=6, seed=0)
    codes = encode(run.model, hearts, rows=rows, progress=False).codes
    found = Geomancer(n_neighbors=20).fit(np.unique(codes, axis=0))
    assert not found.is_product_
    assert found.gap_ < 0.5
