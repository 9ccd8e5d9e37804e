"""Claims about the number of latents that other seeds find again."""

import numpy as np

from unbraid.selection import (
    chance_agreement,
    chance_level,
    reproducible_latents,
    unsupervised_disentanglement_ranking,
)


def test_perfect_agreement_finds_all_latents_and_chance_none():
    assert reproducible_latents([1.0, 0.4], [5, 5], 0.4).tolist() == [5.0, 0.0]


def test_disagreement_counts_at_most_minus_one_per_latent():
    assert reproducible_latents([0.0], [3], [0.9]).tolist() == [-3.0]


def test_a_single_latent_cannot_be_told_from_chance():
    assert reproducible_latents([1.0], [1], [1.0]).tolist() == [0.0]


def test_agreement_that_lost_by_its_raw_value_wins_over_its_chance_level():
    # 0.63 over a chance level of 0.49 lost to 0.62 over 0.59 in a demo run.
    first, second = reproducible_latents([0.62, 0.63], [4, 4], [0.59, 0.49])
    assert second > 3 * first


def test_noise_in_two_of_four_latents_leaves_between_one_and_two():
    generator = np.random.default_rng(0)
    factors = generator.normal(size=(2_000, 2))
    codes = [np.hstack([factors, generator.normal(size=(2_000, 2))]) for _ in range(3)]
    udr = unsupervised_disentanglement_ranking(codes, similarity="spearman")
    chance = chance_agreement(codes, ["a"] * 3, similarity="spearman")["a"]
    found = reproducible_latents(udr.scores, udr.n_active, chance.mean)
    assert ((found > 1) & (found < 2)).all()


def test_the_level_of_chance_is_above_its_mean():
    codes = [np.random.default_rng(seed).normal(size=(300, 4)) for seed in range(4)]
    found = chance_agreement(codes, ["a", "a", "b", "b"])
    assert all(chance.level > chance.mean for chance in found.values())
    levels = chance_level(codes, ["a", "a", "b", "b"])
    assert levels == {name: chance.level for name, chance in found.items()}
