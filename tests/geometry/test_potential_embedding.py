"""M-PHATE against a slow transcription of its formulas, and in closed form."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from unbraid.geometry import (
    MultisliceKernel,
    diffusion_entropy,
    multislice_kernel,
    potential_embedding,
)
from unbraid.geometry._potential_embedding import (
    _classical_scaling,
    _knee,
    _smacof,
)

RNG = np.random.default_rng(0)
ACTIVATIONS = RNG.normal(size=(4, 9, 3)).cumsum(axis=0)
KERNEL = multislice_kernel(ACTIVATIONS)


def dense_walk(kernel):
    """The matrix P, entry by entry."""
    n_slices, n_observations = kernel.shape
    full = np.zeros((n_slices * n_observations,) * 2)
    for t in range(n_slices):
        for i in range(n_observations):
            row = t * n_observations + i
            for j in range(n_observations):
                full[row, t * n_observations + j] = kernel.intraslice[t, i, j]
            for s in range(n_slices):
                if s != t:
                    full[row, s * n_observations + i] = kernel.interslice[i, t, s]
    return full / full.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_distances_are_those_of_the_potentials(steps):
    walk = np.linalg.matrix_power(dense_walk(KERNEL), steps)
    potentials = [[-np.log(entry + 1e-7) for entry in row] for row in walk]
    expected = pdist(np.array(potentials))
    # With as many coordinates as points, the distances can be exact.
    found = potential_embedding(KERNEL, steps=steps, n_components=36)
    assert found.steps == steps
    assert found.stress < 1e-9
    np.testing.assert_allclose(pdist(found.vectors.reshape(36, 36)), expected, 1e-3)
    flat = potential_embedding(KERNEL, steps=steps)
    assert flat.vectors.shape == (4, 9, 2)
    assert found.stress < flat.stress < 1
    np.testing.assert_allclose(flat.vectors.mean(axis=(0, 1)), 0, atol=1e-9)


def test_the_entropy_is_that_of_the_eigenvalues():
    sizes = np.abs(np.linalg.eigvals(dense_walk(KERNEL)))
    for steps in (1, 2, 7):
        shares = sizes**steps / (sizes**steps).sum()
        expected = -(shares * np.log(shares)).sum()
        assert diffusion_entropy(KERNEL)[steps - 1] == pytest.approx(expected)


def test_observations_that_never_meet_keep_all_of_the_entropy():
    # P is the identity, so that every share is 1 / 10 after any number of steps.
    apart = MultisliceKernel(np.eye(10)[None], np.zeros((10, 1, 1)), np.ones((1, 10)))
    np.testing.assert_allclose(diffusion_entropy(apart, most_steps=3), np.log(10))


def test_the_knee_of_two_straight_lines_is_where_they_meet():
    curve = np.concatenate([np.linspace(9, 3, 7), np.linspace(3, 2, 20)[1:]])
    assert _knee(curve) == 6
    assert _knee(np.array([1.0, 0.5])) == 0


def test_the_knee_is_the_diffusion_time_unless_given():
    assert potential_embedding(KERNEL).steps == _knee(diffusion_entropy(KERNEL)) + 1


def test_scaling_finds_points_in_the_plane_again():
    points = RNG.normal(size=(30, 2))
    distances = squareform(pdist(points))
    classical = _classical_scaling(distances, 2)
    np.testing.assert_allclose(pdist(classical), pdist(points), atol=1e-9)
    start = classical + 0.1 * RNG.normal(size=classical.shape)
    found, stress = _smacof(distances, start, 2_000, 1e-12)
    assert stress < 1e-8
    np.testing.assert_allclose(pdist(found), pdist(points), atol=1e-2)


def test_scaling_never_makes_the_stress_worse():
    distances = squareform(pdist(RNG.normal(size=(25, 8))))
    start = _classical_scaling(distances, 2)
    stresses = [_smacof(distances, start, n, 1e-12)[1] for n in (0, 1, 5, 50)]
    assert stresses == sorted(stresses, reverse=True)
    assert stresses[-1] < stresses[0]


def test_a_still_network_is_one_point():
    found = potential_embedding(multislice_kernel(np.zeros((3, 5, 2))), steps=40)
    assert np.abs(found.vectors).max() < 1e-6


def test_too_many_points_are_refused():
    large = multislice_kernel(np.zeros((70, 60, 1)))
    with pytest.raises(ValueError, match="4,200 pairs of slice and observation"):
        potential_embedding(large)
