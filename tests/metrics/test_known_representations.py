"""What every score of disentanglement says of representations whose quality is known.

Two independent factors of ten values, each combination once. Ten values and their sums
and differences fall into bins of their own, so that what is known of mutual information
is exact.
"""

import numpy as np
import pytest
from every_metric import scores_of

FACTORS = np.indices((10, 10)).reshape(2, -1).T
PLAIN = FACTORS.astype(float)
REPRESENTATIONS = {
    "identity": PLAIN,
    "permuted": PLAIN[:, ::-1],
    "flipped": -PLAIN,
    "warped": PLAIN + 0.05 * PLAIN**2,
    "dead": np.column_stack([PLAIN, np.full(len(PLAIN), 0.1)]),
    "rotated": PLAIN @ np.array([[1.0, 1.0], [-1.0, 1.0]]),
    "duplicated": np.hstack([PLAIN, PLAIN]),
    "noise": np.random.default_rng(0).standard_normal((len(PLAIN), 2)),
}
SAME = ("permuted", "flipped", "warped", "dead")
OPTIONS = {
    "beta_vae_score": {"n_train": 1000, "n_test": 500},
    "factor_vae_score": {"n_train": 1000, "n_test": 500},
}


def below(bound):
    """Any score from 0 to a bound, where no closed form is known."""
    return pytest.approx(bound / 2, abs=bound / 2 + 1e-12)


def about(value, within):
    return pytest.approx(value, abs=within)


GUESS = about(0.5, within=0.07)  # of which of two factors is fixed
TWO_OF_FOUR = 1 - np.log(2) / np.log(4)
SHARE_OF_TWO_IN_FOUR = (1 / 2 - 1 / 4) / (1 - 1 / 4)

# For each score: rotated by 45 degrees, every latent twice, and noise. What does not
# change a perfect representation leaves it at one, except for those below.
PERFECT_IS_ONE = {
    ("beta_vae_score", "beta_vae_score"): (GUESS, 1, GUESS),
    ("factor_vae_score", "factor_vae_score"): (GUESS, 1, GUESS),
    ("mig", "mig"): (0, 0, below(0.2)),
    ("mig_sup", "mig_sup"): (0, 1, below(0.2)),
    # A copy leaves no gap, which costs the entropy of a factor.
    ("jemmig", "jemmig"): (below(0.2), 1 - np.log(10) / np.log(200), below(0.4)),
    ("dcimig", "dcimig"): (0, 1, below(0.2)),
    ("dci", "dci_disentanglement"): (below(0.05), 1, below(0.05)),
    ("dci", "dci_completeness"): (below(0.05), about(TWO_OF_FOUR, 0.01), below(0.05)),
    # Trees find squares in a diamond from too few rows hardly better than by chance.
    ("dci", "dci_informativeness"): (below(0.3), 1, about(0.1, within=0.1)),
    ("modularity", "modularity"): (0, 1, below(0.2)),
    # With one factor held, a sum strays half as far.
    ("irs", "irs"): (0.5, 1, below(0.5)),
    # Half of what is known of a factor is in one of four: (1/2 - 1/4) / (1 - 1/4).
    ("infoc", "infoc"): (below(0.1), SHARE_OF_TWO_IN_FOUR, None),
    # Of two latents that know nothing, one knows it alone if noise says so.
    ("infom", "infom"): (below(0.1), 1, None),
    ("infoe", "infoe"): (about(1, 0.01), about(1, 0.01), below(0.1)),
    # Nothing can be read from noise by larger probes either, which the note says.
    ("dci_es", "dci_es_explicitness"): (1, 1, 1),
    ("distance_correlation", "distance_correlation"): (1, 1, below(0.5)),
    ("linearity", "linearity"): (1, 1, below(0.6)),
    ("axis_alignment", "axis_alignment"): (0, SHARE_OF_TWO_IN_FOUR, below(0.5)),
    ("axis_orientation", "axis_orientation"): (0, SHARE_OF_TWO_IN_FOUR, below(0.8)),
    ("equivariance", "equivariance"): (1, 1, below(0.1)),
    ("block_diagonality", "block_diagonality"): (0, 1, below(0.2)),
    ("analogies", "analogies"): (1, 1, below(0.05)),
}

EXCEPTIONS = {
    # A latent that knows nothing counts as not modular.
    ("modularity", "dead"): 2 / 3,
    # Distances and straight lines in the values of the codes are bent by a warp.
    ("dci_es_explicitness", "warped"): about(1, 0.02),
    ("distance_correlation", "warped"): about(1, 0.02),
}

LEFT = [
    (metric, score, representation, expected)
    for (metric, score), values in PERFECT_IS_ONE.items()
    for representation, expected in zip(
        ("rotated", "duplicated", "noise"), values, strict=True
    )
    if expected is not None
]


def scored(metric, score, representation):
    codes = REPRESENTATIONS[representation]
    return scores_of(metric, codes, FACTORS, **OPTIONS.get(metric, {}))[score]


def nearly(expected):
    return about(expected, 1e-3) if isinstance(expected, int | float) else expected


@pytest.mark.parametrize(("metric", "score"), PERFECT_IS_ONE)
@pytest.mark.parametrize("representation", ["identity", *SAME])
def test_one_latent_per_factor_is_perfect_in_any_guise(metric, score, representation):
    expected = EXCEPTIONS.get((score, representation), 1)
    assert scored(metric, score, representation) == nearly(expected)


@pytest.mark.parametrize(("metric", "score", "representation", "expected"), LEFT)
def test_rotated_duplicate_and_random_latents_score_what_is_known(
    metric, score, representation, expected
):
    assert scored(metric, score, representation) == nearly(expected)


@pytest.mark.parametrize("metric", ["sap", "explicitness"])
def test_linear_classifiers_of_one_latent_are_no_perfect_ruler(metric):
    # They cannot part ten values in a row, so that not even the identity scores one.
    identity = scored(metric, metric, "identity")
    assert 0.1 < identity < 0.9
    for representation in SAME:
        other = scored(metric, metric, representation)
        assert other == pytest.approx(identity, abs=0.03)
    assert scored(metric, metric, "noise") < identity - 0.1


def test_a_linear_classifier_leads_by_nothing_over_a_copy_and_little_if_rotated():
    assert scored("sap", "sap", "duplicated") == 0.0
    assert scored("sap", "sap", "rotated") < 0.1
    rotated = scored("explicitness", "explicitness", "rotated")
    identity = scored("explicitness", "explicitness", "identity")
    assert rotated == pytest.approx(identity, abs=0.02)


def test_a_size_is_the_share_of_latents_that_are_needed():
    for representation, size in (
        ("identity", 1),
        ("duplicated", 1 / 2),
        ("dead", 2 / 3),
    ):
        assert scored("dci_es", "dci_es_size", representation) == size
