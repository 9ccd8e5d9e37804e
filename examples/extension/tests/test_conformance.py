"""Conformance tests of unbraid for the extensions of this package."""

import numpy as np

import unbraid
from unbraid.metrics import METRICS
from unbraid.models import choose_objective
from unbraid.testing import check_dataset, check_metric, check_objective


def test_the_objective_conforms():
    check_objective(choose_objective("free_bits_vae", {"free_bits": 0.1}))


def test_the_metric_conforms():
    check_metric(METRICS["mcc"], ideal=1.0, blind_to=("order", "sign", "scale"))


def test_the_metric_stands_in_a_scorecard_with_its_levels():
    factors = np.indices((6, 5, 4)).reshape(3, -1).T
    noise = np.random.default_rng(0).normal(0, 0.5, factors.shape)
    score = unbraid.evaluate(factors + noise, factors, metrics="mcc")["mcc"]
    low, high = score.interval
    assert low < score < high
    assert score.chance < 0.3 < 0.8 < score < score.ideal


def test_the_dataset_conforms():
    check_dataset(unbraid.data.open_dataset("clock:image_size=16"))
