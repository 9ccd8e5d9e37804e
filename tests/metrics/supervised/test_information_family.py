"""What holds for every score of this family, on the same inputs."""

from functools import cache

import numpy as np
import pytest
from constructed import SPACES
from constructed import sampled as sampled_anew

from unbraid.metrics import (
    Factors,
    dcimig_score,
    explicitness_score,
    infocompactness,
    infoexplicitness,
    infomodularity,
    interventional_robustness_score,
    joint_entropy_minus_mutual_information_gap,
    modularity_score,
    mutual_information_gap_by_latent,
    separated_attribute_predictability,
)

READ_ALL_LATENTS = [explicitness_score, infoexplicitness]
LOOK_AT_SINGLE_LATENTS = [
    dcimig_score,
    infocompactness,
    infomodularity,
    interventional_robustness_score,
    joint_entropy_minus_mutual_information_gap,
    modularity_score,
    mutual_information_gap_by_latent,
    separated_attribute_predictability,
]
EVERY = READ_ALL_LATENTS + LOOK_AT_SINGLE_LATENTS
SPACE = SPACES["shapes3d"]
sampled = cache(sampled_anew)  # the same few tables for every metric

every = pytest.mark.parametrize("metric", EVERY, ids=lambda f: f.__name__)
single = pytest.mark.parametrize(
    "metric", LOOK_AT_SINGLE_LATENTS, ids=lambda f: f.__name__
)


@every
def test_order_and_sign_of_latents_do_not_matter(metric):
    codes, factors = sampled("noisy", SPACE, 1200)
    expected = metric(codes, factors)
    # Optimizers stop a little elsewhere, and other noise breaks ties.
    near = 2e-3 if metric in READ_ALL_LATENTS else 1e-4
    assert metric(codes[:, ::-1], factors) == pytest.approx(expected, abs=near)
    assert metric(-codes, factors) == pytest.approx(expected, abs=near)


@every
def test_a_perfect_representation_scores_more_than_noise(metric):
    perfect, random = (metric(*sampled(n, SPACE, 1200)) for n in ("perfect", "random"))
    assert 0.0 <= random < perfect <= 1.0


@single
def test_a_rotation_lowers_the_score(metric):
    perfect, rotated = (
        metric(*sampled(n, SPACE, 3000)) for n in ("perfect", "rotated")
    )
    assert rotated < perfect - 0.02


@pytest.mark.parametrize("metric", READ_ALL_LATENTS, ids=lambda f: f.__name__)
def test_a_rotation_hides_nothing_from_what_reads_all_latents(metric):
    perfect, rotated = (
        metric(*sampled(n, SPACE, 1200)) for n in ("perfect", "rotated")
    )
    assert rotated == pytest.approx(perfect, abs=0.02)


@every
def test_a_monotone_warp_changes_little(metric):
    perfect, warped = (metric(*sampled(n, SPACE, 3000)) for n in ("perfect", "warped"))
    assert warped == pytest.approx(perfect, abs=0.06)


@every
def test_the_same_seed_gives_the_same_score(metric):
    codes, factors = sampled("mixed", SPACE, 600)
    first, second = metric(codes, factors), metric(codes, factors)
    assert first == second
    assert first.per_factor == second.per_factor


@every
def test_odd_tables_get_a_score_from_zero_to_one(metric):
    generator = np.random.default_rng(0)
    codes, factors = sampled("noisy", SPACE, 400)
    holes = np.where(generator.random(factors.shape) < 0.2, np.nan, factors)
    continuous = np.column_stack([factors[:, 0], codes[:, 1] ** 2])
    flat = np.column_stack([codes, np.full(400, 0.1), codes[:, 0]])
    # A tenth of the grid only: the first two hues move together.
    hues = factors[:, :2].copy()
    hues[:, 1] = hues[:, 0]
    for some_codes, some_factors in (
        (flat, factors),
        (codes, Factors(holes, kinds=SPACE.kinds)),
        (codes, continuous),
        (codes, factors[:, 0]),
        (codes[:, :2], factors),
        (codes, hues),
        (codes[:3], [0, 1, 1]),
        (np.ones((400, 2)), factors),
    ):
        score = metric(some_codes, some_factors)
        assert 0.0 <= score <= 1.0
        for part in (*score.per_factor.values(), *score.details.values()):
            assert np.isfinite(part)
        assert score.matrix is None or np.isfinite(score.matrix).all()


@every
def test_names_of_factors_are_kept(metric):
    codes, factors = sampled("noisy", SPACE, 400)
    score = metric(codes, Factors(factors, names=SPACE.names))
    assert tuple(score.per_factor) in ((), SPACE.names)
    assert score.matrix is None or score.matrix.shape == (10, 6)


@every
@pytest.mark.parametrize(
    ("codes", "factors", "message"),
    [
        ([[0.0, np.nan], [1.0, 2.0]], [0, 1], "codes must be finite"),
        ([[0.0, 1.0]], Factors([0, 1]), "the number of rows must be .* at least 2"),
        ([[0.0, 1.0], [1.0, 2.0]], [0, 0], "has the same value"),
        ([[0.0, 1.0], [1.0, 2.0]], [0, 1, 2], "the same number of rows"),
        ([["a", "b"], ["c", "d"]], [0, 1], "must be real numbers"),
        (np.zeros((2, 2, 2)), [0, 1], "must have shape"),
        (np.zeros((2, 0)), [0, 1], "must have shape"),
    ],
)
def test_malformed_input_is_refused_in_a_sentence(metric, codes, factors, message):
    with pytest.raises(ValueError, match=message):
        metric(codes, factors)
