import numpy as np
import pytest

from unbraid.geometry import joint_diagonalizers


def conjugated(rotations, diagonals):
    return np.einsum("nki,nrk,nkj->nrij", rotations, diagonals, rotations)


def off_diagonal(rotations, matrices):
    turned = rotations[:, None] @ matrices @ np.swapaxes(rotations, 1, 2)[:, None]
    turned = turned.copy()
    places = np.arange(turned.shape[2])
    turned[:, :, places, places] = 0
    return np.square(turned).sum(axis=(1, 2, 3))


@pytest.mark.parametrize(("n_matrices", "k"), [(1, 4), (2, 3), (5, 6)])
def test_an_exact_joint_diagonalizer_is_found(n_matrices, k):
    generator = np.random.default_rng(0)
    rotations = np.linalg.qr(generator.normal(size=(200, k, k)))[0]
    matrices = conjugated(rotations, generator.normal(size=(200, n_matrices, k)))
    found = joint_diagonalizers(matrices)
    assert off_diagonal(found, matrices).max() < 1e-20
    assert np.abs(found @ np.swapaxes(found, 1, 2) - np.eye(k)).max() < 1e-10


def test_repeated_eigenvalues_do_no_harm():
    generator = np.random.default_rng(1)
    rotations = np.linalg.qr(generator.normal(size=(50, 4, 4)))[0]
    matrices = conjugated(
        rotations, np.tile([[1.0, 1, -1, -1], [2, 2, 0, 0]], (50, 1, 1))
    )
    assert off_diagonal(joint_diagonalizers(matrices), matrices).max() < 1e-20


def test_noisy_sets_end_at_a_minimum():
    generator = np.random.default_rng(2)
    rotations = np.linalg.qr(generator.normal(size=(30, 3, 3)))[0]
    matrices = conjugated(rotations, generator.normal(size=(30, 3, 3)))
    noise = 0.05 * generator.normal(size=matrices.shape)
    matrices += noise + np.swapaxes(noise, 2, 3)
    found = joint_diagonalizers(matrices)
    least = off_diagonal(found, matrices)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        for angle in (-0.02, 0.02):
            turn = np.eye(3)
            turn[first, first] = turn[second, second] = np.cos(angle)
            turn[first, second], turn[second, first] = np.sin(angle), -np.sin(angle)
            assert (off_diagonal(turn @ found, matrices) > least - 1e-9).all()


def test_no_matrices_are_diagonal_already():
    assert (joint_diagonalizers(np.empty((2, 0, 3, 3))) == np.eye(3)).all()
