import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled

from unbraid.metrics import modularity_score

REFERENCES = Path(__file__).parents[2] / "references"
PUBLISHED = json.loads((REFERENCES / "dlib_information.json").read_text())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_disentanglement_lib(name, space):
    codes, factors = sampled(name, SPACES[space], 15000)
    score = modularity_score(codes[:10000], factors[:10000])
    expected = PUBLISHED[f"{space}/{name}"]["modularity"]
    assert score == pytest.approx(expected, abs=1e-9)


def test_a_latent_that_knows_two_of_three_factors_is_half_modular():
    factors = np.indices((2, 2, 2)).reshape(3, -1).T
    codes = np.column_stack([2.0 * factors[:, 0] + factors[:, 1], factors[:, 2]])
    score = modularity_score(codes, factors)
    assert score.details["latent_0"] == pytest.approx(0.5)
    assert score.details["latent_1"] == pytest.approx(1.0)
    assert score == pytest.approx(0.75)


def test_dead_latents_count_unless_only_active_ones_are_asked_for():
    codes, factors = sampled("perfect", SPACES["dsprites"], 3000)
    every = modularity_score(codes, factors)
    active = modularity_score(codes, factors, latents="active")
    assert active > 0.99 > every
    assert active.details["n_active"] == 5


def test_a_constant_latent_counts_as_zero():
    factors = np.indices((3, 5, 7)).reshape(3, -1).T
    codes = np.column_stack([1.0 * factors[:, 0], np.full(len(factors), 0.1)])
    score = modularity_score(codes, factors)
    assert score.details["latent_1"] == 0.0
    assert score == pytest.approx(0.5)


def test_with_one_factor_a_latent_that_knows_it_is_modular():
    codes = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    score = modularity_score(codes, [0, 0, 1, 1])
    assert (score.details["latent_0"], score.details["latent_1"]) == (1.0, 0.0)


def test_only_constant_latents_give_zero():
    assert modularity_score(np.ones((4, 2)), [0, 0, 1, 1], latents="active") == 0.0


def test_other_choices_of_latents_are_refused():
    with pytest.raises(ValueError, match="latents must be 'all' or 'active'"):
        modularity_score([[0.0], [1.0]], [0, 1], latents="some")
