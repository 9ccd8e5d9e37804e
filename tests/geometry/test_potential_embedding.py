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


def test_the_usual_diffusion_time_is_the_knee_of_the_entropy():
    entropies = diffusion_entropy(KERNEL)
    times = np.arange(1, len(entropies) + 1)

    def miss(part):
        line = np.polyfit(times[part], entropies[part], 1)
        return ((np.polyval(line, times[part]) - entropies[part]) ** 2).sum()

    # The time at which two straight lines, before and after it, fit best.
    errors = {
        time: miss(slice(0, time)) + miss(slice(time - 1, None))
        for time in times[1:-1].tolist()
    }
    assert potential_embedding(KERNEL).steps == min(errors, key=errors.get)


def test_scaling_never_makes_the_stress_worse():
    stresses = [
        potential_embedding(KERNEL, steps=3, iterations=n, tolerance=1e-12).stress
        for n in (0, 1, 5, 50)
    ]
    assert stresses == sorted(stresses, reverse=True)
    assert stresses[-1] < stresses[0]


def test_a_few_coordinates_are_as_good_as_those_of_scikit_learn():
    manifold = pytest.importorskip("sklearn.manifold")
    walk = np.linalg.matrix_power(dense_walk(KERNEL), 3)
    distances = squareform(pdist(-np.log(walk + 1e-7)))
    options = {"n_components": 2, "random_state": 0, "n_init": 4, "max_iter": 1_000}
    if "metric_mds" in manifold.MDS().get_params():
        options |= {"metric": "precomputed", "init": "random"}
    else:
        options["dissimilarity"] = "precomputed"
    theirs = manifold.MDS(**options, normalized_stress=False).fit(distances)
    found = potential_embedding(KERNEL, steps=3, iterations=1_000, tolerance=1e-9)
    # The sum over pairs once, where ours counts both orders in both sums.
    assert found.stress <= 2 * theirs.stress_ / (distances**2).sum() + 1e-3


def test_a_still_network_is_one_point():
    found = potential_embedding(multislice_kernel(np.zeros((3, 5, 2))), steps=40)
    assert np.abs(found.vectors).max() < 1e-6


def test_too_many_points_are_refused():
    large = multislice_kernel(np.zeros((70, 60, 1)))
    with pytest.raises(ValueError, match="4,200 pairs of slice and observation"):
        potential_embedding(large)
