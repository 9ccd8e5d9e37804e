import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from unbraid.metrics import infocompactness, infomodularity


def literal_shares(codes, factors):
    """Information as a share of entropy, ``(n_factors, n_latents)``."""
    return np.array(
        [
            mutual_info_classif(codes, factor, n_neighbors=10, random_state=0)
            / mutual_info_score(factor, factor)
            for factor in factors.T
        ]
    )


def literal_scores(shares):
    n_factors, n_latents = shares.shape
    modular = (shares.max(axis=0) / shares.sum(axis=0)).mean()
    compact = (shares.max(axis=1) / shares.sum(axis=1)).mean()
    return (
        (modular - 1 / n_factors) / (1 - 1 / n_factors),
        (compact - 1 / n_latents) / (1 - 1 / n_latents),
    )


@pytest.mark.parametrize("name", ["mixed", "noisy", "rotated", "perfect"])
def test_equals_the_formula_with_scikit_learns_estimator(name):
    codes, factors = sampled(name, SPACES["shapes3d"], 2000)
    active = 10 if name == "mixed" else 6  # the others are dead latents
    modular, compact = literal_scores(literal_shares(codes[:, :active], factors))
    # Ties are broken by other noise, which matters for latents of few values.
    near = 5e-3 if name in ("perfect", "rotated") else 1e-4
    assert infomodularity(codes, factors) == pytest.approx(modular, abs=near)
    assert infocompactness(codes, factors) == pytest.approx(compact, abs=near)


def test_discrete_latents_use_relative_frequencies():
    codes, factors = sampled("rotated", SPACES["shapes3d"], 3000)
    codes = np.round(3 * codes[:, :6])
    shares = np.array(
        [
            [mutual_info_score(z, v) / mutual_info_score(v, v) for z in codes.T]
            for v in factors.T
        ]
    )
    modular, compact = literal_scores(shares)
    score = infomodularity(codes, factors, latent_kind="discrete")
    assert score == pytest.approx(modular, abs=1e-9)
    score = infocompactness(codes, factors, latent_kind="discrete")
    assert score == pytest.approx(compact, abs=1e-9)


def test_every_latent_twice_leaves_half_of_the_information_in_the_best():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 2000)
    once = infocompactness(codes[:, :6], factors)
    twice = np.column_stack([codes[:, :6], codes[:, :6]])
    part = (once * (1 - 1 / 6) + 1 / 6) / 2
    expected = (part - 1 / 12) / (1 - 1 / 12)
    assert infocompactness(twice, factors) == pytest.approx(expected, abs=1e-3)


def test_dead_latents_are_not_counted():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 2000)
    assert infomodularity(codes, factors).details["n_active"] == 6
    expected = infomodularity(codes[:, :6], factors)
    assert infomodularity(codes, factors) == pytest.approx(expected, abs=1e-3)


def test_with_one_factor_or_one_latent_knowing_anything_is_enough():
    factors = np.repeat(np.arange(4), 100)
    knows, does_not = factors[:, None], np.tile(np.arange(4), 100)[:, None]
    for score in (infomodularity, infocompactness):
        assert score(knows, factors, latent_kind="discrete") == 1.0
    both = np.column_stack([knows, does_not])
    score = infomodularity(both, factors, latent_kind="discrete")
    assert score == pytest.approx(0.5)


def test_a_factor_that_no_latent_encodes_counts_as_spread_evenly():
    factors = np.indices((2, 2)).reshape(2, -1).T.repeat(10, axis=0)
    of_neither = np.tile([0, 1], 20)
    codes = np.column_stack([factors[:, 0], of_neither])
    score = infocompactness(codes, factors, latent_kind="discrete")
    assert score.per_factor == pytest.approx({"factor_0": 1.0, "factor_1": 0.0})


def test_only_constant_latents_give_zero():
    for score in (infomodularity, infocompactness):
        assert score(np.ones((40, 3)), np.repeat([0, 1], 20)) == 0.0


def test_other_kinds_and_no_neighbors_are_refused():
    with pytest.raises(
        ValueError, match="latent_kind must be 'continuous' or 'discrete'"
    ):
        infomodularity([[0.0], [1.0]], [0, 1], latent_kind="integer")
    with pytest.raises(
        ValueError, match="neighbors must be a whole number of at least 1"
    ):
        infocompactness([[0.0], [1.0]], [0, 1], neighbors=0)
