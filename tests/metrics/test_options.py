"""Options of metrics do something: each of them changes the score of some codes."""

import numpy as np
import pytest

from unbraid.metrics import (
    Factors,
    block_diagonality_score,
    completeness_score,
    dci,
    dci_es,
    dcimig_score,
    disentanglement_score,
    explicitness_score,
    infocompactness,
    infoexplicitness,
    infomodularity,
    informativeness_score,
    joint_entropy_minus_mutual_information_gap,
    latent_data_correlation,
    modularity_score,
    mutual_information_gap_by_latent,
    reduced_downstream_accuracy,
    statistical_efficiency,
    strong_generalization_accuracy,
)

RNG = np.random.default_rng(0)
VALUES = RNG.integers(0, (5, 4, 3), size=(400, 3))
FACTORS = Factors(VALUES, names=("a", "b", "c"))
MIXED = VALUES @ RNG.normal(size=(3, 4)) + RNG.normal(size=(400, 4))

GRID = np.indices((6, 6)).reshape(2, -1).T
CIRCLES = np.column_stack([np.cos(GRID * np.pi / 3), np.sin(GRID * np.pi / 3)])
CIRCLES += 0.2 * RNG.normal(size=CIRCLES.shape)


def dci_informativeness(codes, factors, **options):
    return dci(codes, factors, **options).informativeness


def explicitness_by_size(codes, factors, **options):
    return dci_es(codes, factors, waves=(0, 8, 16), **options).explicitness


def random_pairs(codes, factors, **options):
    return latent_data_correlation(
        codes, factors, VALUES, along="random", n_pairs=200, **options
    )


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        (completeness_score, {"variant": "lasso"}),
        (dci_informativeness, {"n_test": 50}),
        (dcimig_score, {"bins": 5}),
        (disentanglement_score, {"variant": "lasso"}),
        (explicitness_by_size, {"n_test": 50}),
        (explicitness_by_size, {"n_train": 50}),
        (explicitness_score, {"iterations": 1}),
        (explicitness_score, {"seed": 1}),
        (infocompactness, {"neighbors": 3}),
        (infoexplicitness, {"iterations": 1}),
        (infoexplicitness, {"seed": 1}),
        (infomodularity, {"neighbors": 3}),
        (informativeness_score, {"variant": "lasso"}),
        (joint_entropy_minus_mutual_information_gap, {"bins": 5}),
        (modularity_score, {"bins": 5}),
        (mutual_information_gap_by_latent, {"bins": 5}),
        (random_pairs, {"correlation": "pearson"}),
        (random_pairs, {"pairs": "distinct"}),
        (random_pairs, {"seed": 1}),
    ],
)
def test_an_option_changes_the_score(metric, options):
    changed = metric(MIXED, FACTORS, **options)
    assert changed == metric(MIXED, FACTORS, **options)
    assert changed != metric(MIXED, FACTORS)


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        (reduced_downstream_accuracy, {"n_removed": 1, "variant": "dlib"}),
        (statistical_efficiency, {"few": 20, "many": 60, "n_test": 30}),
        (statistical_efficiency, {"few": 20, "many": 60, "predictor": "logistic"}),
        (statistical_efficiency, {"few": 20, "many": 60, "seed": 1}),
        (statistical_efficiency, {"few": 20, "many": 60, "variant": "dlib"}),
        (strong_generalization_accuracy, {"n_experiments": 1, "variant": "dlib"}),
    ],
)
def test_an_option_changes_how_predictors_learn(metric, options):
    """On few rows and binary factors, since scikit-learn's trees take their time."""
    codes, factors = MIXED[:150], VALUES[:150, :2] % 2
    *common, last = options.items()
    changed = metric(codes, factors, **options)
    assert changed != metric(codes, factors, **dict(common))
    assert last[0] != "variant" or changed.variant != metric(codes, factors).variant


@pytest.mark.parametrize("options", [{"group": "cyclic"}, {"seed": 1}])
def test_an_option_changes_block_diagonality(options):
    options = {"n_traversals": 3} | options
    usual = block_diagonality_score(CIRCLES, GRID, n_traversals=3)
    assert block_diagonality_score(CIRCLES, GRID, **options) != usual
