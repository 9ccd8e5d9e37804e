import numpy as np
import pytest

from unbraid.geometry import product_manifold, rotation_group, sphere, torus


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("factors", ["S1", "S2", "S4", "SO2", "SO3", "SO4", "T3"])
def test_tangents_are_orthonormal_and_tangent(factors, rotated):
    sample = product_manifold([factors, "S2"], 50, rotated=rotated)
    basis = np.concatenate(sample.tangents, axis=2)
    products = np.swapaxes(basis, 1, 2) @ basis
    assert products == pytest.approx(
        np.broadcast_to(np.eye(basis.shape[2]), products.shape), abs=1e-12
    )
    # All of these lie on spheres about 0, to which tangents are orthogonal.
    radial = np.einsum("na,nak->nk", sample.points, basis)
    assert np.abs(radial).max() < 1e-12


def test_a_point_on_the_axis_has_tangents_too():
    from unbraid.geometry._manifolds import _sphere

    class Axis:
        def standard_normal(self, shape):
            return np.eye(shape[1])[: shape[0]] * 2.0

    points, basis = _sphere(3, 2, Axis())
    assert np.isfinite(basis).all()
    assert np.abs(np.einsum("na,nak->nk", points, basis)).max() < 1e-12


def test_small_steps_along_tangents_stay_on_the_rotations():
    sample = rotation_group(20, 3)
    step = sample.points + 1e-5 * sample.tangents[0][:, :, 0]
    matrices = step.reshape(-1, 3, 3)
    products = matrices @ np.swapaxes(matrices, 1, 2)
    assert np.abs(products - np.eye(3)).max() < 1e-9
    assert np.linalg.det(matrices) == pytest.approx(1, abs=1e-9)


def test_rotations_are_uniform():
    # The mean of a uniform rotation is 0 and each entry has variance 1 / 3.
    points = rotation_group(20_000, 3).points
    assert np.abs(points.mean(axis=0)).max() < 0.02
    assert points.var(axis=0) == pytest.approx(1 / 3, abs=0.01)


def test_makers_say_what_they_made():
    assert sphere(5, 3).dimension == 3
    assert torus(5, 2).points.shape == (5, 4)
    sample = product_manifold("S^2 x SO(3) x T2", 5)
    assert sample.names == ("S2", "SO3", "T2")
    assert sample.dimensions == (2, 3, 2)


def test_the_same_seed_gives_the_same_points():
    first, second = (product_manifold("S2xS2", 9, seed=seed).points for seed in (4, 4))
    assert (first == second).all()
    assert (first != product_manifold("S2xS2", 9, seed=5).points).any()


@pytest.mark.parametrize("factors", ["", "S", "R3", "S0", "SO1", "S2xx", []])
def test_unknown_factors_are_refused(factors):
    with pytest.raises(ValueError, match="factors must be named like"):
        product_manifold(factors, 10)


@pytest.mark.parametrize("n_points", [0, -3, 2.5, "many"])
def test_numbers_of_points_that_are_none_are_refused(n_points):
    with pytest.raises(ValueError, match="n_points must be .*, got"):
        product_manifold("S2", n_points)


@pytest.mark.parametrize("make", [sphere, rotation_group, torus])
def test_points_are_drawn_by_the_seed(make):
    points = make(20, 3, seed=1).points
    assert np.array_equal(points, make(20, 3, seed=1).points)
    assert not np.array_equal(points, make(20, 3).points)
