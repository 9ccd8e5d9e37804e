import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from sklearn.svm import LinearSVC

from unbraid.metrics.supervised._one_latent_svm import fit_one_latent


def liblinear(latent, labels, cost):
    machine = LinearSVC(
        C=cost, class_weight="balanced", dual=False, tol=1e-9, max_iter=10_000
    )
    return machine.fit(latent[:, None], labels)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_finds_the_optimum_of_liblinear(name, space):
    codes, factors = sampled(name, SPACES[space], 3000)
    for latent, labels in zip(codes.T[[0, 2, 9]], factors.T[[0, 1, 4]], strict=True):
        machine, expected = (
            fit_one_latent(latent, labels, cost=0.01),
            liblinear(latent, labels, 0.01),
        )
        assert machine.slopes == pytest.approx(expected.coef_[:, 0], abs=1e-5)
        assert machine.intercepts == pytest.approx(expected.intercept_, abs=1e-5)
        assert (machine.predict(latent) == expected.predict(latent[:, None])).all()


@pytest.mark.parametrize("cost", [1e-4, 1.0, 100.0])
def test_two_unbalanced_classes_are_one_problem(cost):
    generator = np.random.default_rng(0)
    labels = (generator.random(500) < 0.1).astype(int)
    latent = 3.0 + labels + generator.standard_normal(500)
    machine, expected = (
        fit_one_latent(latent, labels, cost=cost),
        liblinear(latent, labels, cost),
    )
    assert machine.slopes[1] == pytest.approx(expected.coef_[0, 0], abs=1e-6)
    assert machine.intercepts[1] == pytest.approx(expected.intercept_[0], abs=1e-6)
    assert (machine.predict(latent) == expected.predict(latent[:, None])).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_converges_at_any_scale_and_shift(scale):
    generator = np.random.default_rng(1)
    labels = generator.integers(0, 5, 1000)
    latent = scale * (10.0 + labels + generator.standard_normal(1000))
    machine = fit_one_latent(latent, labels, cost=1.0)
    for k in range(5):
        sign = np.where(labels == k, 1.0, -1.0)
        weight = np.where(labels == k, 1000 / (5 * (labels == k).sum()), 1.0)
        line = machine.slopes[k] * latent + machine.intercepts[k]
        slack = weight * np.maximum(0.0, 1 - sign * line)
        pull = machine.intercepts[k] - 2 * (sign * slack).sum()
        assert pull == pytest.approx(0.0, abs=1e-6 * slack.sum())
        pull = machine.slopes[k] - 2 * (sign * slack * latent).sum()
        assert pull == pytest.approx(0.0, abs=1e-6 * np.abs(slack * latent).sum())


def test_a_single_class_is_always_predicted():
    machine = fit_one_latent(np.arange(3.0), np.array([7, 7, 7]), cost=0.01)
    assert (machine.predict(np.array([-100.0, 100.0])) == 7).all()


def test_a_constant_latent_predicts_one_class():
    labels = np.array([0, 1, 1, 2, 2, 2])
    machine = fit_one_latent(np.zeros(6), labels, cost=0.01)
    assert len(set(machine.predict(np.zeros(6)))) == 1
