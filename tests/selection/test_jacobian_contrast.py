"""Claims about how orthogonal the columns of a decoder's Jacobian are."""

import numpy as np
import pytest
import torch
from linear_models import linear_model, permuted_model
from scipy.stats import ortho_group
from torch import nn

from unbraid.models import Bernoulli, build_model
from unbraid.models.networks import Convolutional, Dense
from unbraid.selection import jacobian_contrast

CODES = np.random.default_rng(0).normal(size=(60, 3))


def test_an_orthogonal_decoder_has_no_contrast():
    directions = ortho_group.rvs(5, random_state=0)[:3] * [[1.0], [20.0], [0.01]]
    assert jacobian_contrast(linear_model(directions), CODES) == pytest.approx(
        0.0, abs=1e-5
    )


def test_a_linear_decoder_has_the_contrast_of_its_matrix():
    directions = np.random.default_rng(1).normal(size=(3, 6))
    expected = (
        np.log(np.linalg.norm(directions, axis=1)).sum()
        - 0.5 * np.linalg.slogdet(directions @ directions.T)[1]
    )
    assert expected > 0.1
    contrast = jacobian_contrast(linear_model(directions), CODES)
    assert contrast == pytest.approx(expected, rel=1e-5)


def test_two_directions_have_minus_the_logarithm_of_the_sine_of_their_angle():
    angle = 0.3
    model = linear_model([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    contrast = jacobian_contrast(model, CODES[:, :2])
    assert contrast == pytest.approx(-np.log(np.sin(angle)), rel=1e-5)


class Polar(nn.Module):
    """Radius and angle to a point in the plane: nonlinear, with orthogonal columns."""

    def decode(self, codes):
        return codes[:, :1].exp() * torch.stack(
            [codes[:, 1].cos(), codes[:, 1].sin()], dim=1
        )


def test_polar_coordinates_have_no_contrast_and_rotated_ones_have():
    codes = CODES[:, :2]
    assert jacobian_contrast(Polar(), codes) == pytest.approx(0.0, abs=1e-5)

    class Sheared(Polar):
        def decode(self, codes):
            return super().decode(torch.stack([codes[:, 0], codes.sum(dim=1)], dim=1))

    # Columns exp(r) (u + v) and exp(r) v for orthonormal u and v.
    assert jacobian_contrast(Sheared(), codes) == pytest.approx(
        0.5 * np.log(2), rel=1e-5
    )


@pytest.mark.parametrize(
    ("network", "shape"), [(Dense(), (1, 8, 8)), (Convolutional(), (1, 16, 16))]
)
def test_derivatives_are_those_of_finite_differences(network, shape):
    model = build_model(
        network, image_shape=shape, n_latents=3, likelihood=Bernoulli(), seed=0
    ).double()
    codes = CODES[:10]
    step = 1e-6
    with torch.no_grad():
        columns = [
            (
                model.decode(torch.as_tensor(codes + step * unit))
                - model.decode(torch.as_tensor(codes - step * unit))
            ).flatten(1)
            / (2 * step)
            for unit in np.eye(3)
        ]
    jacobians = torch.stack(columns, dim=2).numpy()
    expected = np.mean(
        [
            np.log(np.linalg.norm(each, axis=0)).sum()
            - 0.5 * np.linalg.slogdet(each.T @ each)[1]
            for each in jacobians
        ]
    )
    assert jacobian_contrast(model, codes) == pytest.approx(expected, rel=1e-4)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_order_and_scale_of_latents_do_not_matter():
    model = linear_model(np.random.default_rng(1).normal(size=(3, 6)))
    order = [2, 0, 1]
    scaled = linear_model(model.decoding.numpy() * [[3.0], [-1.0], [0.1]])
    expected = jacobian_contrast(model, CODES)
    assert expected == pytest.approx(
        jacobian_contrast(permuted_model(model, order), CODES[:, order]), rel=1e-5
    )
    assert expected == pytest.approx(jacobian_contrast(scaled, CODES), rel=1e-5)


def test_only_active_latents_count():
    model = linear_model([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    dead = CODES * [1.0, 1.0, 0.0]
    contrast = jacobian_contrast(model, dead)
    assert contrast == pytest.approx(0.0, abs=1e-6)
    assert contrast.details["n_active"] == 2
    logs = np.log([[0.1, 1.0, 1.0]] * len(CODES))
    assert jacobian_contrast(model, (dead * [1, 0, 0], logs)).details["n_active"] == 1


def test_duplicates_give_a_large_finite_number():
    model = linear_model([[1.0, 1.0], [1.0, 1.0]])
    assert 5 < jacobian_contrast(model, CODES[:, :2]) < 20


def test_a_latent_without_effect_is_left_out():
    model = linear_model([[1.0, 1.0], [0.0, 0.0]])
    assert jacobian_contrast(model, CODES[:, :2]) == pytest.approx(0.0, abs=1e-6)


def test_models_without_active_latents_have_no_contrast():
    assert np.isnan(jacobian_contrast(linear_model(np.eye(3)), 0 * CODES))


def test_the_same_seed_gives_the_same_score():
    model = build_model(
        Dense(), image_shape=(1, 8, 8), n_latents=3, likelihood=Bernoulli(), seed=0
    )
    scores = [jacobian_contrast(model, CODES, n_points=9, seed=s) for s in (1, 1, 2)]
    assert scores[0] == scores[1] != scores[2]


def test_bad_input_is_refused():
    model = linear_model(np.eye(3))
    with pytest.raises(TypeError, match="needs a model with a method 'decode'"):
        jacobian_contrast(object(), CODES)
    with pytest.raises(
        ValueError, match="n_points must be a whole number of at least 1, got 0"
    ):
        jacobian_contrast(model, CODES, n_points=0)
    with pytest.raises(ValueError, match="NaN"):
        jacobian_contrast(model, CODES * np.nan)
    with pytest.raises(ValueError, match="kl_threshold must be at least 0"):
        jacobian_contrast(model, CODES, kl_threshold=-1.0)

    class Detached:
        def decode(self, codes):
            return codes.detach()

    with pytest.raises(ValueError, match="not a differentiable"):
        jacobian_contrast(Detached(), CODES)
