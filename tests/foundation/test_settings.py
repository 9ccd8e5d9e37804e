import json
import re
from dataclasses import dataclass

import pytest
from torch import nn

from unbraid.foundation import from_plain, to_plain
from unbraid.models import LIKELIHOODS, RECORDS, SCHEDULES, Gaussian, Linear
from unbraid.models.networks import NETWORKS, Dense, choose_network
from unbraid.models.objectives import OBJECTIVES, BetaVAE, choose_objective


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
    with pytest.raises(ValueError, match="expected plain data, got object"):
        to_plain(object(), RECORDS)


def test_of_a_network_the_name_is_kept():
    assert to_plain((nn.Linear(1, 1),), RECORDS) == ["Linear"]


def test_mistakes_in_names_and_options_get_a_hint():
    with pytest.raises(ValueError, match="Did you mean 'beta_vae'"):
        choose_objective("betavae")
    with pytest.raises(ValueError, match="Did you mean 'beta'"):
        choose_objective("beta_vae", {"bta": 1.0})
    with pytest.raises(ValueError, match="expected a 'name' among beta"):
        from_plain({"beta": 1.0}, RECORDS)
    with pytest.raises(ValueError, match="expected 'auto' or one of dense"):
        choose_network("large", (1, 8, 8))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "linear"}, "linear: expected start and end, got neither"),
        ({"name": "linear", "start": 0, "end": 1, "first_step": "a"}, "first_step"),
        ({"name": "cosine", "start": 0, "end": 1, "steps": "a"}, "steps must be at"),
        ({"name": "cosine", "start": 0, "end": 1, "share": None}, "share must be"),
        ({"name": "cyclic", "start": 0, "end": 1, "period": "a"}, "a period from 1"),
        ({"name": ["linear"]}, "expected one of"),
        ({"name": "factor_vae", "discriminator_width": 2.5}, "whole number from 1"),
        ({"name": "factor_vae", "discriminator_betas": 7}, "two numbers from 0"),
        ({"name": "factor_vae", "discriminator_betas": [0.5, 1]}, "two numbers from 0"),
        ({"name": "info_vae", "bandwidth": "a"}, "a bandwidth above 0, got 'a'"),
        ({"name": "beta_tc_vae", "n_data": 64.5}, "whole number from 2, got 64.5"),
        ({"name": "beta_vae", "beta": 10**400}, "expected beta to be a number from 0"),
        ({"name": "tvae", "n_triplets": True}, "whole number from 1, got True"),
        ({"name": "tvae", "decoder_gradient": "no"}, "one of True, False, got 'no'"),
        ({"name": "dfc_vae", "features": "A", "layers": 1}, "layers to be whole"),
        ({"name": "dfc_vae", "features": "A", "weights": ["a"]}, "weights to be num"),
        ({"name": "semi_supervised", "base": "factor_vae"}, "got 'factor_vae'"),
        ({"name": "semi_supervised", "base": {"name": "group_vae"}}, "one by one"),
        ({"name": "semi_supervised", "factor_sizes": 5}, "factor_sizes to be whole"),
        ({"name": "semi_supervised", "sigma": "a"}, "sigma above 0, got 'a'"),
        ({"name": "semi_supervised", "n_labels": 1.5}, "n_labels to be a whole"),
        ({"name": "semi_supervised_adversarial"}, "expected base, got neither"),
        ({"name": "gaussian", "variance": "a"}, "a variance above 0, got 'a'"),
        ({"name": "kernel_augmented", "base": "gaussian"}, "base to be a likelihood"),
        ({"name": "kernel_augmented", "kernel": [[1, 2], [3]]}, "rows of numbers"),
        ({"name": "kernel_augmented", "radius": True}, "a radius from 0, got True"),
        ({"name": "kernel_augmented", "weight": "a"}, "a weight from 0, got 'a'"),
        ({"name": "dense", "widths": 5}, "widths to be whole numbers from 1, got 5"),
        ({"name": "dense", "widths": [True]}, "widths to be whole numbers from 1"),
        ({"name": "convolutional", "n_units": "a"}, "n_filters and n_units from 1"),
    ],
)
def test_wrong_values_are_refused_in_a_sentence(settings, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        from_plain(settings, RECORDS)
