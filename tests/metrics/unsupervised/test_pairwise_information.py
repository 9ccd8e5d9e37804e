import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from sklearn.metrics import mutual_info_score

from unbraid.metrics import pairwise_mutual_information

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_unsupervised.json").read_text())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disentanglement_lib(space, name):
    codes, _ = sampled(name, SPACES[space], 15000)
    expected = DLIB[f"{space}/{name}"]["mutual_info_score"]
    assert pairwise_mutual_information(codes) == pytest.approx(expected, abs=1e-6)


def test_equals_the_mean_over_pairs_of_another_library():
    codes, _ = sampled("mixed", SPACES["dsprites"], 800)
    binned = [np.digitize(z, np.histogram(z, 7)[1][:-1]) for z in codes.T]
    known = [mutual_info_score(a, b) for a, b in permutations(binned, 2)]
    score = pairwise_mutual_information(codes, bins=7)
    assert score == pytest.approx(np.mean(known), abs=1e-12)


def test_copies_share_their_whole_entropy():
    latent = np.repeat([0.0, 1.0, 2.0, 3.0], 5)
    score = pairwise_mutual_information(np.column_stack([latent, -latent]))
    assert score == pytest.approx(np.log(4))
    assert score.matrix == pytest.approx(np.full((2, 2), np.log(4)))


def test_a_constant_latent_lowers_the_mean():
    latent = np.arange(20.0)
    codes = np.column_stack([latent, -latent, np.zeros(20)])
    score = pairwise_mutual_information(codes)
    assert score == pytest.approx(np.log(20) / 3)
    assert score.matrix[2] == pytest.approx([0.0, 0.0, 0.0])


def test_permutation_and_sign_change_nothing():
    codes, _ = sampled("noisy", SPACES["dsprites"], 3000)
    score = pairwise_mutual_information(codes)
    assert pairwise_mutual_information(-codes[:, ::-1]) == pytest.approx(
        score, abs=1e-12
    )


def test_one_latent_and_one_bin_are_refused():
    with pytest.raises(ValueError, match="at least two latents"):
        pairwise_mutual_information([0.0, 1.0])
    with pytest.raises(ValueError, match="bins must be a whole number of at least 2"):
        pairwise_mutual_information(np.eye(3), bins=1)
