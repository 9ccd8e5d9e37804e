import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import ks_2samp, uniform

from unbraid.geometry import EntanglingMap, random_rotation
from unbraid_claims import energy_test
from unbraid_claims.claims.locatello_impossibility import measure_maps


def entangling(seed):
    rotation = random_rotation(8, seed=seed)
    return EntanglingMap(marginals=[uniform()] * 8, rotation=rotation)


class Correlating:
    """Keeps all marginals uniform and mixes all latents, but makes them dependent."""

    def __init__(self, seed):
        self.inner = entangling(seed)
        root = np.linalg.cholesky(np.full((8, 8), 0.5) + 0.5 * np.eye(8))
        self.mixing = root @ self.inner.rotation

    def __call__(self, codes):
        return ndtr(ndtri(codes) @ self.mixing.T)

    def jacobian(self, codes):
        return self.inner.jacobian(codes)


class Renaming:
    """Keeps the joint law and entangles nothing."""

    def __init__(self, order):
        self.order = order

    def __call__(self, codes):
        return codes[:, self.order]

    def jacobian(self, codes):
        return np.repeat(np.eye(8)[self.order][None], len(codes), axis=0)


def verdicts(maps):
    checks = measure_maps(maps, n_rows=3000, n_compared=600)
    names = "law", "control", "slopes", "change", "family", "perfect", "entangled"
    return {name: one.verdict for name, one in zip(names, checks, strict=True)}


def test_maps_of_the_theorem_pass_every_check():
    found = verdicts([entangling(0), entangling(1), entangling(2)])
    assert set(found.values()) == {"holds"}, found


def test_a_map_that_keeps_marginals_but_not_the_joint_law_is_found_out():
    maps = [Correlating(0), Correlating(1)]
    codes = np.random.default_rng(0).random((3000, 8))
    for column in maps[0](codes).T:
        assert ks_2samp(column, codes[:, 0]).pvalue > 0.001
    found = verdicts(maps)
    assert found["law"] == "does not hold"
    assert found["control"] == "holds"


def test_maps_that_do_not_entangle_are_found_out():
    found = verdicts([Renaming(np.arange(8)), Renaming(np.arange(8)[::-1])])
    assert found["law"] == "holds"
    assert found["slopes"] == found["change"] == "does not hold"


def test_one_map_twice_is_no_family():
    assert verdicts([entangling(0), entangling(0)])["family"] == "does not hold"


def test_p_values_are_uniform_for_samples_of_one_law():
    generator = np.random.default_rng(0)
    found = [
        energy_test(*generator.random((2, 40, 3)), n_permutations=99, seed=seed)
        for seed in range(400)
    ]
    assert 0.02 < np.mean(np.array(found) <= 0.05) < 0.09
    assert 0.42 < np.mean(np.array(found) <= 0.5) < 0.58


def test_the_energy_distance_of_the_observed_division_is_that_of_its_definition():
    # One permutation p-value of a tiny sample, counted by hand over all divisions.
    a, b = np.array([[0.0], [1.0]]), np.array([[2.0], [4.0]])
    # Of the three divisions into pairs, only the observed one separates low from high.
    many = energy_test(a, b, n_permutations=6000)
    assert many == pytest.approx(1 / 3, abs=0.03)


def test_samples_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        energy_test(np.zeros((4, 2)), np.zeros((5, 2)))
