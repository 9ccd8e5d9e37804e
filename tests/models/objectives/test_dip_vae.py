import numpy as np
import pytest
import torch
from parameter_errors import refusal_of

from unbraid.models import DiagonalGaussian, Linear
from unbraid.models.objectives import DIPVAE, VAE


@pytest.mark.parametrize("kind", ["i", "ii"])
def test_penalty_is_the_distance_of_numpys_covariance_from_the_identity(
    compute, posterior, kind
):
    means, variances = (
        each.detach().numpy() for each in (posterior.mean, posterior.variance)
    )
    covariance = np.cov(means, rowvar=False, bias=True)
    if kind == "ii":
        covariance += np.diag(variances.mean(axis=0))
    off = covariance - np.diag(np.diag(covariance))
    loss = compute(DIPVAE(kind=kind, lambda_off_diagonal=3.0, lambda_diagonal=5.0))
    assert loss.terms["off_diagonal"].item() == pytest.approx((off**2).sum())
    on = ((np.diag(covariance) - 1) ** 2).sum()
    assert loss.terms["diagonal"].item() == pytest.approx(on)
    expected = compute(VAE()).total.item() + 3.0 * (off**2).sum() + 5.0 * on
    assert loss.total.item() == pytest.approx(expected)


def test_kind_ii_adds_no_variance_off_the_diagonal(compute):
    first, second = compute(DIPVAE(kind="i")), compute(DIPVAE(kind="ii"))
    assert first.terms["off_diagonal"] == second.terms["off_diagonal"]
    assert first.terms["diagonal"] != second.terms["diagonal"]


def test_codes_like_the_prior_cost_nothing():
    means = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert DIPVAE(kind="i")._distances(DiagonalGaussian(means, means)) == (0.0, 0.0)
    half = DiagonalGaussian(0.5**0.5 * means, torch.full((4, 2), 0.5).log())
    off_diagonal, diagonal = DIPVAE(kind="ii")._distances(half)
    assert off_diagonal.item() == pytest.approx(0.0, abs=1e-12)
    assert diagonal.item() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("kind", "ratio"), [("i", 10.0), ("ii", 1.0)])
def test_weight_of_the_diagonal_is_that_of_the_study_when_not_given(
    compute, kind, ratio
):
    given = DIPVAE(kind=kind, lambda_off_diagonal=4.0, lambda_diagonal=4.0 * ratio)
    assert compute(DIPVAE(kind=kind, lambda_off_diagonal=4.0)).total == (
        compute(given).total
    )


def test_weight_of_the_diagonal_follows_a_schedule_of_the_other(compute):
    rising = DIPVAE(kind="i", lambda_off_diagonal=Linear(start=0, end=10, steps=10))
    fixed = DIPVAE(kind="i", lambda_off_diagonal=5.0)
    assert compute(rising, step=5).total == compute(fixed).total
    assert compute(rising, step=0).total == compute(VAE()).total


@pytest.mark.parametrize(
    "options",
    [{"kind": "iii"}, {"lambda_off_diagonal": -1.0}, {"lambda_diagonal": -1.0}],
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        DIPVAE(**options)
