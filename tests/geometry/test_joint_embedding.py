import numpy as np
import pytest

from unbraid.geometry import joint_embedding, multislice_kernel


def traces(n_slices, n_observations, units, seed=0):
    generator = np.random.default_rng(seed)
    factors = generator.uniform(-1, 1, (n_observations, 2))
    return [
        np.tanh(
            factors @ generator.normal(size=(2, n_units))
            + 0.1 * generator.normal(size=(n_slices, n_observations, n_units))
        )
        * np.linspace(0.3, 2, n_slices)[:, None, None]
        for n_units in units
    ]


def stacked(kernels, steps):
    n, m = kernels[0].shape
    unit = np.eye(n * m).reshape(n, m, n * m)
    powers = [kernel.diffuse(unit, steps=steps) for kernel in kernels]
    return np.concatenate([power.reshape(n * m, n * m) for power in powers])


# 24 rows are embedded by the whole matrix, 600 rows within a Krylov space.
@pytest.mark.parametrize(("n_slices", "n_observations"), [(4, 6), (10, 60)])
@pytest.mark.parametrize("steps", [1, 4])
def test_vectors_are_those_of_the_dense_decomposition(n_slices, n_observations, steps):
    kernels = [
        multislice_kernel(trace) for trace in traces(n_slices, n_observations, (3, 8))
    ]
    embedded = joint_embedding(kernels, n_components=6, steps=steps)
    left, values, _ = np.linalg.svd(stacked(kernels, steps), full_matrices=False)
    np.testing.assert_allclose(embedded.singular_values, values[:6], rtol=1e-10)
    ours = embedded.vectors.reshape(-1, 6)
    agreement = np.abs(ours.T @ left[:, :6])
    np.testing.assert_allclose(agreement, np.eye(6), atol=1e-7)
    signs = np.sign(np.sum(ours * left[:, :6], axis=0))
    np.testing.assert_allclose(ours, signs * left[:, :6], atol=1e-7)
    assert embedded.residual <= 1e-9


def test_the_first_vector_is_positive_and_nearly_constant():
    kernels = [multislice_kernel(trace) for trace in traces(5, 20, (4, 4, 4))]
    first, second = joint_embedding(kernels).vectors.reshape(-1, 2).T
    assert (first > 0).all()
    assert first.std() / first.mean() < 0.3
    assert second.std() > 10 * abs(second.mean())


def test_a_collapsed_network_is_embedded_without_fuss():
    kernels = [multislice_kernel(np.zeros((20, 30, 4)))] * 3
    embedded = joint_embedding(kernels, n_components=4)
    vectors = embedded.vectors
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-12)
    np.testing.assert_allclose(vectors[..., 0], 1 / np.sqrt(1800), rtol=1e-8)
    products = vectors.reshape(-1, 4).T @ vectors.reshape(-1, 4)
    np.testing.assert_allclose(products, np.eye(4), atol=1e-8)


def test_vectors_of_vanishing_singular_values_are_zero():
    kernel = multislice_kernel(np.zeros((1, 5, 1)))
    embedded = joint_embedding([kernel], n_components=9)
    assert embedded.singular_values.shape == (5,)
    assert (embedded.vectors[..., 1:] == 0).all()


def test_the_embedding_can_be_repeated():
    kernels = [multislice_kernel(trace) for trace in traces(10, 40, (3, 3))]
    first, again = joint_embedding(kernels, seed=3), joint_embedding(kernels, seed=3)
    other = joint_embedding(kernels, seed=4)
    np.testing.assert_array_equal(first.vectors, again.vectors)
    np.testing.assert_allclose(first.vectors, other.vectors, atol=1e-8)


@pytest.mark.parametrize("option", ["n_components", "steps"])
def test_impossible_requests_are_refused(option):
    with pytest.raises(ValueError, match=f"{option} must be at least 1, got 0"):
        joint_embedding([multislice_kernel(np.zeros((2, 3, 1)))], **{option: 0})


def test_kernels_of_other_observations_are_refused():
    kernels = [multislice_kernel(np.zeros(shape)) for shape in ((2, 3, 1), (2, 4, 1))]
    with pytest.raises(ValueError, match="same slices and observations"):
        joint_embedding(kernels)
