"""Claims about models that read the latents of other models."""

import numpy as np
import pytest
from linear_models import linear_model, permuted_model
from scipy.linalg import hadamard
from scipy.stats import ortho_group

from unbraid.foundation import numpy_generator
from unbraid.selection import model_centrality

FACTORS = np.random.default_rng(0).uniform(-1, 1, size=(400, 4))


def encoded(model):
    return FACTORS @ model.encoding.numpy().astype(float)


def population(n_entangled=3):
    straight = linear_model(np.eye(4))
    orders = [3, 1, 0, 2], [1, 2, 3, 0]
    models = [straight, *(permuted_model(straight, order) for order in orders)]
    rng = np.random.default_rng(6)
    models += [
        linear_model(ortho_group.rvs(4, random_state=rng)) for _ in range(n_entangled)
    ]
    return models, [encoded(model) for model in models]


def test_identical_models_score_one():
    models, codes = population(0)
    scores = model_centrality([models[0]] * 3, [codes[0]] * 3)
    assert scores.scores.tolist() == [1.0, 1.0, 1.0]


def test_models_that_agree_are_more_central_than_rotated_ones():
    scores = model_centrality(*population())
    assert (scores.pairs[:3, :3][~np.eye(3, dtype=bool)] == 1.0).all()
    assert scores.scores[:3].min() > scores.scores[3:].max()
    assert np.isnan(np.diag(scores.pairs)).all()
    np.testing.assert_allclose(scores.pairs, scores.pairs.T)
    np.testing.assert_allclose(scores.scores, np.nanmean(scores.pairs, axis=1))


def test_a_model_that_spreads_every_latent_evenly_is_read_at_chance():
    # Fixing one latent takes a quarter of the variance from all pixels alike.
    models, codes = population(0)
    spread = linear_model(hadamard(4) / 2)
    scores = model_centrality(
        [models[0], spread],
        [codes[0], encoded(spread)],
        groups_per_latent=100,
        group_size=100,
    )
    assert scores.pairs[0, 1] == pytest.approx(0.25, abs=0.15)


def slow_factor_vae(reader, maker, codes, groups, size, seed):
    """The definition, one group at a time."""
    generator = numpy_generator(seed, "model_centrality")
    rows = generator.integers(len(codes), size=(groups, size, 4))
    fixed = generator.integers(len(codes), size=groups)

    def read(z):
        decoded = z @ maker.decoding.numpy().astype(float)
        return decoded @ reader.encoding.numpy().astype(float)

    free = np.empty(rows.shape)
    for group, row, latent in np.ndindex(rows.shape):
        free[group, row, latent] = codes[rows[group, row, latent], latent]
    spread = read(free.reshape(-1, 4)).std(axis=0)
    votes = []
    for label in range(4):
        for group in range(groups):
            z = free[group].copy()
            z[:, label] = codes[fixed[group], label]
            winner = int(np.argmin((read(z) / spread).var(axis=0)))
            votes.append((group < groups / 2, label, winner))
    right = 0.0
    for half, label, winner in votes:
        counts = [
            sum(v == (not half, other, winner) for v in votes) for other in range(4)
        ]
        best = [other for other in range(4) if counts[other] == max(counts)]
        right += (label in best) / len(best)
    return right / len(votes)


def test_scores_are_those_of_a_literal_transcription():
    models, codes = population()
    options = {"groups_per_latent": 6, "group_size": 8, "seed": 3}
    scores = model_centrality(models, codes, **options)
    for i, j in np.argwhere(~np.isnan(scores.directed)):
        expected = slow_factor_vae(models[i], models[j], codes[j], 6, 8, 3)
        assert scores.directed[i, j] == pytest.approx(expected)
    assert np.nanmin(scores.directed) < 0.7


def test_order_of_models_does_not_matter_and_that_of_latents_hardly():
    models, codes = population()
    expected = model_centrality(models, codes).scores
    backward = model_centrality(models[::-1], codes[::-1]).scores
    np.testing.assert_allclose(backward[::-1], expected)
    models[3] = permuted_model(models[3], [2, 0, 3, 1])
    codes[3] = encoded(models[3])
    permuted = model_centrality(models, codes).scores
    np.testing.assert_allclose(permuted, expected, atol=0.1)


def test_latents_that_are_not_active_take_no_part():
    models, codes = population(1)
    padded = linear_model(np.vstack([models[0].decoding.numpy(), np.full((1, 4), 9.0)]))
    padded.encoding[:] = 0.0
    padded.encoding[:, :4] = models[0].encoding
    idle = np.hstack([codes[0], np.zeros((400, 1))])
    with_idle = model_centrality([padded, *models[1:]], [idle, *codes[1:]])
    assert with_idle.n_active.tolist() == [4, 4, 4, 4]
    without = model_centrality(models, codes).scores
    np.testing.assert_allclose(with_idle.scores, without, atol=0.1)


def test_models_without_active_latents_score_zero():
    models, codes = population(0)
    scores = model_centrality([*models, models[0]], [*codes, 0 * codes[0]])
    assert scores.scores.tolist() == pytest.approx([2 / 3] * 3 + [0.0])
    assert scores.n_active.tolist() == [4, 4, 4, 0]


def test_names_come_from_a_mapping():
    models, codes = population(0)
    scores = model_centrality(
        dict(zip("abc", models, strict=True)),
        dict(zip("cba", codes[::-1], strict=True)),
    )
    assert scores.names == ("a", "b", "c")
    assert scores.scores.tolist() == [1.0, 1.0, 1.0]


def test_the_same_seed_gives_the_same_scores():
    first, again, other = (
        model_centrality(*population(), seed=seed).scores for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_bad_input_is_refused():
    models, codes = population(0)
    with pytest.raises(ValueError, match="at least two models, got 1"):
        model_centrality(models[:1], codes[:1])
    with pytest.raises(ValueError, match="needs codes of every model, got 3 models"):
        model_centrality(models, codes[:1])
    with pytest.raises(TypeError, match="needs a model with a method 'encode'"):
        model_centrality([models[0], object()], codes[:2])
    with pytest.raises(
        ValueError,
        match="groups_per_latent must be a whole number of at least 2, got 1",
    ):
        model_centrality(models, codes, groups_per_latent=1)
    with pytest.raises(ValueError, match="model_1: .*NaN"):
        model_centrality(models[:2], [codes[0], codes[1] * np.nan])


def test_models_below_the_threshold_have_no_score():
    models, codes = population(0)
    coded = [(table, np.full_like(table, -1.0)) for table in codes]
    assert np.isfinite(model_centrality(models, coded).scores).all()
    dead = model_centrality(models, coded, kl_threshold=100.0)
    assert not (dead.scores > 0).any()
