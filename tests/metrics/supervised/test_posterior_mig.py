"""MIG with the estimator of its definition, which draws latents from posteriors."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import norm

from unbraid.metrics import Factors, mutual_information_gap

RNG = np.random.default_rng(0)


def test_information_is_that_of_a_mixture_of_two_normals():
    """One bit through a normal channel: the integral of the density by quadrature."""
    deviation, n_rows = 0.7, 8_000
    label = np.arange(n_rows) % 2
    other = (np.arange(n_rows) // 2) % 2
    codes = np.stack([2.0 * label - 1.0, np.zeros(n_rows)], axis=1)
    logs = np.full(codes.shape, 2 * np.log(deviation))

    def integrand(z):
        each = norm.pdf(z, [-1.0, 1.0], deviation)
        mixture = each.mean()
        return float(np.mean(each * np.log(each / mixture)))

    exact = quad(integrand, -6, 6)[0]
    score = mutual_information_gap(
        codes,
        np.stack([label, other], axis=1),
        estimator="posterior",
        log_variances=logs,
    )
    # Three standard errors of a mean over 8,000 draws.
    assert score.matrix[0, 0] == pytest.approx(exact, abs=0.012)
    assert score.matrix[:, 1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert score.per_factor["factor_0"] == pytest.approx(exact / np.log(2), abs=0.018)
    assert score.variant == "posterior"


def test_information_of_a_latent_with_many_means_is_that_of_the_integral():
    """Posteriors of different widths within a class; integrals by quadrature."""
    means = np.array([-2.0, 0.3, 0.5, 1.4])
    deviations = np.array([0.3, 1.0, 0.5, 0.2])
    classes = np.array([0, 0, 1, 1])
    repeats = np.tile(np.arange(4), 1_500)
    codes = np.stack([means[repeats], np.zeros(6_000)], axis=1)
    logs = np.stack([2 * np.log(deviations[repeats]), np.zeros(6_000)], axis=1)

    def integrand(z):
        each = norm.pdf(z, means, deviations)
        by_class = np.array([each[classes == c].mean() for c in (0, 1)])
        seen = by_class > 0
        ratio = np.log(by_class[seen] / by_class.mean())
        return float((by_class[seen] * ratio).sum() / 2)

    exact = quad(integrand, -8, 8, points=[-2, 0.3, 1.4], limit=200)[0]
    score = mutual_information_gap(
        codes, classes[repeats], estimator="posterior", log_variances=logs
    )
    assert 0.2 < exact < 0.5
    assert score.matrix[0, 0] == pytest.approx(exact, abs=0.02)


def slow_information(drawn, codes, logs, labels):
    """Transcribe the definition (Chen et al. 2018, Eq. 5), row by row."""
    total, known = 0.0, [n for n in range(len(codes)) if labels[n] >= 0]
    for n in known:
        densities = {
            m: norm.logpdf(drawn[n], codes[m], np.exp(0.5 * logs[m])) for m in known
        }
        same = [densities[m] for m in known if labels[m] == labels[n]]
        within = logsumexp(same) - np.log(len(same))
        overall = logsumexp(list(densities.values())) - np.log(len(known))
        total += within - overall
    return total / len(known)


def test_the_matrix_is_that_of_a_slow_transcription(monkeypatch):
    n = 60
    values = RNG.integers(0, (4, 3), size=(n, 2)).astype(float)
    codes = values @ RNG.normal(size=(2, 3)) + 0.3 * RNG.normal(size=(n, 3))
    logs = RNG.normal(-1.5, 0.5, size=codes.shape)
    values[::7, 1] = np.nan
    factors = Factors(values)
    noise = RNG.standard_normal(codes.shape)

    class Drawn:
        def standard_normal(self, shape):
            assert shape == codes.shape
            return noise

    module = "unbraid.metrics.supervised._posterior_information.numpy_generator"
    monkeypatch.setattr(module, lambda *_: Drawn())
    score = mutual_information_gap(
        codes, factors, estimator="posterior", log_variances=logs
    )
    drawn = codes + np.exp(0.5 * logs) * noise
    expected = [
        [
            max(0.0, slow_information(drawn[:, j], codes[:, j], logs[:, j], labels))
            for labels in factors.labels.T
        ]
        for j in range(3)
    ]
    np.testing.assert_allclose(score.matrix, expected, rtol=1e-10)


def test_narrow_posteriors_of_one_latent_per_factor_have_a_gap_of_one():
    grid = np.indices((4, 3)).reshape(2, -1).T.repeat(10, axis=0)
    for width in (-8.0, -1e5):
        score = mutual_information_gap(
            grid, grid, estimator="posterior", log_variances=np.full(grid.shape, width)
        )
        assert score == pytest.approx(1.0, abs=1e-9)
    wide = mutual_information_gap(
        grid, grid, estimator="posterior", log_variances=np.full(grid.shape, 8.0)
    )
    assert wide < 0.05


def test_rows_are_drawn_by_the_seed_and_what_is_missing_is_named():
    grid = np.indices((4, 3)).reshape(2, -1).T.repeat(10, axis=0)
    options = {"estimator": "posterior", "log_variances": np.zeros(grid.shape)}
    scores = [
        mutual_information_gap(grid, grid, **options, n_rows=60, seed=seed)
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]
    assert scores[2].seed == 1
    with pytest.raises(ValueError, match="needs log_variances"):
        mutual_information_gap(grid, grid, estimator="posterior")
    with pytest.raises(ValueError, match="fewer than two values in the 2 rows"):
        mutual_information_gap(grid, grid, **options, n_rows=2, seed=1)
    with pytest.raises(ValueError, match="estimator must be"):
        mutual_information_gap(grid, grid, estimator="exact")
