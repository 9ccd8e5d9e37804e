import warnings

import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from unbraid.metrics import Split, infoexplicitness


def literal_loss(inputs, labels):
    model = LogisticRegression(C=np.inf, class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs, labels)
    return log_loss(labels, model.predict_proba(inputs))


@pytest.mark.parametrize("name", ["mixed", "noisy", "random"])
def test_scored_on_train_equals_the_published_recipe(name):
    codes, factors = sampled(name, SPACES["shapes3d"], 1500)
    rows = np.arange(1500)
    inputs = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    expected = []
    for labels in factors.T:
        null = literal_loss(np.zeros_like(inputs), labels)
        expected.append((null - literal_loss(inputs, labels)) / null)
    score = infoexplicitness(
        codes, factors, scored_on="train", split=Split(rows, rows[:0])
    )
    assert list(score.per_factor.values()) == pytest.approx(expected, abs=1e-3)


def test_rows_learned_from_flatter_a_representation_that_knows_nothing():
    codes, factors = sampled("random", SPACES["shapes3d"], 900)
    flattered = infoexplicitness(codes, factors, scored_on="train")
    assert flattered > 0.01
    assert infoexplicitness(codes, factors) < 0.001


def test_what_a_linear_model_can_read_is_explicit_even_when_rotated():
    codes, factors = sampled("rotated", SPACES["shapes3d"], 3000)
    assert infoexplicitness(codes, factors) > 0.98


def test_discrete_latents_need_no_order():
    codes = np.random.default_rng(0).integers(0, 6, (900, 2))
    scrambled = np.array([3, 0, 4, 1, 5, 2])[codes[:, 0]]
    as_numbers = infoexplicitness(scrambled, codes[:, 0])
    as_symbols = infoexplicitness(scrambled, codes[:, 0], latent_kind="discrete")
    assert as_symbols > 0.99
    assert infoexplicitness(codes[:, :1], codes[:, 1], latent_kind="discrete") < 0.01
    assert as_numbers <= as_symbols


def test_a_value_that_was_not_learned_from_is_left_out():
    labels = np.repeat([0, 1, 2], 50)
    split = Split(np.arange(0, 100, 2), np.concatenate([[1, 51], np.arange(100, 150)]))
    assert infoexplicitness(labels[:, None], labels, split=split) > 0.99


def test_a_single_class_to_learn_from_gives_zero():
    labels = np.repeat([0, 1], 50)
    split = Split(np.arange(40), np.arange(40, 100))
    assert infoexplicitness(labels[:, None], labels, split=split) == 0.0


def test_other_rows_and_kinds_are_refused():
    with pytest.raises(ValueError, match="scored_on must be 'test' or 'train'"):
        infoexplicitness([[0.0], [1.0]], [0, 1], scored_on="both")
    with pytest.raises(
        ValueError, match="latent_kind must be 'continuous' or 'discrete'"
    ):
        infoexplicitness([[0.0], [1.0]], [0, 1], latent_kind="integer")
