import numpy as np
import pytest
from constructed import SPACES, sampled

from unbraid.metrics import joint_entropy_minus_mutual_information_gap


def joint_entropy(*columns):
    counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1]
    chances = counts / counts.sum()
    return -(chances * np.log(chances)).sum()


def literal_jemmig(codes, factors, bins=20):
    """The formula from entropies of columns, factor by factor."""
    binned = [np.digitize(z, np.histogram(z, bins)[1][:-1]) for z in codes.T]
    scores = []
    for factor in factors.T:
        own = joint_entropy(factor)
        known = [own + joint_entropy(z) - joint_entropy(z, factor) for z in binned]
        best, second = np.argsort(known)[::-1][:2]
        value = joint_entropy(factor, binned[best]) - known[best] + known[second]
        scores.append(1 - value / (own + np.log(bins)))
    return np.mean(scores)


@pytest.mark.parametrize("name", ["perfect", "noisy", "rotated", "random"])
def test_equals_the_formula_written_with_entropies_of_columns(name):
    codes, factors = sampled(name, SPACES["dsprites"], 2000)
    score = joint_entropy_minus_mutual_information_gap(codes, factors)
    assert score == pytest.approx(literal_jemmig(codes, factors), abs=1e-12)


def test_codes_that_know_nothing_leave_the_bins_as_the_only_merit():
    factors = np.repeat([0, 1, 2, 3], 5)
    score = joint_entropy_minus_mutual_information_gap(np.zeros((20, 2)), factors)
    assert score == pytest.approx(1 - np.log(4) / (np.log(4) + np.log(20)))
    assert score.details["unscaled"] == pytest.approx(np.log(4))


def test_a_latent_that_holds_a_second_factor_too_scores_less():
    factors = np.indices((4, 4)).reshape(2, -1).T
    both = np.column_stack([4.0 * factors[:, 0] + factors[:, 1], np.zeros(16)])
    alone = np.column_stack([4.0 * factors[:, 0], np.zeros(16)])
    first = factors[:, 0]
    score_of_both = joint_entropy_minus_mutual_information_gap(both, first)
    assert score_of_both < joint_entropy_minus_mutual_information_gap(alone, first)


def test_of_latents_that_know_the_same_the_one_that_holds_less_counts():
    factors = np.array([0, 0, 1, 1])
    codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    first, turned = (
        joint_entropy_minus_mutual_information_gap(z, factors)
        for z in (codes, codes[:, ::-1])
    )
    # No gap, so that the entropy of the factor is lost.
    assert first == turned == pytest.approx(1 - np.log(2) / (np.log(2) + np.log(20)))


def test_one_latent_is_refused():
    with pytest.raises(ValueError, match="at least two latents"):
        joint_entropy_minus_mutual_information_gap([[0.0], [1.0]], [[0], [1]])
