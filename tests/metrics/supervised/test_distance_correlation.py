import numpy as np
import pytest
from constructed import constructed
from scipy.stats import pearsonr, spearmanr

from unbraid.data import FactorSpace, XYSquares
from unbraid.metrics import Factors, ground_truth_distance_correlation

SPACE = FactorSpace(("a", "b", "c", "d"), (3, 4, 5, 2))
GRID = SPACE.factors(np.arange(SPACE.size))


def codes_of(name, space=SPACE):
    return constructed(name, space, np.arange(space.size))[0]


def literal(codes, factors, column, correlate, order, distinct):
    """Eq. 4.2: a loop over all pairs of rows that share the other factors."""
    ground, latent = [], []
    for y, z in zip(factors, codes, strict=True):
        for y_other, z_other in zip(factors, codes, strict=True):
            same = np.delete(y == y_other, column).all()
            if same and not (distinct and y[column] == y_other[column]):
                ground.append(abs(y[column] - y_other[column]))
                # Rounded: equal sums of floats must be ties.
                latent.append(round(np.linalg.norm(z - z_other, order), 11))
    return correlate(ground, latent).statistic


@pytest.mark.parametrize("name", ["noisy", "mixed", "random"])
@pytest.mark.parametrize("pairs", ["any", "distinct"])
def test_equals_the_definition_over_all_pairs(name, pairs):
    codes = codes_of(name)
    score = ground_truth_distance_correlation(codes, GRID, pairs=pairs)
    for column in (1, 2):
        expected = literal(codes, GRID, column, spearmanr, 1, pairs == "distinct")
        assert score.per_factor[f"factor_{column}"] == pytest.approx(expected, abs=1e-9)


def test_pearson_and_l2_are_the_definition_too():
    codes = codes_of("mixed")
    score = ground_truth_distance_correlation(
        codes, GRID, correlation="pearson", norm="l2"
    )
    expected = literal(codes, GRID, 2, pearsonr, 2, distinct=False)
    assert score.per_factor["factor_2"] == pytest.approx(expected, abs=1e-9)


def test_random_pairs_are_compared_by_the_l1_distance_of_all_factors():
    codes = codes_of("noisy")
    score = ground_truth_distance_correlation(codes, GRID, along="random")
    ground = np.abs(GRID[:, None] - GRID).sum(axis=-1).ravel()
    latent = np.abs(codes[:, None] - codes).sum(axis=-1).ravel()
    assert score == pytest.approx(spearmanr(ground, latent).statistic, abs=1e-9)


# Michlo (2022), Table 4.2: linear and rank correlation of ground-truth and pixel
# distances in XYSquares by spacing. A square is a product of two intervals, so that its
# shadows on the two sides of the image have the same distances along a factor.
@pytest.mark.parametrize(
    ("spacing", "linear", "rank"),
    [
        (1, 1.00, 1.00),
        (2, 0.94, 0.99),
        (3, 0.86, 0.95),
        (4, 0.75, 0.85),
        (5, 0.72, 0.85),
        (6, 0.67, 0.85),
        (7, 0.60, 0.85),
        (8, 0.52, 0.58),
    ],
)
def test_published_correlations_of_xy_squares(spacing, linear, rank):
    squares = XYSquares(spacing=spacing, n_squares=1, rgb=False)
    images = squares.images(np.arange(len(squares)))[:, 0].astype(float)
    shadows = np.concatenate([images.max(axis=1), images.max(axis=2)], axis=1)
    factors = squares.factor_space.factors(np.arange(len(squares)))
    score = ground_truth_distance_correlation(shadows, factors, correlation="pearson")
    assert score == pytest.approx(linear, abs=0.0051)
    assert ground_truth_distance_correlation(shadows, factors) == pytest.approx(
        rank, abs=0.0051
    )


def test_equal_distances_of_a_step_have_a_closed_form():
    # |i - j| against [i != j] over 8 x 8 pairs: cov = E|i-j| / 8 and so on.
    score = ground_truth_distance_correlation(
        np.eye(8), np.arange(8), correlation="pearson"
    )
    mean, square = 2 * 84 / 64, 2 * 336 / 64
    expected = mean / 8 / np.sqrt((square - mean**2) * 7 / 64)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("along", ["factors", "random"])
