import numpy as np

from unbraid.metrics._active import active_latents


def test_switching_a_latent_off_lowers_the_count():
    codes = np.random.default_rng(0).standard_normal((100, 4))
    assert active_latents(codes).sum() == 4
    codes[:, 2] *= 0.01
    assert active_latents(codes).tolist() == [True, True, False, True]
    assert active_latents(1000 * codes).tolist() == [True, True, False, True]


def test_no_share_keeps_all_that_vary():
    codes = np.array([[0.0, 0.0, 1.0], [1.0, 1e-9, 1.0]])
    assert active_latents(codes, share=0.0).tolist() == [True, True, False]


def test_constant_latents_are_never_active():
    assert not active_latents(np.ones((5, 3))).any()
