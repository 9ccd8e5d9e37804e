import numpy as np
import pytest
from scipy.stats import beta, expon, kstest, laplace, norm, uniform

from unbraid.geometry import (
    EmpiricalMarginal,
    EntanglingMap,
    dense_rotation,
    empirical_marginals,
    random_rotation,
)
from unbraid_claims import energy_test

MARGINALS = (uniform(), norm(7, 3), expon(), laplace(), beta(2, 5))


def drawn(n=400):
    generator = np.random.default_rng(0)
    return np.stack([m.rvs(n, random_state=generator) for m in MARGINALS], axis=1)


def by_the_proof(row, rotation):
    """Appendix A of the paper for one row, step by step."""
    uniform_row = [m.cdf(value) for m, value in zip(MARGINALS, row, strict=True)]
    normal_row = [norm.ppf(value) for value in uniform_row]
    rotated = [
        sum(rotation[i, j] * normal_row[j] for j in range(len(row)))
        for i in range(len(row))
    ]
    back = [norm.cdf(value) for value in rotated]
    return [m.ppf(value) for m, value in zip(MARGINALS, back, strict=True)]


def test_the_map_is_that_of_the_proof():
    codes = drawn(20)
    rotation = dense_rotation(5)
    mixed = EntanglingMap(marginals=MARGINALS)(codes)
    expected = [by_the_proof(row, rotation) for row in codes]
    np.testing.assert_allclose(mixed, expected)


def test_the_inverse_undoes_the_map_and_marginals_are_kept():
    codes = drawn(4000)
    entangle = EntanglingMap(marginals=MARGINALS)
    mixed = entangle(codes)
    np.testing.assert_allclose(entangle.inverse(mixed), codes, rtol=1e-6, atol=1e-9)
    for column, marginal in zip(mixed.T, MARGINALS, strict=True):
        assert kstest(column, marginal.cdf).pvalue > 0.01


def test_the_jacobian_is_that_of_finite_differences_and_has_no_zeros():
    codes = drawn(30)
    entangle = EntanglingMap(marginals=MARGINALS)
    found = entangle.jacobian(codes)
    for column in range(5):
        step = np.zeros(5)
        step[column] = 1e-6
        slope = (entangle(codes + step) - entangle(codes - step)) / 2e-6
        np.testing.assert_allclose(found[:, :, column], slope, rtol=1e-3, atol=1e-6)
    assert np.abs(found).min() > 0
    # It keeps volumes as far as the density asks for: p(f(u)) |det| = p(u).
    density = np.prod([m.pdf(c) for m, c in zip(MARGINALS, codes.T, strict=True)], 0)
    new = entangle(codes).T
    mixed = np.prod([m.pdf(c) for m, c in zip(MARGINALS, new, strict=True)], 0)
    np.testing.assert_allclose(mixed * np.abs(np.linalg.det(found)), density)


def test_members_of_the_family_entangle_and_keep_the_joint_law():
    p_values = []
    for seed in range(60):
        rotation = random_rotation(5, seed=seed)
        entangle = EntanglingMap(marginals=MARGINALS, rotation=rotation)
        generator = np.random.default_rng(seed)
        plain, other = (
            np.stack([m.rvs(200, random_state=generator) for m in MARGINALS], axis=1)
            for _ in range(2)
        )
        mixed = entangle(other)
        scale = plain.std(axis=0)
        p_values.append(energy_test(plain / scale, mixed / scale))
        assert (entangle.jacobian(plain) != 0).all()
        np.testing.assert_allclose(entangle.inverse(mixed), other, rtol=1e-6, atol=1e-8)
    # A single p-value may be small by chance; under one law they are uniform.
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_the_family_has_as_many_members_as_seeds():
    rotations = [random_rotation(4, seed=seed) for seed in range(50)]
    for rotation in rotations:
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(4), atol=1e-12)
    distances = [
        np.abs(a - b).max() for i, a in enumerate(rotations) for b in rotations[:i]
    ]
    assert min(distances) > 0.05
    np.testing.assert_array_equal(rotations[3], random_rotation(4, seed=3))


