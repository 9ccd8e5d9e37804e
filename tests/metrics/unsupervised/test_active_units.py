import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled

from unbraid.metrics import active_units


# Burda et al. (2016): active above a variance of 0.01; dead latents have 0.0001.
@pytest.mark.parametrize("name", NAMES)
def test_counts_the_latents_that_were_built_to_vary(name):
    codes, _ = sampled(name, SPACES["dsprites"], 2000)
    expected = {"duplicated": 9, "partial": 10, "mixed": 10, "random": 10}
    assert active_units(codes) == expected.get(name, 5)


def test_the_threshold_is_on_the_variance_and_has_to_be_exceeded():
    codes = np.array([[-0.5, -1.0], [0.5, 1.0]])  # variances 0.25 and 1
    assert active_units(codes, threshold=0.24) == 2
    assert active_units(codes, threshold=0.25) == 1
    assert active_units(codes, threshold=1.0) == 0
    assert active_units(codes).details == {"latent_0": 0.25, "latent_1": 1.0}


def test_a_constant_latent_is_not_active_at_any_threshold():
    codes = np.full((1000, 1), 0.1)
    assert active_units(codes, threshold=0.0) == 0


@pytest.mark.parametrize("threshold", [-1.0, np.nan])
def test_a_threshold_below_zero_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be"):
        active_units(np.eye(2), threshold=threshold)
