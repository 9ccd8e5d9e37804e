import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, constructed, sampled
from sklearn.linear_model import LogisticRegression

from unbraid.metrics import Factors, beta_vae_score

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_predictors.json").read_text())
SMALL = {"n_train": 1000, "n_test": 1000}


def grid(*sizes):
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)


def literal_points(codes, factors, n_points, n_pairs, generator):
    """Pair by pair, as the paper describes it."""
    points, shared = [], []
    for _ in range(n_points):
        k = generator.integers(factors.shape[1])
        apart = np.zeros(codes.shape[1])
        for _ in range(n_pairs):
            one = generator.integers(len(codes))
            alike = np.flatnonzero(factors[:, k] == factors[one, k])
            apart += np.abs(codes[one] - codes[generator.choice(alike)])
        points.append(apart / n_pairs)
        shared.append(k)
    return np.array(points), np.array(shared)


def test_equals_a_literal_transcription_up_to_sampling():
    generator = np.random.default_rng(0)
    factors = grid(4, 5, 3)
    mixing = generator.standard_normal((3, 4))
    codes = factors @ mixing + generator.standard_normal((60, 4))
    train, test = (literal_points(codes, factors, 1000, 8, generator) for _ in range(2))
    expected = LogisticRegression(max_iter=1000).fit(*train).score(*test)
    score = beta_vae_score(codes, factors, n_pairs=8, **SMALL)
    assert 0.4 < expected < 0.95
    # Three standard errors of the difference of two accuracies.
    assert score == pytest.approx(expected, abs=3 * np.sqrt(2 * 0.25 / 1000))


def assert_agrees_with_dlib(name, space, n_seeds):
    codes, factors = constructed(name, SPACES[space], np.arange(SPACES[space].size))
    scores = [beta_vae_score(codes, factors, seed=seed) for seed in range(n_seeds)]
    reference = DLIB[f"{space}/{name}"]["beta_vae"]
    # The error of few runs is itself uncertain, but not below that of counting points.
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
        assert beta_vae_score(codes, factors, **SMALL) == 1.0


def test_permuting_latents_changes_nothing_and_flipping_signs_neither():
    codes, factors = sampled("rotated", SPACES["shapes3d"], 3000)
    score = beta_vae_score(codes, factors, **SMALL)
    for other in (codes[:, ::-1], -codes):
        again = beta_vae_score(other, factors, **SMALL)
        assert again == pytest.approx(score, abs=0.003)


def test_a_rotation_by_45_degrees_leaves_two_factors_at_chance():
    factors = grid(10, 10)
    rotated = factors @ np.array([[1.0, 1.0], [-1.0, 1.0]])
    assert beta_vae_score(rotated, factors, **SMALL) == pytest.approx(0.5, abs=0.06)


def test_noise_scores_at_chance():
    codes, factors = sampled("random", SPACES["dsprites"], 3000)
    score = beta_vae_score(codes, factors, **SMALL)
    assert score == pytest.approx(score.details["chance"], abs=0.05)


def test_constant_and_duplicate_latents_do_no_harm():
    factors = grid(5, 6)
    codes = np.hstack([factors, factors, np.ones((30, 1))]) / 5.0
    assert beta_vae_score(codes, factors, **SMALL) == 1.0


def test_one_factor_scores_one_and_says_so():
    score = beta_vae_score(np.arange(20.0), np.arange(20) % 4, **SMALL)
    assert score == 1.0
    assert "one factor" in score.note


def test_more_factors_than_codes_continuous_and_missing_ones_are_scored():
    generator = np.random.default_rng(0)
    values = generator.uniform(size=(500, 4))
    values[:, 1] = generator.integers(0, 3, 500)
    values[::3, 1] = np.nan
    factors = Factors(values, names=tuple("abcd"))
    score = beta_vae_score(values[:, [0, 2]], factors, **SMALL)
    assert 0.25 < score < 0.9
    assert score.per_factor["a"] > 0.95
    assert "not a complete grid" in score.note


def test_the_seed_decides():
    codes, factors = sampled("rotated", SPACES["shapes3d"], 2000)
    first, again, other = (
        beta_vae_score(codes, factors, seed=seed, **SMALL) for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", ["n_train", "n_test", "n_pairs"])
def test_bad_sizes_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number .* 1, got 0"):
        beta_vae_score(np.eye(4), np.arange(4), **{name: 0})
