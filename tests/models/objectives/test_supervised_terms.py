import math

import numpy as np
import pytest
import torch

from unbraid.models.objectives._supervised_terms import (
    CrossEntropy,
    Embedding,
    ScaledSquares,
    SigmoidSquares,
    StrayCovariance,
)

CODES = torch.tensor([[0.5, -1.0, 2.0], [0.0, 1.5, -3.0]], dtype=torch.float64)
LABELS = torch.tensor([[1, 2], [0, 3]])
SIZES = (2, 4)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_scaled_squares_are_those_of_the_hand():
    term = ScaledSquares().double()
    errors = (0.5 - 1) ** 2 + (-1.0 - 2) ** 2 + 0.0 + (1.5 - 3) ** 2
    assert term(CODES, LABELS).item() == pytest.approx(errors / 2)
    with torch.no_grad():
        term.scale.fill_(2.0)
    errors = (1.0 - 1) ** 2 + (-2.0 - 2) ** 2 + 0.0 + (3.0 - 3) ** 2
    assert term(CODES, LABELS).item() == pytest.approx(errors / 2)


def test_sigmoid_squares_compare_an_image_with_its_own_label():
    errors = (sigmoid(0.5) - 1 / 2) ** 2 + (sigmoid(-1.0) - 2 / 4) ** 2
    errors += (sigmoid(0.0) - 0.0) ** 2 + (sigmoid(1.5) - 3 / 4) ** 2
    assert SigmoidSquares(SIZES)(CODES, LABELS).item() == pytest.approx(errors / 2)


def test_cross_entropy_is_that_of_the_hand():
    total = 0.0
    for row in range(2):
        for k in range(2):
            share = float(LABELS[row, k]) / SIZES[k]
            chance = sigmoid(float(CODES[row, k]))
            total -= share * math.log(chance) + (1 - share) * math.log(1 - chance)
    assert CrossEntropy(SIZES)(CODES, LABELS).item() == pytest.approx(total / 2)


def test_stray_covariance_counts_all_latents_but_a_factors_own():
    generator = torch.Generator().manual_seed(0)
    codes = torch.randn(50, 3, generator=generator, dtype=torch.float64)
    labels = torch.randint(5, (50, 2), generator=generator)
    joint = np.cov(codes.numpy().T, labels.numpy().T, bias=True)[:3, 3:]
    expected = sum(joint[i, k] ** 2 for i in range(3) for k in range(2) if i != k)
    assert StrayCovariance()(codes, labels).item() == pytest.approx(expected)


def test_embedding_is_the_cross_entropy_of_the_places():
    term = Embedding(SIZES, sigma=0.7, is_ordered=False).double()
    places, total = term.places.tolist(), 0.0
    for row in range(2):
        for k, size in enumerate(SIZES):
            code = float(CODES[row, k])
            heights = [math.exp(-((0.7 * (code - e)) ** 2)) for e in places[k][:size]]
            total -= math.log(heights[int(LABELS[row, k])] / sum(heights))
    assert term(CODES, LABELS).item() == pytest.approx(total / 2)


def test_ordered_places_lie_in_line():
    term = Embedding(SIZES, sigma=1.0, is_ordered=True)
    places = term._positions()
    assert places[0, :2].tolist() == pytest.approx([-1.0, 1.0])
    assert places[1].tolist() == pytest.approx([-1.0, -1 / 3, 1 / 3, 1.0])


@pytest.mark.parametrize(
    "term",
    [
        ScaledSquares(),
        SigmoidSquares(SIZES),
        CrossEntropy(SIZES),
        StrayCovariance(),
        Embedding(SIZES, sigma=1.0, is_ordered=False),
        Embedding(SIZES, sigma=1.0, is_ordered=True),
    ],
    ids=lambda term: type(term).__name__,
)
def test_gradients_agree_with_finite_differences(term):
    term = term.double()
    codes = CODES.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: term(z, LABELS), (codes,))
    for parameter in term.parameters():
        gradient = torch.autograd.grad(term(CODES, LABELS), parameter)[0]
        assert gradient.isfinite().all()
        assert gradient.abs().sum() > 0
