"""GeoManCEr on poses, pixels and codes of an object, compared with chance."""

import numpy as np
import pytest

from unbraid.geometry import Geomancer
from unbraid_claims.claims.ottlik_geomancer import (
    pushed_tangents,
    random_angle,
    render_poses,
    sample_poses,
    splitting_angle,
)


def test_chance_is_the_mean_of_random_splittings():
    # Literal: largest principal angles of random planes and their complements.
    generator = np.random.default_rng(1)
    angles = []
    for _ in range(500):
        one, two = (np.linalg.qr(generator.normal(size=(5, 5)))[0] for _ in range(2))
        angles += [
            np.arccos(np.linalg.svd(one[:, part].T @ two[:, part])[1].min())
            for part in (slice(0, 3), slice(3, 5))
        ]
    assert random_angle(n_samples=2_000) == pytest.approx(np.mean(angles), abs=0.03)


def test_tangents_are_pushed_by_the_derivative():
    sample = sample_poses(20)
    matrix = np.random.default_rng(0).normal(size=(12, 7))
    rotations, lights = pushed_tangents(sample, lambda poses: poses @ matrix)
    assert rotations.shape == (20, 7, 3)
    assert lights.shape == (20, 7, 2)
    for pushed, tangent in zip((rotations, lights), sample.tangents, strict=True):
        exact = np.linalg.qr(matrix.T @ tangent)[0]
        apart = pushed - exact @ (np.swapaxes(exact, 1, 2) @ pushed)
        # Central differences with steps of 0.1 are exact to the second order.
        assert np.abs(apart).max() < 0.02


def test_true_latents_are_split_far_better_than_chance_and_noise_is_not():
    sample = sample_poses(600)
    fitted = Geomancer(5).fit(sample.points)
    chance = random_angle(n_samples=500)
    assert splitting_angle(sample.points, fitted, sample.tangents) < 0.5 * chance
    generator = np.random.default_rng(0)
    noise = [generator.normal(size=basis.shape) for basis in sample.tangents]
    angle = splitting_angle(sample.points, fitted, noise)
    assert angle == pytest.approx(chance, abs=0.1)


def test_poses_are_rendered():
    images = render_poses(sample_poses(3).points)
    assert images.shape == (3, 1, 16, 16)
    assert images.max(axis=(1, 2, 3)).min() > 20
