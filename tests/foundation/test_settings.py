import json
import re
from dataclasses import dataclass

import pytest
from torch import nn

from unbraid.foundation import from_plain, to_plain
from unbraid.models import (
    LIKELIHOODS,
    RECORDS,
    SCHEDULES,
    Gaussian,
    Linear,
    choose_objective,
)
from unbraid.models.networks import NETWORKS, Dense, choose_network
from unbraid.models.objectives import OBJECTIVES, BetaVAE


@pytest.mark.parametrize(
    "record",
    [
        Dense(widths=(8, 4)),
        BetaVAE(beta=Linear(start=0.0, end=4.0, share=1 / 3), scale="mean"),
        Gaussian(variance=0.1),
    ],
    ids=["network", "objective", "likelihood"],
)
def test_records_come_back_from_json(record):
    text = json.dumps(to_plain(record, RECORDS))
    assert from_plain(json.loads(text), RECORDS) == record


def test_no_two_records_share_a_name():
    tables = (NETWORKS, OBJECTIVES, LIKELIHOODS, SCHEDULES)
    assert len(RECORDS) == sum(map(len, tables))


def test_records_without_a_name_are_refused():
    @dataclass
    class Own:
        size: int = 1

    with pytest.raises(ValueError, match="not one of unbraid's own"):
        to_plain(Own(), RECORDS)
    with pytest.raises(ValueError, match="object is not plain data"):
        to_plain(object(), RECORDS)


def test_of_a_network_the_name_is_kept():
    assert to_plain((nn.Linear(1, 1),), RECORDS) == ["Linear"]


def test_mistakes_in_names_and_options_get_a_hint():
    with pytest.raises(ValueError, match="Did you mean 'beta_vae'"):
        choose_objective("betavae")
    with pytest.raises(ValueError, match="Did you mean 'beta'"):
        choose_objective("beta_vae", {"bta": 1.0})
    with pytest.raises(ValueError, match="settings have no 'name', only beta"):
        from_plain({"beta": 1.0}, RECORDS)
    with pytest.raises(
        ValueError, match="network must be 'auto', 'dense', .* got 'large'"
    ):
        choose_network("large", (1, 8, 8))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "linear"}, "linear needs start and end, which have no default"),
        ({"name": "linear", "start": 0, "end": 1, "first_step": "a"}, "first_step"),
        (
            {"name": "cosine", "start": 0, "end": 1, "steps": "a"},
            "steps must be a finite number, got 'a'",
        ),
        ({"name": "cosine", "start": 0, "end": 1, "share": None}, "share must be"),
        (
            {"name": "cyclic", "start": 0, "end": 1, "period": "a"},
            "period must be a finite number, got 'a'",
        ),
        ({"name": ["linear"]}, "name must be one of"),
        (
            {"name": "factor_vae", "discriminator_width": 2.5},
            "width must be an integer",
        ),
        ({"name": "factor_vae", "discriminator_betas": 7}, "betas must be a list"),
        ({"name": "factor_vae", "discriminator_betas": [0.5, 1]}, "below 1, got 1"),
        (
            {"name": "info_vae", "bandwidth": "a"},
            "bandwidth must be a finite number, got 'a'",
        ),
        (
            {"name": "beta_tc_vae", "n_data": 64.5},
            "n_data must be an integer, got 64.5",
        ),
        ({"name": "beta_vae", "beta": 10**400}, "beta must be a finite number"),
        (
            {"name": "tvae", "n_triplets": True},
            "n_triplets must be an integer, got True",
        ),
        ({"name": "tvae", "decoder_gradient": "no"}, "must be True or False, got 'no'"),
        (
            {"name": "dfc_vae", "features": "A", "layers": 1},
            "layers must be a list or tuple, got 1",
        ),
        (
            {"name": "dfc_vae", "features": "A", "weights": ["a"]},
            "weights[0] must be a finite number, got 'a'",
        ),
        ({"name": "semi_supervised", "base": "factor_vae"}, "got 'factor_vae'"),
        ({"name": "semi_supervised", "base": {"name": "group_vae"}}, "single images"),
        (
            {"name": "semi_supervised", "factor_sizes": 5},
            "factor_sizes must be a list or tuple, got 5",
        ),
        (
            {"name": "semi_supervised", "sigma": "a"},
            "sigma must be a finite number, got 'a'",
        ),
        ({"name": "semi_supervised", "n_labels": 1.5}, "n_labels must be an int"),
        (
            {"name": "semi_supervised_adversarial"},
            "semi_supervised_adversarial needs base",
        ),
        (
            {"name": "gaussian", "variance": "a"},
            "variance must be a finite number, got 'a'",
        ),
        ({"name": "kernel_augmented", "base": "gaussian"}, "base must be a likelihood"),
        (
            {"name": "kernel_augmented", "kernel": [[1, 2], [3]]},
            "kernel must be a table of numbers, got ",
        ),
        (
            {"name": "kernel_augmented", "radius": True},
            "radius must be an integer, got True",
        ),
        (
            {"name": "kernel_augmented", "weight": "a"},
            "weight must be a finite number, got 'a'",
        ),
        ({"name": "dense", "widths": 5}, "widths must be a list or tuple, got 5"),
        ({"name": "dense", "widths": [True]}, "widths[0] must be an integer, got True"),
        (
            {"name": "convolutional", "n_units": "a"},
            "n_units must be an integer, got 'a'",
        ),
    ],
)
def test_wrong_values_are_refused_in_a_sentence(settings, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        from_plain(settings, RECORDS)
