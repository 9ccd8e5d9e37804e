"""Claims about how much of each latent no other latent knows."""

import numpy as np
import pytest

from unbraid.metrics import mutual_information_gap
from unbraid.selection import self_mig

GRID = np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float)


def test_independent_latents_score_one():
    assert self_mig(GRID) == pytest.approx(1.0)


def test_duplicated_latents_score_zero():
    assert self_mig(GRID[:, [0, 1, 0, 1]]) == pytest.approx(0.0, abs=1e-12)
    assert self_mig(GRID[:, [0, 0]]) == pytest.approx(0.0, abs=1e-12)


def test_one_duplicate_costs_both_copies():
    score = self_mig(np.hstack([GRID, -GRID[:, :1]]))
    assert score == pytest.approx(1 / 3)
    gaps = [score.details[f"latent_{k}"] for k in range(3)]
    assert gaps == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)


def test_half_of_a_latent_is_known_by_one_that_repeats_two_of_its_four_bits():
    bits = (np.arange(256)[:, None] >> np.arange(8)) % 2
    own = bits[:, :4] @ [8, 4, 2, 1]
    other = bits[:, [0, 1, 4, 5]] @ [8, 4, 2, 1]
    assert self_mig(np.stack([own, other], axis=1), bins=16) == pytest.approx(0.5)


def test_it_is_the_mutual_information_gap_with_latents_as_factors():
    rng = np.random.default_rng(0)
    codes = rng.integers(8, size=(500, 4))
    codes[:, 1] = np.where(rng.random(500) < 0.5, codes[:, 0], codes[:, 1])
    codes[:2] = [[0] * 4, [7] * 4]
    gap = mutual_information_gap(codes, codes, bins=8)
    assert self_mig(codes, bins=8) == pytest.approx(gap)
    assert 0.1 < gap < 0.95


def test_order_sign_and_scale_of_latents_do_not_matter():
    codes = np.random.default_rng(0).normal(size=(300, 3))
    codes[:, 2] += codes[:, 0]
    expected = self_mig(codes)
    assert self_mig(codes[:, [2, 0, 1]]) == pytest.approx(expected)
    assert self_mig(codes * [5.0, 0.1, 1.0] + 3) == pytest.approx(expected, abs=1e-3)


def test_only_active_latents_count():
    dead = np.hstack([GRID, np.zeros((400, 3))])
    assert self_mig(dead) == self_mig(GRID)
    assert self_mig(dead).details["n_active"] == 2
    logs = np.zeros((400, 3))
    logs[:, :2] = -4.0
    idle = np.hstack([GRID, 1e-3 * GRID[:, :1]])
    assert self_mig((idle, logs)) == pytest.approx(1.0)


def test_one_latent_scores_one_and_none_has_no_score():
    assert self_mig(GRID[:, :1]) == 1.0
    assert np.isnan(self_mig(0 * GRID))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        self_mig(GRID * np.nan)
    with pytest.raises(ValueError, match="kl_threshold must be at least 0"):
        self_mig(GRID, kl_threshold=-1.0)
    with pytest.raises(ValueError, match="bins"):
        self_mig(GRID, bins=1)
