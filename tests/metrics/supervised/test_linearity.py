import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, constructed
from sklearn.decomposition import PCA

from unbraid.data import FactorSpace
from unbraid.metrics import axis_alignment_ratio, linearity_ratio

SPACE = FactorSpace(("shape", "scale", "angle", "x", "y"), (2, 3, 7, 5, 4))
GRID = SPACE.factors(np.arange(SPACE.size))
REFERENCES = Path(__file__).parents[2] / "references"
DISENT = json.loads((REFERENCES / "disent_factored_components.json").read_text())


def codes_of(name):
    return constructed(name, SPACE, np.arange(SPACE.size))[0]


def gaussian_cloud(width, degrees):
    """Points with exactly this covariance: deviations 1 and width, then turned."""
    points = np.random.default_rng(0).standard_normal((500, 2))
    points -= points.mean(axis=0)
    points = points @ np.linalg.inv(np.linalg.cholesky(np.cov(points.T))).T
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return points * [1.0, width] @ turn


# Michlo (2022), Figure 4.3; the variances are 1 and width squared in any direction.
@pytest.mark.parametrize("width", [0.0, 0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("degrees", [0, 15, 30, 45, 60, 90, 170])
def test_a_gaussian_cloud_has_its_closed_form_whatever_its_rotation(width, degrees):
    score = linearity_ratio(gaussian_cloud(width, degrees), np.arange(500))
    expected = (1 - width**2) / (1 + width**2)
    assert score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disent_on_every_traversal_of_a_grid(name):
    score = linearity_ratio(codes_of(name), GRID)
    assert score == pytest.approx(DISENT[name]["linear_ratio"], abs=1e-6)


def test_equals_principal_component_analysis_of_each_traversal():
    codes = codes_of("mixed")[:, :3]
    ratios = []
    for fixed in np.unique(GRID[:, [0, 1, 3, 4]], axis=0):
        rows = (GRID[:, [0, 1, 3, 4]] == fixed).all(axis=1)
        ratios.append(PCA().fit(codes[rows]).explained_variance_ratio_[0])
    score = linearity_ratio(codes, GRID)
    expected = (np.mean(ratios) - 1 / 3) / (1 - 1 / 3)
    assert score.per_factor["factor_2"] == pytest.approx(expected, abs=1e-9)


def test_more_latents_than_points_of_a_traversal_changes_nothing_but_their_number():
    codes = codes_of("mixed")[:, :3]
    padded = np.column_stack([codes, np.zeros((SPACE.size, 17))])
    few, many = linearity_ratio(codes, GRID), linearity_ratio(padded, GRID)
    for factor, value in few.per_factor.items():
        share = value * (1 - 1 / 3) + 1 / 3
        expected = (share - 1 / 20) / (1 - 1 / 20)
        assert many.per_factor[factor] == pytest.approx(expected, abs=1e-9)


def test_rotation_permutation_and_sign_change_nothing():
    codes = codes_of("noisy")
    generator = np.random.default_rng(0)
    rotation = np.linalg.qr(generator.standard_normal((10, 10)))[0]
    score = linearity_ratio(codes, GRID)
    assert linearity_ratio(codes @ rotation, GRID) == pytest.approx(score, abs=1e-9)
    assert linearity_ratio(-codes[:, ::-1], GRID) == pytest.approx(score, abs=1e-9)


def test_a_duplicate_latent_keeps_a_line_a_line():
    codes = np.column_stack([GRID, GRID]).astype(float)
    assert linearity_ratio(codes, GRID) == pytest.approx(1.0, abs=1e-9)


def test_bounds_axis_alignment_on_the_same_drawn_traversals():
    codes = codes_of("random")
    for seed in range(3):
        linear = linearity_ratio(codes, GRID, n_traversals=5, seed=seed)
        axis = axis_alignment_ratio(codes, GRID, n_traversals=5, seed=seed)
        for factor, value in axis.per_factor.items():
            assert value <= linear.per_factor[factor] + 1e-12


def test_drawn_traversals_depend_on_the_seed_and_come_near_all():
    codes = codes_of("noisy")
    scores = [
        linearity_ratio(codes, GRID, n_traversals=50, seed=seed) for seed in (3, 3, 4)
    ]
    assert scores[0] == scores[1] != scores[2]
    assert scores[0] == pytest.approx(linearity_ratio(codes, GRID), abs=0.05)


def test_a_traversal_along_which_nothing_moves_counts_as_zero_and_is_noted():
    codes = np.column_stack([GRID[:, 2], GRID[:, 3]]) * 0.1 + 0.1
    score = linearity_ratio(codes, GRID)
    assert score == 0.0
    assert score.per_factor["factor_2"] == pytest.approx(1.0)
    assert score.per_factor["factor_0"] == 0.0
    assert "no code moves along 'factor_0'" in score.note
    assert linearity_ratio(np.full((SPACE.size, 3), 0.1), GRID) == 0.0


def test_only_complete_traversals_of_an_incomplete_table_count():
    codes = codes_of("random")
    x = GRID[:, 3]
    # Without one row, the traversals through it are incomplete and all others are not.
    rows = np.arange(SPACE.size) != 17
    whole, part = linearity_ratio(codes, GRID), linearity_ratio(codes[rows], GRID[rows])
    others = (GRID[:, [0, 1, 2, 4]] != GRID[17, [0, 1, 2, 4]]).any(axis=1)
    without = linearity_ratio(codes[others], GRID[others]).per_factor["factor_3"]
    assert part.per_factor["factor_3"] == pytest.approx(without, abs=1e-9)
    assert part == pytest.approx(whole, abs=0.01)
    assert part.factors_used == (5, 5)
    # Of a factor with gaps everywhere nothing is left, and the score says so.
    gaps = (x + GRID[:, 4]) % 5 > 0
    score = linearity_ratio(codes[gaps], GRID[gaps])
    assert score.factors_used == (4, 5)
    assert "factor_3" not in score.per_factor
    assert "too few complete traversals: 'factor_3'" in score.note


def test_random_rows_of_a_grid_are_refused():
    # A straight line through two or three points of a curve says nothing about it.
    rows = np.random.default_rng(0).permutation(SPACE.size)[:100]
    with pytest.raises(ValueError, match="too few complete traversals"):
        linearity_ratio(codes_of("random")[rows], GRID[rows])


def test_rows_with_a_missing_label_belong_to_no_traversal():
    codes = codes_of("noisy")
    holes = GRID.astype(float)
    holes[::5, 1] = np.nan
    rows = np.flatnonzero(~np.isnan(holes[:, 1]))
    assert linearity_ratio(codes, holes) == linearity_ratio(codes[rows], GRID[rows])


def test_one_latent_and_tables_without_traversals_are_refused():
    with pytest.raises(ValueError, match="at least two latents"):
        linearity_ratio(GRID[:, 0], GRID)
    table = np.random.default_rng(0).random((20, 2))
    with pytest.raises(ValueError, match="too few complete traversals"):
        linearity_ratio(table, table)
    with pytest.raises(ValueError, match="n_traversals"):
        linearity_ratio(GRID, GRID, n_traversals=0)
