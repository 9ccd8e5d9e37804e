import numpy as np
import pytest
import torch
from torch.nn import functional

from unbraid.metrics import reconstruction_error

GENERATOR = np.random.default_rng(0)
SEEN = GENERATOR.random((30, 3, 8, 8))
MADE = GENERATOR.random((30, 3, 8, 8))


def test_equals_the_losses_of_another_library():
    seen, made = torch.tensor(SEEN), torch.tensor(MADE)
    bernoulli = functional.binary_cross_entropy(made, seen, reduction="sum") / 30
    gaussian = functional.gaussian_nll_loss(
        made, seen, torch.ones_like(seen), full=True, reduction="sum"
    )
    expected = {
        "mean_squared": float(functional.mse_loss(made, seen)),
        "bernoulli": float(bernoulli),
        "gaussian": float(gaussian) / 30,
    }
    for likelihood, value in expected.items():
        score = reconstruction_error(SEEN, MADE, likelihood=likelihood)
        assert score == pytest.approx(value, rel=1e-9)
        assert score.variant == likelihood


def test_images_of_bytes_do_not_wrap_around():
    seen, made = np.zeros((2, 4), dtype=np.uint8), np.full((2, 4), 255, dtype=np.uint8)
    assert reconstruction_error(seen, made) == 255.0**2


def test_a_perfect_picture_of_black_and_white_costs_nothing():
    picture = np.array([[0.0, 1.0, 1.0]])
    assert reconstruction_error(picture, picture, likelihood="bernoulli") == 0.0
    assert reconstruction_error(picture, picture) == 0.0


def test_what_had_no_probability_costs_infinitely_much_with_a_reason():
    score = reconstruction_error(
        [[1.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.5, 0.5]], likelihood="bernoulli"
    )
    assert score == np.inf
    assert "1 observations had no probability" in score.note


def test_the_standard_error_is_over_observations():
    score = reconstruction_error(SEEN, MADE)
    each = ((SEEN - MADE) ** 2).mean(axis=(1, 2, 3))
    assert score.details["standard_error"] == pytest.approx(each.std() / np.sqrt(30))


@pytest.mark.parametrize(
    ("seen", "made", "message"),
    [
        (SEEN, MADE[1:], "same shape"),
        ([], [], "not be empty"),
        ([[np.nan]], [[0.5]], "originals must be finite"),
        ([[0.5]], [[np.inf]], "reconstructions must be finite"),
        ([["a"]], [["b"]], "real numbers"),
        ([[2.0]], [[0.5]], "originals must be from 0 to 1"),
        ([[1.0]], [[-0.5]], "reconstructions must be from 0 to 1"),
    ],
)
def test_malformed_input_is_refused(seen, made, message):
    with pytest.raises(ValueError, match=message):
        reconstruction_error(seen, made, likelihood="bernoulli")


def test_an_unknown_likelihood_is_refused():
    with pytest.raises(ValueError, match="likelihood must be"):
        reconstruction_error(SEEN, MADE, likelihood="poisson")
