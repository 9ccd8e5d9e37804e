import numpy as np
import pytest
from scipy.stats import spearmanr

from unbraid.data import XYSquares
from unbraid.metrics import ground_truth_distance_correlation, latent_data_correlation

SQUARES = XYSquares(image_size=8, square_size=2, spacing=1, n_squares=2, rgb=False)
ROWS = np.arange(len(SQUARES))
IMAGES = SQUARES.images(ROWS)
FACTORS = SQUARES.factor_space.factors(ROWS)


def mean_squared_error(first, second):
    apart = IMAGES[first].astype(float) - IMAGES[second]
    return (apart**2).mean(axis=(1, 2, 3))


def test_equals_the_definition_along_a_factor():
    codes = np.random.default_rng(0).standard_normal((len(ROWS), 3)) + FACTORS[:, :3]
    score = latent_data_correlation(codes, FACTORS, IMAGES, n_pairs=10**6)
    traversals = np.moveaxis(ROWS.reshape(SQUARES.factor_space.sizes), 1, -1).reshape(
        -1, SQUARES.factor_space.sizes[1]
    )
    size = traversals.shape[1]
    first = np.repeat(traversals, size, axis=1).ravel()
    second = np.tile(traversals, (1, size)).ravel()
    latent = np.abs(codes[first] - codes[second]).sum(axis=1)
    expected = spearmanr(mean_squared_error(first, second), latent).statistic
    assert score.per_factor["factor_1"] == pytest.approx(expected, abs=1e-9)


def test_images_and_a_function_of_their_rows_score_the_same():
    codes = np.random.default_rng(0).standard_normal((len(ROWS), 3)) + FACTORS[:, :3]
    for along in ("factors", "random"):
        scores = [
            latent_data_correlation(codes, FACTORS, distance, along=along, n_pairs=999)
            for distance in (IMAGES, mean_squared_error)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_codes_that_are_the_pixels_mimic_the_pixels():
    pixels = IMAGES.reshape(len(ROWS), -1)
    score = latent_data_correlation(pixels, FACTORS, IMAGES, norm="l2", n_pairs=2000)
    assert score == pytest.approx(1.0, abs=1e-9)


def test_the_factors_as_data_give_the_ground_truth_correlation():
    codes = np.random.default_rng(0).standard_normal((len(ROWS), 3)) + FACTORS[:, :3]
    for along in ("factors", "random"):
        data = latent_data_correlation(
            codes,
            FACTORS,
            lambda a, b: np.abs(FACTORS[a] - FACTORS[b]).sum(axis=1),
            along=along,
            n_pairs=500,
        )
        truth = ground_truth_distance_correlation(
            codes, FACTORS, along=along, n_pairs=500
        )
        assert data == truth


def test_unlabeled_data_can_be_scored_over_random_pairs_only():
    codes = np.arange(len(ROWS), dtype=float)
    score = latent_data_correlation(codes, None, codes, along="random", n_pairs=1000)
    assert score == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ValueError, match="along='random'"):
        latent_data_correlation(codes, None, codes)


def test_equal_observations_score_zero_with_a_reason():
    flat = np.zeros((len(ROWS), 4))
    score = latent_data_correlation(FACTORS, None, flat, along="random")
    assert score == 0.0
    assert "constant reference distances" in score.note
    with pytest.raises(ValueError, match="along every factor have the same distance"):
        latent_data_correlation(FACTORS, FACTORS, flat)


@pytest.mark.parametrize(
    "distance",
    [
        IMAGES[1:],
        IMAGES.astype(str),
        lambda first, second: first[1:] * 1.0,
        lambda first, second: first * np.nan,
    ],
)
def test_anything_but_one_finite_distance_per_pair_is_refused(distance):
    with pytest.raises(ValueError, match="latent_data_correlation: distances? must"):
        latent_data_correlation(FACTORS, FACTORS, distance)
