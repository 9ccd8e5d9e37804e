"""Equivariance, block diagonality and analogies of codes with a known symmetry."""

import numpy as np
import pytest

from unbraid.metrics import (
    Factors,
    analogy_accuracy,
    block_diagonality_score,
    equivariance_score,
    evaluate,
)

SIZES = (8, 12)
VALUES = np.indices(SIZES).reshape(2, -1).T
ANGLES = 2 * np.pi * VALUES / SIZES
CYCLIC = Factors(VALUES, names=("a", "b"), kinds=("cyclic", "cyclic"))

CIRCLES = np.column_stack([np.cos(ANGLES[:, 0]), np.sin(ANGLES[:, 0])])
CIRCLES = np.column_stack([CIRCLES, np.cos(ANGLES[:, 1]), np.sin(ANGLES[:, 1])])
"""The ideal representation: one circle for each factor."""


def turned(degrees):
    """The ideal codes with the planes of the two factors turned into each other."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return CIRCLES @ np.kron(turn, np.eye(2))


def noise(seed, n_latents=4, values=VALUES):
    return np.random.default_rng(seed).standard_normal((len(values), n_latents))


ROTATED = turned(45)
SHARED = np.column_stack([np.cos(ANGLES.sum(axis=1)), np.sin(ANGLES.sum(axis=1))])
"""One circle that carries the sum of both angles: both groups act on all of it."""


@pytest.mark.parametrize(
    ("codes", "equivariance", "block", "subspaces", "analogies"),
    [
        (CIRCLES, 1, 1, 1, 1),
        (ROTATED, 1, 0, 1, 1),
        (SHARED, 1, 0, 0, 0),
    ],
    ids=["ideal", "rotated", "shared"],
)
def test_exact_representations_have_their_closed_form(
    codes, equivariance, block, subspaces, analogies
):
    assert equivariance_score(codes, CYCLIC) == pytest.approx(equivariance, abs=1e-9)
    score = block_diagonality_score(codes, CYCLIC)
    assert score == pytest.approx(block, abs=1e-9)
    assert score.details["subspaces"] == pytest.approx(subspaces, abs=1e-9)
    assert analogy_accuracy(codes, CYCLIC) == pytest.approx(analogies, abs=0.05)


def test_random_codes_score_zero_in_all_three():
    equivariance, block, subspaces, analogies = [], [], [], []
    for seed in range(20):
        codes = noise(seed)
        equivariance.append(equivariance_score(codes, CYCLIC).details["error"])
        score = block_diagonality_score(codes, CYCLIC)
        block.append(np.mean(list(score.per_factor.values())))
        subspaces.append(score.details["subspaces"])
        analogies.append(analogy_accuracy(codes, CYCLIC))
    # Leave-one-out predictions from p numbers and n rows miss by about 1 + p/n.
    assert np.mean(equivariance) == pytest.approx(1 + 5 / 96, abs=0.03)
    # Every latent is changed alike by both factors, so that half of it is outside.
    assert np.mean(block) == pytest.approx(1 / 2, abs=0.03)
    assert np.mean(subspaces) < 0.05
    assert np.mean(analogies) == pytest.approx(1 / 93, abs=0.02)


@pytest.mark.parametrize("degrees", [0, 10, 15, 30])
def test_turning_two_planes_into_each_other_takes_the_fourth_power_of_the_cosine(
    degrees,
):
    # Inside of its block, an action N becomes cos^2 N, with energy cos^4.
    inside = np.cos(np.deg2rad(degrees)) ** 4
    score = block_diagonality_score(turned(degrees), CYCLIC)
    expected = {"a": inside, "b": inside}
    assert dict(score.per_factor) == pytest.approx(expected, abs=1e-6)
    assert score == pytest.approx(max(0.0, 2 * inside - 1), abs=1e-6)
    cosine, sine = inside**0.5, 1 - inside**0.5
    expected = np.array([[cosine, sine]] * 2 + [[sine, cosine]] * 2) / 2
    np.testing.assert_allclose(score.matrix, expected, atol=1e-6)


def test_noise_on_circles_costs_what_regression_to_the_mean_does():
    variance = 0.1
    values = np.indices((8, 6, 40)).reshape(3, -1).T
    factors = Factors(values, kinds=("cyclic", "cyclic", "ordinal"))
    angles = 2 * np.pi * values[:, :2] / [8, 6]
    codes = np.hstack([np.cos(angles), np.sin(angles)])
    codes += np.sqrt(variance) * noise(0, values=values)
    score = equivariance_score(codes, factors)
    # The best map is the rotation times the share of the signal in each latent.
    shrunk = 0.5 / (0.5 + variance)
    missed = 4 * (0.5 + variance) * (1 - shrunk**2)
    for name, size in (("factor_0", 8), ("factor_1", 6)):
        moved = 2 * size / (size - 1) + 4 * 2 * variance
        expected = 1 - 2 * missed / moved
        assert score.per_factor[name] == pytest.approx(expected, abs=0.02)
    # Of the variance of all four latents, the same share is explained along each.
    assert score.details["r2"] == pytest.approx(shrunk**2, abs=0.02)
    # Along the third factor nothing but noise moves.
    assert score.per_factor["factor_2"] == 0.0


@pytest.mark.parametrize("n_values", [4, 7, 12])
def test_a_line_cannot_carry_a_circle(n_values):
    values = np.indices((n_values, 200)).reshape(2, -1).T
    factors = Factors(values, kinds=("cyclic", "ordinal"))
    score = equivariance_score(1.0 * values[:, :1], factors)
    variance = (n_values**2 - 1) / 12
    shifts = np.arange(1, n_values)
    moved = shifts * (n_values - shifts)  # mean squared distance after a cyclic shift
    missed = variance * (1 - (1 - moved / (2 * variance)) ** 2)
    expected = 1 - 2 * missed.sum() / moved.sum()
    assert score.per_factor["factor_0"] == pytest.approx(expected, abs=0.01)
    first = 2 * missed[0] / moved[0]
    generator_error = (first + 1) / 2  # the second factor moves nothing
    assert score.details["generator_error"] == pytest.approx(generator_error, abs=0.01)
    assert "no code moves along 'factor_1'" in score.note


def test_an_ordinal_factor_is_translated_or_wrapped_as_asked():
    codes = VALUES.astype(float)
    assert equivariance_score(codes, VALUES) == pytest.approx(1.0)
    assert block_diagonality_score(codes, VALUES) == pytest.approx(1.0)
    wrapped = equivariance_score(codes, VALUES, group="cyclic")
    assert wrapped == pytest.approx(equivariance_score(codes, CYCLIC))
    assert wrapped < 0.3
    circles = equivariance_score(CIRCLES, VALUES, group="cyclic")
    assert circles == pytest.approx(1.0)


def test_categories_are_permuted_linearly_by_one_hot_codes_only():
    values = np.indices((4, 30)).reshape(2, -1).T
    factors = Factors(values, kinds=("categorical", "ordinal"))
    one_hot = np.column_stack([np.eye(4)[values[:, 0]], values[:, 1] / 30])
    score = equivariance_score(one_hot, factors)
    assert score == pytest.approx(1.0)
    assert block_diagonality_score(one_hot, factors) == pytest.approx(1.0)
    assert equivariance_score(values, factors).per_factor["factor_0"] < 0.5


def test_scores_of_equivariance_do_not_depend_on_the_basis():
    codes = CIRCLES + 0.2 * noise(1)
    rotation = np.linalg.qr(noise(2)[:4])[0]
    plain, other = (equivariance_score(z, CYCLIC) for z in (codes, codes @ rotation))
    assert other == pytest.approx(plain, abs=1e-6)
    plain, other = (
        block_diagonality_score(z, CYCLIC).details["subspaces"]
        for z in (codes, codes @ rotation)
    )
    assert other == pytest.approx(plain, abs=1e-6)


def test_a_warp_is_not_equivariant_but_stays_in_its_block():
    codes = np.sign(VALUES - 4.1) * np.abs(VALUES - 4.1) ** 3
    assert 0.3 < equivariance_score(codes, VALUES) < 0.97
    assert block_diagonality_score(codes, VALUES) == pytest.approx(1.0)
    assert analogy_accuracy(codes, VALUES) == 1.0


def test_leave_one_out_equals_fitting_without_each_row():
    codes, values = CIRCLES[:, :2] + 0.3 * noise(3, 2), VALUES
    cube = codes.reshape(*SIZES, 2)
    missed = moved = 0.0
    for shift in range(1, 8):
        source = cube.reshape(-1, 2)
        target = np.roll(cube, -shift, axis=0).reshape(-1, 2)
        moved += ((target - source) ** 2).sum()
        for row in range(len(source)):
            kept = np.arange(len(source)) != row
            design = np.column_stack([source, np.ones(len(source))])
            action = np.linalg.lstsq(design[kept], target[kept], rcond=None)[0]
            missed += ((target[row] - design[row] @ action) ** 2).sum()
    score = equivariance_score(codes, Factors(values, kinds=("cyclic", "ordinal")))
    expected = 1 - 2 * missed / moved
    assert score.per_factor["factor_0"] == pytest.approx(expected, abs=1e-6)


def test_a_circle_of_both_angles_misses_its_parallelograms_by_a_known_distance():
    values = np.indices((9, 9)).reshape(2, -1).T
    angle = 2 * np.pi * values.sum(axis=1) / 9
    codes = np.column_stack([np.cos(angle), np.sin(angle)])
    score = analogy_accuracy(codes, values, n_analogies=20_000)
    assert score.details["error"] == pytest.approx(9 / (9 - 2), rel=0.02)


def test_noise_has_an_analogy_error_of_one():
    values = np.indices((20, 20)).reshape(2, -1).T
    score = analogy_accuracy(noise(0, values=values), values, n_analogies=20_000)
    assert score.details["error"] == pytest.approx(1.0, abs=0.05)
    assert score < 0.02


def test_analogies_beat_the_nearest_neighbor_of_a_corner():
    score = analogy_accuracy(ROTATED, CYCLIC)
    assert score == 1.0
    assert score.details["nearest_neighbor"] < 0.2
    assert score.details["n_test"] == 500
    assert score.details["candidates"] == len(VALUES)


def test_states_with_equal_codes_share_the_answer():
    # The second factor is not in the codes: 12 states are where the fourth one is,
    # and one of them, the second corner, is no candidate.
    score = analogy_accuracy(CIRCLES[:, :2], CYCLIC)
    assert score == pytest.approx(1 / 11, abs=1e-9)
    assert analogy_accuracy(np.ones((96, 2)), CYCLIC) == pytest.approx(1 / 93)


def test_analogies_are_found_in_a_sample_and_left_out_where_there_are_none():
    rows = np.sort(np.random.default_rng(0).permutation(96)[:40])
    score = analogy_accuracy(CIRCLES[rows], CYCLIC.at(rows))
    assert score == 1.0
    alone = np.column_stack([VALUES, np.arange(96)])[:, [0, 2]]
    with pytest.raises(ValueError, match="four states that differ in two factors"):
        analogy_accuracy(CIRCLES, alone)


def test_fewer_candidates_make_it_easier():
    codes = CIRCLES + 0.3 * noise(5)
    few, many = (analogy_accuracy(codes, CYCLIC, n_candidates=n) for n in (8, 96))
    assert few > many + 0.1
    assert few.details["candidates"] == 8


def test_rows_that_agree_in_all_factors_are_averaged():
    offsets = 5.0 * noise(6)
    codes = np.concatenate([CIRCLES + offsets, CIRCLES - offsets])
    twice = Factors(np.concatenate([VALUES, VALUES]), kinds=CYCLIC.kinds)
    for metric in (equivariance_score, block_diagonality_score, analogy_accuracy):
        assert metric(codes, twice) == pytest.approx(1.0, abs=1e-9)


def test_many_traversals_and_shifts_are_sampled_by_the_seed():
    values = np.indices((40, 50)).reshape(2, -1).T
    factors = Factors(values, kinds=("cyclic", "ordinal"))
    angle = 2 * np.pi * values[:, 0] / 40
    codes = np.column_stack([np.cos(angle), np.sin(angle), values[:, 1] / 50])
    codes += 0.1 * noise(0, 3, values)
    scores = [
        equivariance_score(codes, factors, n_traversals=12, seed=seed)
        for seed in (3, 3, 4)
    ]
    assert scores[0] == scores[1] != scores[2]
    assert scores[0].details["traversals"] == 12
    assert scores[0] == pytest.approx(equivariance_score(codes, factors), abs=0.05)


def test_factors_without_complete_traversals_are_left_out():
    values = np.indices((4, 5, 5)).reshape(3, -1).T
    gaps = values[:, 1:].sum(axis=1) % 5 > 0
    kept = values[gaps]
    score = equivariance_score(1.0 * kept, kept)
    assert score.factors_used == (1, 3)
    assert "left out, too few complete traversals: 'factor_1'" in score.note
    with pytest.raises(ValueError, match="at least two factors"):
        block_diagonality_score(1.0 * kept, kept)
    with pytest.raises(ValueError, match="too few complete traversals"):
        equivariance_score(noise(0), np.arange(96 * 2).reshape(96, 2))


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="group"):
        equivariance_score(CIRCLES, CYCLIC, group="free")
    with pytest.raises(ValueError, match="n_traversals"):
        block_diagonality_score(CIRCLES, CYCLIC, n_traversals=0)
    with pytest.raises(ValueError, match="n_analogies"):
        analogy_accuracy(CIRCLES, CYCLIC, n_analogies=0)


def test_evaluate_reaches_all_three_with_intervals_and_levels():
    names = ["equivariance", "block_diagonality", "analogies"]
    card = evaluate(CIRCLES, CYCLIC, metrics=names, progress=False, n_jobs=1)
    assert not card.failures
    assert [float(card[name]) for name in names] == pytest.approx([1, 1, 1])
    assert all(card[name].chance < 0.2 for name in names)
    # The values on a line are not the ideal of a cyclic factor.
    assert card["equivariance"].ideal < 0.3
    assert card["analogies"].ideal == pytest.approx(1.0)
    low, high = card["analogies"].interval
    assert low <= 1.0 <= high