def test_random_rotations_are_uniform_over_all_orthogonal_matrices():
    first = np.array([random_rotation(3, seed=seed) for seed in range(2000)])
    assert np.abs(first.mean(axis=0)).max() < 4 / np.sqrt(3 * 2000)
    # An entry of a uniform orthogonal 3 x 3 matrix is uniform from -1 to 1.
    for row in range(3):
        for column in range(3):
            assert kstest(first[:, row, column], uniform(-1, 2).cdf).pvalue > 0.001
    assert 0.45 < (np.linalg.det(first) > 0).mean() < 0.55


@pytest.mark.parametrize(
    "rotation",
    [
        np.eye(4),
        -np.eye(4),
        np.eye(4)[[2, 0, 3, 1]],
        np.eye(4)[[1, 0, 3, 2]] * [[1], [-1], [1], [-1]],
        # Rotations by right angles, whose cosine is not exactly zero.
        np.kron(np.eye(2), [[np.cos(np.pi / 2), 1], [-1, np.cos(np.pi / 2)]]),
        # Two pairs of latents, each mixed with itself alone.
        np.kron(np.eye(2), dense_rotation(2)),
        # One pair does not mix: a single zero, and all else dense.
        dense_rotation(4) @ np.kron(np.eye(2), dense_rotation(2)),
    ],
    ids=["identity", "signs", "permutation", "signed", "right angle", "blocks", "some"],
)
def test_rotations_that_do_not_entangle_are_refused(rotation):
    assert np.allclose(rotation @ rotation.T, np.eye(4))
    with pytest.raises(ValueError, match=r"must not contain zeros.*would not depend"):
        EntanglingMap(marginals=[norm()] * 4, rotation=rotation)


def test_codes_alone_are_enough():
    codes = drawn(4000)
    entangle = EntanglingMap(marginals=empirical_marginals(codes))
    mixed = entangle(codes)
    for old, new in zip(codes.T, mixed.T, strict=True):
        assert kstest(old, new).pvalue > 0.01
    given = EntanglingMap(marginals=MARGINALS)(codes)
    assert np.corrcoef(mixed.ravel(), given.ravel())[0, 1] > 0.99
    inside = np.abs(codes - np.median(codes, axis=0)) < codes.std(axis=0)
    chosen = codes[inside.all(axis=1)]
    assert np.abs(entangle.jacobian(chosen)).min() > 0


def test_values_at_the_ends_of_the_support_stay_finite():
    entangle = EntanglingMap(marginals=(uniform(), norm()))
    mixed = entangle([[0.0, 50.0], [1.0, -50.0]])
    assert np.isfinite(mixed).all()


def test_empirical_shares_count_equal_values_together():
    marginal = EmpiricalMarginal([2.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(marginal.cdf(np.array([0.0, 2.0])), [0.375, 0.875])
    np.testing.assert_allclose(marginal.ppf(np.array([0.0, 0.625, 1.0])), [0, 1, 2])
    np.testing.assert_allclose(marginal.pdf(np.array([0.5])), [0.25])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EntanglingMap(marginals=(norm(),)), "at least two marginals"),
        (
            lambda: EntanglingMap(marginals=(norm(), norm()), rotation=np.ones((2, 2))),
            "not orthogonal",
        ),
        (
            lambda: EntanglingMap(marginals=(norm(), norm()), rotation=np.eye(3)),
            "orthogonal matrix of shape",
        ),
        (
            lambda: EntanglingMap(marginals=(norm(), norm()))(np.zeros(3)),
            r"codes must have shape \(n_rows, 2\), got \(3,\)",
        ),
        (
            lambda: EntanglingMap(marginals=(norm(), norm()))([[np.nan, 0.0]]),
            r"codes must be finite, but codes\[0, 0\] is nan",
        ),
        (lambda: EmpiricalMarginal([1.0, 1.0]), "two different values"),
        (lambda: EmpiricalMarginal([1.0, np.inf]), "values must be finite"),
        (lambda: empirical_marginals(np.zeros(3)), "codes"),
        (lambda: dense_rotation(1), "at least 2"),
        (lambda: random_rotation(1), "at least 2"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
