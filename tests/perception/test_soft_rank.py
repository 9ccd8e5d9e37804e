"""Soft ranks against the definition: a projection onto the permutahedron."""

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import rankdata, spearmanr

from unbraid.perception import soft_rank, soft_rank_correlation


def numbers(n, seed=0):
    return np.random.Generator(np.random.PCG64(seed)).normal(size=n)


def projected(values):
    """The nearest mean of all orders of 1 to n, as a quadratic programme."""
    corners = np.array(list(permutations(range(1, len(values) + 1))), dtype=float)

    def miss(shares):
        return 0.5 * np.sum((shares @ corners - values) ** 2)

    def slope(shares):
        return corners @ (shares @ corners - values)

    start = np.full(len(corners), 1 / len(corners))
    solved = minimize(
        miss,
        start,
        jac=slope,
        bounds=[(0, 1)] * len(corners),
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return solved.x @ corners


def pooled(values):
    """Pool adjacent violators, as it is told in textbooks, with its block means."""
    order = np.argsort(-values, kind="stable")
    ranks = np.arange(len(values), 0, -1)
    blocks = []  # [sum, count], falling means
    for over in values[order] - ranks:
        blocks.append([over, 1])
        while len(blocks) > 1 and (
            blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]
        ):
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    shift = np.concatenate([np.full(count, total / count) for total, count in blocks])
    soft = np.empty(len(values))
    soft[order] = values[order] - shift
    return soft


@pytest.mark.parametrize("regularization", [0.05, 0.5, 2.0, 20.0])
def test_soft_ranks_are_the_projection_onto_the_permutahedron(regularization):
    values = numbers(4)
    soft = soft_rank(torch.from_numpy(values), regularization=regularization)
    expected = projected(values / regularization)
    np.testing.assert_allclose(soft.numpy(), expected, atol=2e-4)


@pytest.mark.parametrize("regularization", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_soft_ranks_are_those_of_pooling_violators(n, regularization):
    values = numbers(n, seed=n)
    soft = soft_rank(torch.from_numpy(values), regularization=regularization)
    np.testing.assert_allclose(soft.numpy(), pooled(values / regularization))


def test_little_regularization_gives_ranks_and_much_gives_the_middle():
    values = numbers(50)
    soft = soft_rank(torch.from_numpy(values), regularization=1e-6)
    np.testing.assert_allclose(soft.numpy(), rankdata(values))
    flat = soft_rank(torch.from_numpy(values), regularization=1e6)
    np.testing.assert_allclose(flat.numpy(), 25.5, atol=1e-4)
    assert flat.sum().item() == pytest.approx(50 * 51 / 2)


def test_equal_values_share_a_rank():
    soft = soft_rank(torch.tensor([1.0, 0.0, 1.0, 3.0]), regularization=1e-3)
    torch.testing.assert_close(soft, torch.tensor([2.5, 1.0, 2.5, 4.0]))


def test_rows_are_ranked_one_by_one():
    values = torch.from_numpy(numbers(12)).reshape(2, 2, 3)
    soft = soft_rank(values)
    torch.testing.assert_close(soft[1, 0], soft_rank(values[1, 0]))


@pytest.mark.parametrize("regularization", [0.1, 0.7, 5.0])
def test_the_gradient_is_that_of_finite_differences(regularization):
    values = torch.from_numpy(numbers(9)).requires_grad_()
    weights = torch.from_numpy(numbers(9, seed=1))

    def weighted(values):
        return soft_rank(values, regularization=regularization) @ weights

    assert torch.autograd.gradcheck(weighted, values, eps=1e-7, atol=1e-5)
    others = torch.from_numpy(numbers(9, seed=2))

    def correlation(values):
        return soft_rank_correlation(values, others, regularization=regularization)

    assert torch.autograd.gradcheck(correlation, values, eps=1e-7, atol=1e-5)


def test_the_correlation_becomes_spearmans_with_ties():
    values = torch.from_numpy(numbers(100))
    others = torch.from_numpy(numbers(100, seed=1).round())
    soft = soft_rank_correlation(values, others, regularization=1e-6)
    assert soft.item() == pytest.approx(spearmanr(values, others).statistic)


def test_constant_values_have_no_correlation_and_a_finite_gradient():
    values = torch.ones(5, requires_grad=True)
    correlation = soft_rank_correlation(values, torch.arange(5.0))
    correlation.backward()
    assert correlation.item() == 0.0
    assert values.grad.isfinite().all()


@pytest.mark.parametrize("regularization", [0.0, -1.0, float("nan")])
def test_a_regularization_that_is_not_above_zero_is_refused(regularization):
    with pytest.raises(ValueError, match="regularization must be"):
        soft_rank(torch.zeros(3), regularization=regularization)
