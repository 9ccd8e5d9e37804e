import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, constructed

from unbraid.data import FactorSpace
from unbraid.metrics import axis_alignment_ratio

SPACE = FactorSpace(("shape", "scale", "angle", "x", "y"), (2, 3, 7, 5, 4))
GRID = SPACE.factors(np.arange(SPACE.size))
REFERENCES = Path(__file__).parents[2] / "references"
DISENT = json.loads((REFERENCES / "disent_factored_components.json").read_text())


def codes_of(name):
    return constructed(name, SPACE, np.arange(SPACE.size))[0]


def line(width, degrees):
    """Four points with deviations in the ratio 1 to width, turned."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.array([[1, width], [1, -width], [-1, width], [-1, -width]]) @ turn


# Michlo (2022), Figure 4.3: variances cos^2 + width^2 sin^2 and the other way round.
@pytest.mark.parametrize("width", [0.0, 0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("degrees", [0, 15, 30, 45, 60, 90, 170])
def test_a_turned_cloud_has_its_closed_form(width, degrees):
    score = axis_alignment_ratio(line(width, degrees), np.arange(4))
    expected = abs(np.cos(2 * np.deg2rad(degrees))) * (1 - width**2) / (1 + width**2)
    assert score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disent_on_every_traversal_of_a_grid(name):
    ratios = axis_alignment_ratio(codes_of(name), GRID)
    variances = axis_alignment_ratio(codes_of(name), GRID, average="variances")
    assert ratios == pytest.approx(DISENT[name]["axis_ratio"], abs=1e-6)
    assert variances == pytest.approx(DISENT[name]["axis_ratio_ave"], abs=1e-6)


def test_permutation_and_sign_change_nothing_and_a_warp_little():
    score = axis_alignment_ratio(codes_of("noisy"), GRID)
    flipped = axis_alignment_ratio(-codes_of("noisy")[:, ::-1], GRID)
    assert flipped == pytest.approx(score, abs=1e-12)
    assert axis_alignment_ratio(codes_of("warped"), GRID) > 0.99


def test_a_rotation_by_45_degrees_leaves_nothing_in_two_latents():
    factors = GRID[GRID[:, 0] + GRID[:, 1] + GRID[:, 2] == 0][:, 3:]
    rotated = factors @ np.array([[1.0, 1.0], [-1.0, 1.0]])
    assert axis_alignment_ratio(rotated, factors) == pytest.approx(0.0, abs=1e-12)
    assert axis_alignment_ratio(factors, factors) == 1.0


def test_a_duplicate_of_every_latent_halves_the_share():
    twice = np.column_stack([GRID, GRID]).astype(float)
    expected = (1 / 2 - 1 / 10) / (1 - 1 / 10)
    assert axis_alignment_ratio(twice, GRID) == pytest.approx(expected)


def test_latents_that_take_turns_are_aligned_by_ratios_but_not_by_variances():
    factors = np.array([[x, y] for x in range(4) for y in range(2)])
    codes = np.zeros((8, 2))
    codes[np.arange(8), factors[:, 1]] = factors[:, 0]
    ratios = axis_alignment_ratio(codes, factors)
    variances = axis_alignment_ratio(codes, factors, average="variances")
    assert ratios.per_factor["factor_0"] == 1.0
    assert variances.per_factor["factor_0"] == 0.0


def test_constant_codes_score_zero_with_a_reason():
    for average in ("ratios", "variances"):
        score = axis_alignment_ratio(
            np.full((len(GRID), 3), 0.1), GRID, average=average
        )
        assert score == 0.0
        assert "no code moves" in score.note


def test_more_factors_than_latents_are_scored():
    score = axis_alignment_ratio(GRID[:, :2], GRID)
    assert score.per_factor["factor_0"] == pytest.approx(1.0, abs=1e-12)
    assert score.per_factor["factor_1"] == pytest.approx(1.0, abs=1e-12)
    assert score.per_factor["factor_2"] == 0.0


def test_an_unknown_average_is_refused():
    with pytest.raises(ValueError, match="average must be"):
        axis_alignment_ratio(GRID, GRID, average="mean")
