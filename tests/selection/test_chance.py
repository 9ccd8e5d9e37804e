"""Claims about the agreement of codes whose axes mean nothing."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from unbraid.selection import (
    chance_level,
    levels_of_chance,
    measure_evidence,
    rotated_pairs,
    unsupervised_disentanglement_ranking,
)

OWNERS = ["a"] * 4


def agreement(codes):
    return unsupervised_disentanglement_ranking(codes, groups=OWNERS).scores.mean()


def independent(n_latents=4):
    return np.random.default_rng(0).normal(size=(300, n_latents))


def test_copies_in_other_order_and_sign_are_above_chance():
    codes = independent()
    copies = [codes, -codes, codes[:, ::-1], codes[:, [1, 0, 3, 2]]]
    assert agreement(copies) > chance_level(copies, OWNERS)["a"] + 0.1


def test_random_directions_are_hardly_ever_above_chance():
    rng = np.random.default_rng(2)
    n_above = 0
    for seed in range(10):
        rotated = [independent() @ ortho_group.rvs(4, random_state=rng) for _ in OWNERS]
        level = chance_level(rotated, OWNERS, n_rotations=20, seed=seed)["a"]
        n_above += agreement(rotated) > level
    assert n_above <= 3


def test_the_level_does_not_depend_on_the_directions_it_is_given():
    codes = independent()
    turned = codes @ ortho_group.rvs(4, random_state=np.random.default_rng(3))
    straight = chance_level([codes] * 4, OWNERS, n_rotations=60)["a"]
    askew = chance_level([turned] * 4, OWNERS, n_rotations=60)["a"]
    assert straight == pytest.approx(askew, abs=0.08)


def test_one_latent_cannot_be_told_from_chance():
    codes = independent(1)
    copies = [codes, -codes, codes, codes]
    assert chance_level(copies, OWNERS)["a"] == pytest.approx(agreement(copies))


def test_dead_models_have_a_level_of_zero():
    assert chance_level([np.zeros((50, 3))] * 4, OWNERS)["a"] == 0.0


def test_the_same_seed_gives_the_same_level():
    copies = [independent()] * 4
    first = chance_level(copies, OWNERS, n_rotations=5, seed=1)
    assert first == chance_level(copies, OWNERS, n_rotations=5, seed=1)
    assert first != chance_level(copies, OWNERS, n_rotations=5, seed=2)


def test_the_level_depends_on_how_similarity_is_measured():
    copies = [independent()] * 4
    options = {"n_rotations": 5}
    usual = chance_level(copies, OWNERS, **options)
    assert chance_level(copies, OWNERS, similarity="spearman", **options) != usual
    logs = np.full((300, 4), -0.1)  # about 0.5 nats per latent
    coded = [(codes, logs) for codes in copies]
    dead = chance_level(coded, OWNERS, kl_threshold=100.0, **options)
    assert dead == {"a": 0.0}


def test_the_level_is_that_of_the_largest_deviation_of_all_configurations():
    generator = np.random.default_rng(0)
    scores = generator.normal(0.5, 0.1, size=(19, 4))
    owners = ["a", "a", "b", "b"]
    found = levels_of_chance(scores, owners)
    means = scores.reshape(19, 2, 2).mean(axis=2)
    center, spread = means.mean(axis=0), means.std(axis=0, ddof=1)
    largest = ((means - center) / spread).max()  # 1 of 20, with the measured one
    for k, name in enumerate("ab"):
        assert found[name].mean == pytest.approx(center[k])
        assert found[name].level == pytest.approx(center[k] + largest * spread[k])


def test_a_smaller_probability_needs_a_higher_level():
    scores = np.random.default_rng(0).normal(0.5, 0.1, size=(199, 3))
    levels = [
        levels_of_chance(scores, ["a"] * 3, probability=p)["a"].level
        for p in (0.05, 0.02, 0.005)
    ]
    ordered = np.sort(scores.mean(axis=1))
    np.testing.assert_allclose(levels, ordered[[-10, -4, -1]])


@pytest.mark.parametrize("probability", [0.0, 1.0, float("nan")])
def test_impossible_probabilities_are_refused(probability):
    with pytest.raises(ValueError, match="probability must be"):
        levels_of_chance(np.ones((5, 2)), ["a", "a"], probability=probability)


def test_latents_of_different_variance_are_not_standardized_before_rotation():
    # One latent with nearly all the variance: after most rotations every latent is a
    # multiple of it, so that the models agree whatever their axes are.
    codes = independent() * [100.0, 1.0, 1.0, 1.0]
    pairs = rotated_pairs(
        [codes, codes], None, similarity="spearman", n_rotations=20, seed=0
    )
    even = rotated_pairs(
        [independent()] * 2, None, similarity="spearman", n_rotations=20, seed=0
    )
    assert np.isnan(pairs[:, 0, 0]).all()
    # With equal correlations everywhere, each maximum is a quarter of its sum.
    assert abs(np.median(pairs[:, 0, 1]) - 0.25) < 0.05
    assert np.median(even[:, 0, 1]) > 0.35


def test_more_configurations_tried_need_more_agreement():
    generator = np.random.default_rng(4)
    shared = generator.normal(size=(300, 4))
    codes = [shared + 0.8 * generator.normal(size=(300, 4)) for _ in range(3)]
    names = ["a0", "a1", "a2"]
    one = measure_evidence(names, ["a"] * 3, codes)
    six = measure_evidence(names, ["a"] * 3, codes, n_tried=6)
    assert six.chance["a"] > one.chance["a"]
    np.testing.assert_array_equal(six.udr_pairs, one.udr_pairs)


def test_agreement_across_configurations_is_part_of_the_evidence():
    codes = np.random.default_rng(0).normal(size=(300, 3))
    other = np.random.default_rng(1).normal(size=(300, 3))
    found = measure_evidence(
        ["a0", "a1", "b0", "b1"], ["a", "a", "b", "b"], [codes, other, codes, codes]
    )
    expected = unsupervised_disentanglement_ranking(
        [codes, other, codes, codes],
        similarity="spearman",
        groups=["a", "a", "b", "b"],
        partners="other",
    ).scores
    np.testing.assert_array_equal(found.across, expected)
    assert found.across[0] > found.across[1]
    alone = measure_evidence(["a0", "a1"], ["a", "a"], [codes, codes])
    assert alone.across is None


@pytest.mark.parametrize("shape", [(1, 2), (5, 3), (2,)])
def test_scores_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match="levels_of_chance: scores must have a row"):
        levels_of_chance(np.ones(shape), ["a", "a"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_tried": 0}, "n_tried must be .* at least 1, got 0"),
        ({"decoders": [None]}, "decoders must have one entry for each of 2 models"),
        ({"names": ["a", "a"]}, "different names"),
        ({"configurations": ["x"]}, "a label for each of 2 models, got 1"),
    ],
)
def test_evidence_of_parts_that_do_not_fit_is_refused(more, message):
    given = {"names": ["a", "b"], "configurations": ["x", "x"]} | more
    with pytest.raises(ValueError, match=message):
        measure_evidence(codes=[independent()] * 2, **given)