def test_scaled_factors_are_perfectly_correlated_however_permuted_and_flipped(along):
    codes = np.zeros((len(GRID), 7))
    codes[:, [5, 2, 0, 3]] = GRID * [0.1, -0.1, 0.1, -0.1]
    assert ground_truth_distance_correlation(codes, GRID, along=along) == 1.0


def test_range_scaling_makes_a_perfect_code_in_unit_ranges_perfect():
    codes = GRID / (np.array(SPACE.sizes) - 1)
    plain = ground_truth_distance_correlation(codes, GRID, along="random")
    scaled = ground_truth_distance_correlation(
        codes, GRID, along="random", factor_scale="range"
    )
    assert plain < 0.9
    assert scaled == pytest.approx(1.0, abs=1e-12)


def test_scaled_distances_that_are_equal_as_fractions_are_ties():
    # 1/7 + 2/7 is not 3/7 in floating point.
    factors = np.array([[x, y] for x in range(8) for y in range(8)])
    score = ground_truth_distance_correlation(
        factors, factors, along="random", factor_scale="range"
    )
    assert score == 1.0


def test_cyclic_factors_are_compared_the_shorter_way_round_by_name_only():
    angle = 2 * np.pi * np.arange(12) / 12
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    factors = Factors(np.arange(12), kinds=("cyclic",))
    settings = {"norm": "l2"}
    plain = ground_truth_distance_correlation(circle, factors, **settings)
    circular = ground_truth_distance_correlation(
        circle, factors, cyclic="circular", **settings
    )
    assert plain < 0.8
    assert circular == pytest.approx(1.0, abs=1e-12)
    ordinal = Factors(np.arange(12))
    assert plain == ground_truth_distance_correlation(
        circle, ordinal, cyclic="circular", **settings
    )


def test_a_warp_keeps_the_rank_correlation_high_and_a_rotation_does_not_matter_in_l2():
    perfect, warped, rotated = map(codes_of, ("perfect", "warped", "rotated"))
    score = ground_truth_distance_correlation(warped, GRID)
    assert 0.8 < score < ground_truth_distance_correlation(perfect, GRID)
    assert ground_truth_distance_correlation(
        perfect[:, :4], GRID, norm="l2"
    ) == pytest.approx(
        ground_truth_distance_correlation(rotated[:, :4], GRID, norm="l2"), abs=1e-9
    )


def test_noise_has_no_correlation_over_distinct_pairs():
    space = FactorSpace(("a", "b"), (40, 40))
    noise = np.random.default_rng(0).standard_normal((1600, 5))
    factors = space.factors(np.arange(1600))
    distinct = ground_truth_distance_correlation(noise, factors, pairs="distinct")
    assert distinct.details["arithmetic_mean"] == pytest.approx(0.0, abs=0.02)


def test_a_negative_correlation_counts_as_zero_and_is_reported_with_its_sign():
    factors = np.array([[x, y] for x in range(3) for y in range(3)])
    codes = np.column_stack([np.array([0.0, 3.0, 0.1])[factors[:, 0]], factors[:, 1]])
    score = ground_truth_distance_correlation(codes, factors, pairs="distinct")
    assert score.per_factor["factor_0"] < 0
    assert score.per_factor["factor_1"] == 1.0
    assert score == 0.0
    expected = (score.per_factor["factor_0"] + 1.0) / 2
    assert score.details["arithmetic_mean"] == pytest.approx(expected)


def test_the_score_is_the_geometric_mean_of_positive_correlations():
    score = ground_truth_distance_correlation(codes_of("noisy"), GRID)
    parts = np.array(list(score.per_factor.values()))
    assert (parts > 0).all()
    assert score == pytest.approx(parts.prod() ** 0.25)


def test_a_shuffled_grid_scores_as_the_grid():
    order = np.random.default_rng(0).permutation(SPACE.size)
    codes = codes_of("noisy")
    score = ground_truth_distance_correlation(codes, GRID)
    shuffled = ground_truth_distance_correlation(codes[order], GRID[order])
    assert shuffled.per_factor == pytest.approx(dict(score.per_factor), abs=1e-12)


def test_a_sparse_sample_of_a_grid_scores_like_the_grid():
    # A row paired with itself must not become more frequent than in the grid.
    space = FactorSpace(("a", "b", "c"), (20, 30, 20))
    rows = np.random.default_rng(0).integers(0, space.size, 6000)
    codes, factors = constructed("noisy", space, np.arange(space.size))
    whole = ground_truth_distance_correlation(codes, factors)
    part = ground_truth_distance_correlation(codes[rows], factors[rows])
    assert part.details["coverage"] < 0.5
    assert part == pytest.approx(whole, abs=0.03)


