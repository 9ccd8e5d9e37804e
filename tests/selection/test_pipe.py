"""Claims about telling images of permuted codes from reconstructions."""

import numpy as np
import pytest
import torch
from linear_models import linear_model, permuted_model

from unbraid.models import Bernoulli, build_model
from unbraid.models.networks import Dense
from unbraid.selection import pipe_score

RNG = np.random.default_rng(0)
PLANE = linear_model(np.eye(2))


def test_independent_latents_cannot_be_told_from_permuted_ones():
    score = pipe_score(PLANE, RNG.normal(size=(2000, 2)))
    assert score == pytest.approx(1.0, abs=0.1)
    assert score.details["standard_error"] == pytest.approx(0.0224, abs=1e-3)


@pytest.mark.parametrize("n_values", [2, 4])
def test_a_duplicated_latent_scores_one_over_its_number_of_values(n_values):
    # Permuted rows have two equal values by chance, with probability 1 / n_values: a
    # perfect classifier is wrong about these and about nothing else.
    values = RNG.integers(n_values, size=(2000, 1)) - (n_values - 1) / 2
    score = pipe_score(PLANE, np.hstack([values, values]))
    assert score == pytest.approx(1 / n_values, abs=0.1)


def test_a_decoder_that_mixes_latents_does_not_hide_a_dependence():
    values = RNG.choice([-1.0, 1.0], size=(2000, 1))
    mixed = linear_model(RNG.normal(size=(2, 16)))
    assert pipe_score(mixed, np.hstack([values, -values])) == pytest.approx(
        0.5, abs=0.1
    )


def test_order_of_latents_hardly_matters():
    model = linear_model(RNG.normal(size=(3, 9)))
    codes = RNG.normal(size=(1000, 3))
    codes[:, 2] = codes[:, 0]
    order = [2, 0, 1]
    first = pipe_score(model, codes)
    second = pipe_score(permuted_model(model, order), codes[:, order])
    assert first == pytest.approx(second, abs=0.1)


def test_one_latent_scores_about_one_and_none_has_no_score():
    codes = RNG.normal(size=(2000, 2)) * [1.0, 0.0]
    assert pipe_score(PLANE, codes) == pytest.approx(1.0, abs=0.1)
    assert np.isnan(pipe_score(PLANE, 0 * codes))


def test_latents_that_are_not_active_do_not_count():
    # The second latent repeats the first, too faintly to be active.
    values = RNG.choice([-1.0, 1.0], size=(2000, 1))
    codes = np.hstack([values, 1e-3 * values])
    loud = linear_model([[1.0, 0.0], [0.0, 1000.0]])
    logs = np.tile([-4.0, 0.0], (2000, 1))
    assert pipe_score(loud, codes) == pytest.approx(0.5, abs=0.1)
    assert pipe_score(loud, (codes, logs)) == pytest.approx(1.0, abs=0.1)
    assert np.isnan(pipe_score(loud, (codes, logs), kl_threshold=100.0))


def test_the_same_seed_gives_the_same_score_and_leaves_the_generator_alone():
    model = build_model(
        Dense(), image_shape=(1, 8, 8), n_latents=2, likelihood=Bernoulli(), seed=0
    )
    codes = np.repeat(RNG.normal(size=(400, 1)), 2, axis=1)
    state = torch.get_rng_state()
    scores = [pipe_score(model, codes, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert scores[0] == scores[1]
    assert len(set(scores)) > 1
    assert torch.equal(state, torch.get_rng_state())


def test_bad_input_is_refused():
    codes = RNG.normal(size=(100, 2))
    with pytest.raises(TypeError, match="needs a model with a method 'decode'"):
        pipe_score(object(), codes)
    with pytest.raises(
        ValueError, match="n_rows must be a whole number of at least 20, got 5"
    ):
        pipe_score(PLANE, codes, n_rows=5)
    with pytest.raises(
        ValueError, match="rows of codes must be .* at least 20, got 10"
    ):
        pipe_score(PLANE, codes[:10])
    with pytest.raises(ValueError, match="NaN"):
        pipe_score(PLANE, codes * np.nan)

    class Broken:
        def decode(self, codes):
            return codes / 0

    with pytest.raises(ValueError, match="decode returned NaN or infinity"):
        pipe_score(Broken(), codes)

    class Summary:
        def decode(self, codes):
            return codes[:1]

    with pytest.raises(ValueError, match="one image per code, got 1 images of 100"):
        pipe_score(Summary(), codes)
