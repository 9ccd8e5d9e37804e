"""Claims about agreement in units of what random rotations reach."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from unbraid.foundation import numpy_generator
from unbraid.selection import (
    chance_agreement,
    standardized_agreement,
    unsupervised_disentanglement_ranking,
)

CODES = np.random.default_rng(0).normal(size=(300, 4))
COPIES = [CODES, -CODES, CODES[:, ::-1], CODES[:, [1, 0, 3, 2]]]


def rotated(seed, n_models=4):
    rng = np.random.default_rng(seed)
    return [CODES @ ortho_group.rvs(4, random_state=rng) for _ in range(n_models)]


def test_copies_are_far_above_chance_and_rotations_are_not():
    assert standardized_agreement(COPIES).min() > 3
    scores = np.concatenate([standardized_agreement(rotated(k)) for k in range(5)])
    assert abs(scores.mean()) < 0.5
    assert 0.5 < scores.std() < 2


@pytest.mark.parametrize("similarity", ["lasso", "spearman"])
def test_it_is_the_distance_from_the_mean_of_rotations(similarity):
    # With one partner per model all models of a group have the same scores, so that
    # the mean of a configuration is that of each model.
    owners = ["a", "a", "b", "b"]
    models = [*COPIES[:2], *rotated(0, 2)]
    options = {"similarity": similarity, "n_rotations": 10, "seed": 4}
    udr = unsupervised_disentanglement_ranking(
        models, similarity=similarity, groups=owners
    ).scores
    chance = chance_agreement(models, owners, **options)
    scores = standardized_agreement(models, groups=owners, **options)
    above = udr - [chance[owner].mean for owner in owners]
    if similarity == "spearman":  # a lasso's pairs depend on their direction
        assert scores[0] == pytest.approx(scores[1])
    assert (np.sign(scores) == np.sign(above)).all()
    ratio = above / scores
    assert (ratio > 0.01).all()
    assert (ratio < 0.5).all()


def test_scores_are_those_of_a_literal_transcription():
    models = [*COPIES[:2], rotated(1, 1)[0]]
    generator = numpy_generator(7, "rotations")
    centered = [z - z.mean(axis=0) for z in models]
    drawn = []
    for _ in range(5):
        turned = [z @ ortho_group.rvs(4, random_state=generator) for z in centered]
        found = unsupervised_disentanglement_ranking(turned, similarity="spearman")
        drawn.append(found.scores)
    own = unsupervised_disentanglement_ranking(models, similarity="spearman").scores
    expected = (own - np.mean(drawn, axis=0)) / np.std(drawn, axis=0, ddof=1)
    scores = standardized_agreement(models, n_rotations=5, seed=7)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_order_of_models_and_latents_hardly_matters():
    models = [*COPIES[:3], *rotated(3, 2)]
    expected = standardized_agreement(models, n_rotations=80)
    shuffled = [codes[:, [2, 3, 1, 0]] for codes in models[::-1]]
    again = standardized_agreement(shuffled, n_rotations=80)[::-1]
    np.testing.assert_allclose(again, expected, rtol=0.35, atol=0.6)


def test_one_or_no_active_latent_cannot_be_told_from_chance():
    assert standardized_agreement([CODES[:, :1]] * 3).tolist() == [0.0] * 3
    assert standardized_agreement([0 * CODES] * 3).tolist() == [0.0] * 3


def test_a_model_alone_in_its_group_has_no_score():
    scores = standardized_agreement(COPIES, groups=["a", "a", "a", "b"])
    assert np.isnan(scores).tolist() == [False, False, False, True]


def test_the_same_seed_gives_the_same_scores():
    first, again, other = (
        standardized_agreement(COPIES, n_rotations=5, seed=seed) for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).all()


def test_agreement_above_a_lower_chance_level_wins_over_a_higher_raw_agreement():
    # Fewer latents agree more by chance: 2 rotated against 6 partly shared latents.
    rng = np.random.default_rng(5)
    few = [CODES[:, :2] @ ortho_group.rvs(2, random_state=rng) for _ in range(3)]
    shared = rng.normal(size=(300, 3))
    many = []
    for _ in range(3):
        turn = ortho_group.rvs(3, random_state=rng)
        many.append(np.hstack([shared, rng.normal(size=(300, 3)) @ turn]))
    owners = ["few"] * 3 + ["many"] * 3
    udr = unsupervised_disentanglement_ranking(
        few + many, similarity="spearman", groups=owners
    ).scores
    scores = standardized_agreement(few + many, groups=owners)
    assert udr[:3].mean() > udr[3:].mean()
    assert scores[3:].min() > scores[:3].max()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="n_rotations must be .* at least 2, got 1"):
        standardized_agreement(COPIES, n_rotations=1)
    with pytest.raises(ValueError, match="similarity"):
        standardized_agreement(COPIES, similarity="pearson")
    with pytest.raises(ValueError, match="two models"):
        standardized_agreement(COPIES[:1])


def test_latents_below_the_threshold_do_not_count():
    faint = np.column_stack([CODES[:, :3], 0.1 * CODES[:, 3]])
    logs = np.tile([-4.0, -4.0, -4.0, 0.0], (300, 1))
    models = [(faint, logs), (-faint, logs)]
    usual = standardized_agreement(models, n_rotations=5)
    every = standardized_agreement(models, n_rotations=5, kl_threshold=0.0)
    assert not np.array_equal(usual, every)
