import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, constructed, sampled

from unbraid.metrics import Factors, factor_vae_score

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_predictors.json").read_text())
SMALL = {"n_train": 1000, "n_test": 1000}


def grid(*sizes):
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)


def literal_votes(codes, factors, n_votes, group_size, spread, active, generator):
    """Group by group, as the paper describes it."""
    votes = np.zeros((codes.shape[1], factors.shape[1]))
    for _ in range(n_votes):
        k = generator.integers(factors.shape[1])
        value = factors[generator.integers(len(factors)), k]
        rows = np.flatnonzero(factors[:, k] == value)
        group = codes[generator.choice(rows, size=group_size)]
        ratio = group.var(axis=0, ddof=1)[active] / spread[active] ** 2
        votes[active[ratio.argmin()], k] += 1
    return votes


def test_equals_a_literal_transcription_up_to_sampling():
    generator = np.random.default_rng(0)
    factors = grid(4, 5, 3)
    mixing = generator.standard_normal((3, 4))
    codes = factors @ mixing + generator.standard_normal((60, 4))
    codes[:, 3] *= 0.001
    spread = codes.std(axis=0)
    active = np.flatnonzero(spread >= 0.05)
    train, test = (
        literal_votes(codes, factors, 3000, 16, spread, active, generator)
        for _ in range(2)
    )
    expected = test[np.arange(4), train.argmax(axis=1)].sum() / 3000
    score = factor_vae_score(codes, factors, n_train=3000, n_test=3000, group_size=16)
    assert 0.4 < expected < 0.95
    # Three standard errors of the difference of two accuracies.
    assert score == pytest.approx(expected, abs=3 * np.sqrt(2 * 0.25 / 3000))
    assert score.matrix == pytest.approx(train / train.sum(axis=0), abs=0.07)


def assert_agrees_with_dlib(name, space, n_seeds):
    codes, factors = constructed(name, SPACES[space], np.arange(SPACES[space].size))
    scores = [factor_vae_score(codes, factors, seed=seed) for seed in range(n_seeds)]
    reference = DLIB[f"{space}/{name}"]["factor_vae"]
    # The error of few runs is itself uncertain, but not below that of counting votes.
    counting = reference["mean"] * (1 - reference["mean"]) / 5000
    ours = max(np.var(scores, ddof=1), counting) / n_seeds
    theirs = max(reference["standard_error"] ** 2, counting / 4)
    tolerance = 2 * np.sqrt(ours + theirs)
    assert np.mean(scores) == pytest.approx(reference["mean"], abs=tolerance + 1e-12)


@pytest.mark.parametrize("name", ["rotated", "mixed"])
def test_agrees_with_disentanglement_lib(name):
    assert_agrees_with_dlib(name, "shapes3d", n_seeds=2)


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disentanglement_lib_on_every_representation(name, space):
    assert_agrees_with_dlib(name, space, n_seeds=4)


def test_one_latent_per_factor_scores_one_whatever_its_order_sign_or_warp():
    factors = grid(5, 6)
    perfect = factors / 5.0
    for codes in (perfect, perfect[:, ::-1], -perfect, perfect**3):
        assert factor_vae_score(codes, factors, **SMALL) == 1.0


def test_a_rotation_by_45_degrees_leaves_two_factors_at_chance():
    factors = grid(10, 10)
    rotated = factors @ np.array([[1.0, 1.0], [-1.0, 1.0]])
    score = factor_vae_score(rotated, factors, **SMALL)
    assert score == pytest.approx(0.5, abs=0.06)


def test_duplicate_latents_do_no_harm():
    factors = grid(5, 6)
    twice = np.hstack([factors, factors]) / 5.0
    assert factor_vae_score(twice, factors, **SMALL) == 1.0


def test_the_count_of_active_latents_drops_when_one_is_switched_off():
    factors = grid(5, 6)
    noise = np.random.default_rng(0).standard_normal((30, 2))
    codes = np.hstack([factors / 5.0, noise])
    assert factor_vae_score(codes, factors, **SMALL).details["n_active"] == 4
    codes[:, 3] *= 0.01
    score = factor_vae_score(codes, factors, **SMALL)
    assert score.details["n_active"] == 3
    assert score.matrix[3].tolist() == [0.0, 0.0]


def test_a_dead_latent_wins_votes_only_when_nothing_is_pruned():
    codes, factors = sampled("perfect", SPACES["dsprites"], 5000)
    codes[:, 9] = 1e-9 * (np.arange(5000) == 0)
    pruned = factor_vae_score(codes, factors, **SMALL)
    kept = factor_vae_score(codes, factors, prune_threshold=0.0, **SMALL)
    assert pruned == 1.0
    assert pruned.details["n_active"] == 5
    assert kept.details["n_active"] > 5
    assert kept < 1.0


def test_constant_codes_score_zero_and_say_why():
    score = factor_vae_score(np.ones((30, 3)), grid(5, 6), prune_threshold=0.0)
    assert score == 0.0
    assert score.details["n_active"] == 0
    assert "no latent" in score.note


def test_a_far_off_mean_changes_nothing():
    factors = grid(10, 10)
    generator = np.random.default_rng(0)
    codes = factors + generator.standard_normal((100, 2))
    near = factor_vae_score(codes, factors, **SMALL)
    assert factor_vae_score(codes + 1e7, factors, **SMALL) == pytest.approx(near)


def test_one_factor_scores_one_and_says_so():
    score = factor_vae_score(np.arange(20.0), np.arange(20) % 4, **SMALL)
    assert score == 1.0
    assert "one factor" in score.note


def test_more_factors_than_codes_continuous_and_missing_ones_are_scored():
    generator = np.random.default_rng(0)
    values = generator.uniform(size=(500, 4))
    values[:, 1] = generator.integers(0, 3, 500)
    values[::3, 1] = np.nan
    factors = Factors(values, names=tuple("abcd"))
    score = factor_vae_score(values[:, [0, 2]], factors, **SMALL)
    assert 0.25 < score < 0.9
    assert score.per_factor["a"] > 0.95
    assert "not a complete grid" in score.note


def test_the_seed_decides():
    codes, factors = sampled("mixed", SPACES["shapes3d"], 2000)
    first, again, other = (
        factor_vae_score(codes, factors, seed=seed, **SMALL) for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_size": 1}, "group_size must be a whole number of at least 2, got 1"),
        ({"n_train": 0}, "n_train must be a whole number of at least 1, got 0"),
        ({"n_test": 2.5}, "n_test must be a whole number of at least 1, got 2.5"),
        ({"n_variance": 1}, "n_variance must be a whole number of at least 2, got 1"),
    ],
)
def test_bad_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        factor_vae_score(np.eye(4), np.arange(4), **arguments)
