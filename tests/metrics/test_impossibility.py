"""Without supervision, scores cannot be told from the distribution of the latents.

The map of Theorem 1 of Locatello et al. (2019) keeps the distribution of independent
latents, and so of everything made from them, but takes a perfect representation to one
that the scores put near chance.
"""

import numpy as np
import pytest
from scipy.stats import beta, expon, kstest, laplace, norm, uniform

from unbraid.geometry import EntanglingMap, dense_rotation
from unbraid.metrics import evaluate

N_ROWS = 6000
MARGINALS = [uniform, norm, expon, laplace, beta(2, 5), norm(7, 3), uniform, expon]


def drawn(marginals):
    generator = np.random.default_rng(0)
    columns = [m.rvs(size=N_ROWS, random_state=generator) for m in marginals]
    return np.column_stack(columns)


@pytest.mark.parametrize("n", [2, 3, 5, 6, 8, 10])
def test_the_rotation_is_orthogonal_and_mixes_every_latent_into_every_other(n):
    rotation = dense_rotation(n)
    assert rotation @ rotation.T == pytest.approx(np.eye(n), abs=1e-12)
    assert np.abs(rotation).min() > 0.2


def test_the_map_keeps_every_marginal_and_independence():
    latents = drawn(MARGINALS)
    mixed = EntanglingMap(marginals=MARGINALS)(latents)
    for column, marginal in zip(mixed.T, MARGINALS, strict=True):
        assert kstest(column, marginal.cdf).pvalue > 0.01
    # Of squares too: rotated uniform latents are uncorrelated, but not independent.
    for power in (1, 2):
        ranks = mixed.argsort(axis=0).argsort(axis=0) / N_ROWS - 0.5
        correlations = np.corrcoef(ranks**power, rowvar=False) - np.eye(8)
        # Four standard errors of the correlation of independent columns.
        assert np.abs(correlations).max() < 4 / np.sqrt(N_ROWS)


def test_the_map_is_a_bijection():
    latents = drawn(MARGINALS)
    entangle = EntanglingMap(marginals=MARGINALS)
    mixed = entangle(latents)
    assert np.abs(mixed - latents).mean() > 0.3
    back = entangle.inverse(mixed)
    assert back == pytest.approx(latents, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "above_chance"),
    # The entries of the last one have the same size, so that no latent is preferred.
    [(5, 0.06), (10, 0.03), (8, 0.005)],
)
def test_the_map_takes_perfect_scores_to_chance(n, above_chance):
    marginals = [uniform] * n
    latents = drawn(marginals)
    mixed = EntanglingMap(marginals=marginals)(latents)
    before, after = (
        evaluate(codes, latents, metrics="mig,dci", intervals=False, levels=levels)
        for codes, levels in ((latents, False), (mixed, True))
    )
    for name in ("mig", "dci_disentanglement", "dci_completeness"):
        assert before[name] > 0.98
        assert after[name] < after[name].chance + above_chance
    # All is still there, just in other latents.
    assert after["dci_informativeness"] > 0.85
