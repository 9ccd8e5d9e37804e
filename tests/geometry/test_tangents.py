import numpy as np
import pytest

from unbraid.geometry import (
    alignment_error,
    intrinsic_dimension,
    product_manifold,
    tangent_spaces,
)
from unbraid.geometry._neighbor_graph import nearest_neighbors


def tangent_error(sample, n_neighbors, *, curved):
    neighbors = nearest_neighbors(sample.points, n_neighbors)
    found = tangent_spaces(sample.points, neighbors, sample.dimension, curved=curved)
    true = np.concatenate(sample.tangents, axis=2)
    return alignment_error([found], [true]).mean()


def test_a_flat_patch_is_its_own_tangent_space():
    generator = np.random.default_rng(0)
    plane = np.linalg.qr(generator.normal(size=(7, 3)))[0]
    points = generator.normal(size=(100, 3)) @ plane.T
    for curved in (False, True):
        neighbors = nearest_neighbors(points, 20)
        found = tangent_spaces(points, neighbors, 3, curved=curved)
        assert alignment_error([found], [np.tile(plane, (100, 1, 1))]).max() < 1e-6


@pytest.mark.parametrize("factors", ["S2", "S2xS2", "SO3"])
def test_allowing_for_curvature_makes_angles_ten_times_smaller(factors):
    sample = product_manifold(factors, 800, rotated=True)
    n_neighbors = sample.dimension * (sample.dimension + 3)
    plain = tangent_error(sample, n_neighbors, curved=False)
    assert tangent_error(sample, n_neighbors, curved=True) < plain / 10


def test_more_coordinates_than_neighbors_are_no_trouble():
    sample = product_manifold("S2", 400)
    padded = np.concatenate([sample.points, np.zeros((400, 60))], axis=1)
    neighbors = nearest_neighbors(padded, 10)
    found = tangent_spaces(padded, neighbors, 2)
    true = np.concatenate([sample.tangents[0], np.zeros((400, 60, 2))], axis=1)
    assert alignment_error([found], [true]).mean() < 0.02


@pytest.mark.parametrize(
    "factors", ["S1", "S2", "SO3", "S2xS2", "S2xS3", "S2xSO3", "S2xS2xS2"]
)
def test_the_dimension_is_estimated(factors):
    sample = product_manifold(factors, 1500, rotated=True)
    assert round(intrinsic_dimension(sample.points)) == sample.dimension


def test_equal_distances_have_no_dimension():
    with pytest.raises(ValueError, match="are at the same distance from it"):
        intrinsic_dimension(np.eye(5))


def test_the_dimension_may_be_estimated_from_some_points_and_neighbours():
    square = np.random.default_rng(0).uniform(size=(300, 2))
    found = intrinsic_dimension(square, max_points=50, n_neighbors=5)
    assert 1.5 < found < 2.5
    assert found != intrinsic_dimension(square, max_points=50)
    assert found != intrinsic_dimension(square, n_neighbors=5)
    assert found != intrinsic_dimension(square, max_points=50, n_neighbors=5, seed=1)
