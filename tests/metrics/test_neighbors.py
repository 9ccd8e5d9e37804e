import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif

from unbraid.metrics._neighbors import neighbor_information, without_ties


@pytest.mark.parametrize("neighbors", [1, 3, 10])
def test_equals_scikit_learns_estimator(neighbors):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 7, 800)
    latent = 100.0 + labels + generator.standard_normal(800)
    expected = mutual_info_classif(
        latent[:, None], labels, n_neighbors=neighbors, random_state=0
    )[0]
    broken = without_ties(latent[:, None], generator)[:, 0]
    information = neighbor_information(broken, labels, neighbors=neighbors)
    assert information == pytest.approx(expected, abs=1e-4)


def test_rare_classes_use_the_neighbors_they_have_and_single_rows_none():
    generator = np.random.default_rng(0)
    labels = np.concatenate([generator.integers(0, 3, 200), [3, 3, 3, 4]])
    latent = labels + 0.3 * generator.standard_normal(204)
    terms = []
    for i in range(203):
        own = np.sort(np.abs(latent - latent[i])[labels == labels[i]])
        k = min(10, len(own) - 1)
        closer = (np.abs(latent - latent[i])[:203] < own[k]).sum()
        terms.append(digamma(k) - digamma(len(own)) - digamma(closer))
    expected = digamma(203) + np.mean(terms)
    information = neighbor_information(latent, labels, neighbors=10)
    assert information == pytest.approx(expected, abs=1e-12)


def test_estimates_the_information_of_shifted_normals():
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 20_000)
    latent = 2.0 * labels + generator.standard_normal(20_000)
    grid = np.linspace(-8, 10, 20_001)
    density = [np.exp(-((grid - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in (0, 2)]
    mixture = (density[0] + density[1]) / 2
    exact = np.trapezoid(sum(0.5 * d * np.log(d / mixture) for d in density), grid)
    assert neighbor_information(latent, labels) == pytest.approx(exact, abs=0.01)


def test_classes_of_single_rows_leave_nothing_to_estimate_from():
    assert neighbor_information(np.arange(3.0), np.arange(3)) == 0.0
