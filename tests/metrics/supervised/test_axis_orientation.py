import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, constructed

from unbraid.data import FactorSpace
from unbraid.metrics import (
    axis_alignment_ratio,
    axis_orientation_ratio,
    linearity_ratio,
)

SPACE = FactorSpace(("shape", "scale", "angle", "x", "y"), (2, 3, 7, 5, 4))
GRID = SPACE.factors(np.arange(SPACE.size))
REFERENCES = Path(__file__).parents[2] / "references"
DISENT = json.loads((REFERENCES / "disent_factored_components.json").read_text())


def codes_of(name):
    return constructed(name, SPACE, np.arange(SPACE.size))[0]


@pytest.mark.parametrize("quotient", ["scores", "traversals"])
@pytest.mark.parametrize("width", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("degrees", [0, 20, 45, 80])
def test_tells_the_angle_of_a_cloud_whatever_its_width(width, degrees, quotient):
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points = np.array([[1, width], [1, -width], [-1, width], [-1, -width]]) @ turn
    score = axis_orientation_ratio(points, np.arange(4), quotient=quotient)
    assert score == pytest.approx(abs(np.cos(2 * angle)), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disent_on_every_traversal_of_a_grid(name):
    score = axis_orientation_ratio(codes_of(name), GRID, quotient="traversals")
    assert score == pytest.approx(DISENT[name]["axis_alignment"], abs=1e-6)


def test_is_the_quotient_of_the_two_ratios_over_the_same_traversals():
    codes = codes_of("mixed")
    settings = {"n_traversals": 20, "seed": 3}
    score = axis_orientation_ratio(codes, GRID, **settings)
    axis = axis_alignment_ratio(codes, GRID, **settings)
    linear = linearity_ratio(codes, GRID, **settings)
    assert score == axis / linear
    assert score.details == {"axis_alignment": axis, "linearity": linear}
    for factor, value in score.per_factor.items():
        assert value == axis.per_factor[factor] / linear.per_factor[factor]


def test_codes_without_a_direction_score_zero_with_a_reason():
    for quotient in ("scores", "traversals"):
        score = axis_orientation_ratio(
            np.zeros((len(GRID), 2)), GRID, quotient=quotient
        )
        assert score == 0.0
        assert "no code moves" in score.note
    assert "no linearity" in axis_orientation_ratio(np.zeros((3, 2)), [0, 1, 2]).note


def test_an_unknown_quotient_is_refused():
    with pytest.raises(ValueError, match="quotient must be"):
        axis_orientation_ratio(GRID, GRID, quotient="factors")
