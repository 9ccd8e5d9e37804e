"""Claims about the agreement of codes whose axes mean nothing."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from unbraid.selection import chance_level, unsupervised_disentanglement_ranking

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
