"""The comparison of label-free scores can tell good scores from bad ones."""

import choice
import numpy as np
import pytest

N_SEEDS = 6


def population(name="made up", *, follows="jacobian_contrast", seed=0):
    """Two configurations of which one score follows the quality, and others do not."""
    generator = np.random.default_rng(seed)
    n_models = 2 * N_SEEDS
    quality = generator.permutation(n_models) / n_models
    owners = np.repeat(["a", "b"], N_SEEDS)
    same = owners[:, None] == owners
    pairs = generator.uniform(0.5, 0.9, (n_models, n_models))
    pairs = (pairs + pairs.T) / 2
    table = {
        "configurations": owners,
        "udr_lasso": pairs.copy(),
        "udr_spearman": pairs.copy(),
        "rotated": np.where(
            same, generator.uniform(0.2, 0.3, (20, n_models, n_models)), np.nan
        ),
        "dynamics": np.where(
            same, generator.uniform(size=(n_models, n_models)), np.nan
        ),
        "model_centrality": generator.uniform(size=(n_models, n_models)),
        "active_latents": np.full(n_models, 4),
    }
    for score in choice.SINGLE:
        table.setdefault(score, generator.uniform(size=n_models))
    for number, each in enumerate(choice.QUALITIES):
        table[each] = quality * (1 - 0.1 * number)
    if follows in choice.SINGLE:
        table[follows] = choice.SINGLE[follows] * quality
    else:
        worth = (quality[:, None] + quality) / 2
        table[follows] = 0.4 + 0.5 * worth
    for matrix in ("udr_lasso", "udr_spearman"):
        np.fill_diagonal(table[matrix], np.nan)
    return choice.Population(name, table)


def draws_of(made, n_draws=20, n_runs=3):
    generator = np.random.default_rng(1)
    return [
        choice.read_draw(made, made.draw(n_runs, generator, None))
        for _ in range(n_draws)
    ]


@pytest.mark.parametrize("score", ["elbo", "pipe", "total_correlation"])
def test_a_score_that_follows_the_quality_has_no_regret_and_others_have(score):
    draws = draws_of(population(follows=score))
    measured = choice.measure(draws)
    names = list(draws[0].scores)
    row = names.index(score)
    np.testing.assert_allclose(measured.regret[row], 0, atol=1e-12)
    np.testing.assert_allclose(measured.correlation[row], 1)
    others = np.delete(measured.regret, row, axis=0)
    assert (others.mean(axis=1) > 0.05).all()
    assert np.abs(np.delete(measured.correlation, row, axis=0)).max() < 0.9


@pytest.mark.parametrize(
    ("follows", "columns"),
    [
        ("jacobian_contrast", ["contrast"]),
        ("udr_spearman", ["across", "reproducible"]),
    ],
)
def test_weights_are_fitted_to_the_score_that_follows_the_quality(follows, columns):
    results = [
        [choice.measure(draws_of(population(follows=follows, seed=seed)))]
        for seed in range(3)
    ]
    weights = choice.list_weights()[choice.fit_weights(results)]
    assert sum(weights[choice.FITTED.index(name)] for name in columns) >= 0.5
    held_out = choice.held_out_regret(results)
    assert held_out.shape == (3, 1, len(choice.QUALITIES))
    assert held_out.mean() < 0.1


def test_a_rule_fitted_to_one_set_fails_on_another():
    # The regret that is reported is that of the set left out.
    kinds = ("udr_spearman", "jacobian_contrast")
    results = [[choice.measure(draws_of(population(follows=kind)))] for kind in kinds]
    assert choice.held_out_regret(results).mean() > 0.1


def test_the_columns_choose_what_the_ranking_chooses():
    made = population()
    generator = np.random.default_rng(2)
    for _ in range(5):
        drawn = made.draw(3, generator, None)
        draw = choice.read_draw(made, drawn)
        evidence = choice.describe_evidence(made, drawn)
        for weights in ([1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]):
            given = dict(zip(choice.FITTED, weights, strict=True))
            known = {name: weight for name, weight in given.items() if weight}
            chosen = choice.rank_models(evidence, weights=known).chosen
            assert chosen == str((draw.columns @ np.array(weights)).argmax())


def test_regret_is_the_best_less_the_chosen_and_ties_are_drawn():
    quality = np.array([0.1, 0.5, 0.9])
    assert choice.measure_regret(np.array([1, 3, 2]), quality) == pytest.approx(0.4)
    assert choice.measure_regret(np.array([3, 3, 2]), quality) == pytest.approx(0.6)
    nothing = np.full(3, np.nan)
    assert choice.measure_regret(nothing, quality) == pytest.approx(0.4)
    assert choice.correlate(np.array([1, 2, 3]), quality) == pytest.approx(1)
    assert choice.correlate(np.ones(3), quality) == 0


def test_models_better_than_chance_win_in_the_previous_rule_too():
    draw = draws_of(population(), n_draws=1)[0]
    assert set(draw.scores) >= {"previous_ranking", "udr_across", "dynamics"}
    assert np.isfinite(draw.columns).all()
    weights = choice.list_weights()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert len(np.unique(weights, axis=0)) == len(weights)