def test_rows_with_a_missing_label_give_no_pair():
    codes = codes_of("noisy")
    holes = GRID.astype(float)
    holes[::7, 2] = np.nan
    rows = np.flatnonzero(~np.isnan(holes[:, 2]))
    for along in ("factors", "random"):
        score = ground_truth_distance_correlation(codes, holes, along=along)
        expected = ground_truth_distance_correlation(
            codes[rows], GRID[rows], along=along
        )
        assert score == expected


def test_a_factor_that_never_differs_alone_is_left_out_and_named():
    # The third column follows the second, so that neither moves alone.
    factors = np.array([[x, y, y] for x in range(3) for y in range(3)])
    score = ground_truth_distance_correlation(factors, factors)
    assert list(score.per_factor) == ["factor_0"]
    assert "'factor_1'" in score.note
    assert "'factor_2'" in score.note


def test_no_rows_that_differ_in_one_factor_only_is_an_error_that_says_so():
    factors = np.random.default_rng(0).random((50, 3))
    with pytest.raises(ValueError, match=r"none among the 50 rows .*along='random'"):
        ground_truth_distance_correlation(factors, factors)
    score = ground_truth_distance_correlation(factors, factors, along="random")
    assert score == pytest.approx(1.0, abs=1e-9)


def test_many_continuous_factors_do_not_overflow():
    factors = np.random.default_rng(0).random((1000, 8))
    factors[500:] = factors[:500]
    factors[500:, 3] += 1.0
    score = ground_truth_distance_correlation(factors, factors)
    assert list(score.per_factor) == ["factor_3"]
    assert score == pytest.approx(1.0)


def test_one_continuous_factor_is_one_traversal():
    values = np.random.default_rng(0).random(300)
    codes = np.column_stack([values**2, np.ones(300)])
    score = ground_truth_distance_correlation(codes, values)
    assert 0.9 < score < 1.0


def test_more_factors_than_codes_and_one_code_are_scored():
    score = ground_truth_distance_correlation(GRID[:, :1], GRID)
    assert score.per_factor["factor_0"] == 1.0
    assert score.per_factor["factor_1"] == 0.0
    assert "constant latent distances: 'factor_1'" in score.note


def test_constant_codes_score_zero_with_a_reason():
    for along in ("factors", "random"):
        score = ground_truth_distance_correlation(
            np.full((len(GRID), 2), 0.1), GRID, along=along
        )
        assert score == 0.0
        assert "constant latent distances" in score.note


def test_a_binary_factor_has_no_distances_to_compare_over_distinct_pairs():
    score = ground_truth_distance_correlation(GRID, GRID, pairs="distinct")
    assert "factor_3" not in score.per_factor
    assert "equally far apart: 'factor_3'" in score.note
    with pytest.raises(ValueError, match="along every factor have the same distance"):
        ground_truth_distance_correlation([0.0, 1.0], [0, 1], pairs="distinct")


def test_drawn_pairs_depend_on_the_seed_and_come_near_all_pairs():
    codes = codes_of("noisy")
    scores = [
        ground_truth_distance_correlation(codes, GRID, n_pairs=300, seed=seed)
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]
    assert scores[0] == pytest.approx(
        ground_truth_distance_correlation(codes, GRID), abs=0.1
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"along": "path"}, "along"),
        ({"correlation": "kendall"}, "correlation"),
        ({"norm": "l3"}, "norm"),
        ({"factor_scale": "unit"}, "factor_scale"),
        ({"cyclic": True}, "cyclic"),
        ({"pairs": "all"}, "pairs"),
        ({"n_pairs": 1}, "n_pairs"),
    ],
)
def test_unknown_options_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        ground_truth_distance_correlation(GRID, GRID, **settings)


def test_random_pairs_need_two_rows_with_all_labels():
    with pytest.raises(
        ValueError, match="number of rows with all labels must be .* at least 2"
    ):
        ground_truth_distance_correlation(
            [0.0, 1.0, 2.0],
            [[0, np.nan], [1, 0], [np.nan, 1]],
            along="random",
        )
