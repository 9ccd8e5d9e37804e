import json
from dataclasses import dataclass

import pytest
from torch import nn

from unbraid.models import Gaussian
from unbraid.models._names import LIKELIHOODS, RECORDS
from unbraid.models._schedules import SCHEDULES, Linear
from unbraid.models._settings import from_plain, to_plain
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
