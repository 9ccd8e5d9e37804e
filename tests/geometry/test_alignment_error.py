import numpy as np
import pytest

from unbraid.geometry import alignment_error


def test_a_known_tilt_is_measured_even_if_tiny():
    for angle in (1e-9, 0.3, 1.5):
        tilted = np.array([[[np.cos(angle)], [np.sin(angle)]]])
        axis = np.array([[[1.0], [0.0]]])
        assert alignment_error([axis], [tilted])[0] == pytest.approx(angle, rel=1e-6)


def test_other_numbers_or_dimensions_of_parts_are_a_right_angle():
    axes = np.eye(4)[None]
    halves = [axes[:, :, :2], axes[:, :, 2:]]
    uneven = [axes[:, :, :1], axes[:, :, 1:]]
    assert alignment_error(halves, [axes])[0] == np.pi / 2
    assert alignment_error(halves, uneven)[0] == np.pi / 2


def test_bases_and_order_do_not_matter():
    axes = np.eye(4)[None]
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    halves = [axes[:, :, :2], axes[:, :, 2:]]
    assert alignment_error([halves[1] @ turn, halves[0]], halves)[0] < 1e-9


@pytest.mark.parametrize("shape", [(6, 4, 2), (5, 3, 2), (5, 4)])
def test_bases_at_other_points_are_refused(shape):
    with pytest.raises(ValueError, match="with the same first two axes, got"):
        alignment_error([np.ones(shape)], [np.ones((5, 4, 2))])
