import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score

from unbraid.agents import (
    SUCCESS,
    Box,
    ClusteringEnvironment,
    clustering_quality,
    clustering_reward,
)
from unbraid.data import SPRITE_SHAPES


@pytest.mark.parametrize("n_kinds", [2, 3])
def test_quality_is_the_inverse_of_scikit_learns_davies_bouldin_index(n_kinds):
    generator = np.random.default_rng(0)
    for _ in range(20):
        positions = generator.uniform(size=(9, 2))
        kinds = np.arange(9) % n_kinds
        expected = 1 / davies_bouldin_score(positions, kinds)
        assert clustering_quality(positions, kinds) == pytest.approx(expected)


def test_sprites_without_a_kind_do_not_count():
    positions = np.array([[0.0, 0.0], [0.0, 0.1], [0.9, 0.3], [0.8, 0.3], [0.1, 0.7]])
    with_one_more = clustering_quality(positions, np.array([0, 0, 1, 1, -1]))
    assert with_one_more == clustering_quality(positions[:4], np.array([0, 0, 1, 1]))


def test_extreme_positions_have_a_quality():
    kinds = np.array([0, 0, 1, 1])
    apart = np.array([[0.1, 0.1], [0.1, 0.1], [0.9, 0.9], [0.9, 0.9]])
    assert clustering_quality(apart, kinds) == np.inf
    assert clustering_quality(np.full((4, 2), 0.5), kinds) == 0
    assert clustering_reward(np.inf) == 0


def make(**options):
    return ClusteringEnvironment(**{"image_size": 16, **options})


def test_reset_and_step_have_the_interface_of_gymnasium():
    environment = make()
    observation, info = environment.reset(seed=3)
    assert observation in environment.observation_space
    assert observation.dtype == np.uint8
    assert info["masks"].shape == (5, 16, 16)
    action = environment.action_space.sample()
    observation, reward, is_terminated, is_truncated, info = environment.step(action)
    assert observation in environment.observation_space
    assert isinstance(reward, float)
    assert isinstance(is_terminated, bool)
    assert isinstance(is_truncated, bool)
    assert environment.render().shape == (16, 16, 3)
    assert np.array_equal(environment.render().transpose(2, 0, 1), observation)
    environment.close()


def test_the_seed_decides_the_episode():
    first, second = make(), make(seed=9)
    observation, info = first.reset(seed=5)
    again, again_info = second.reset(seed=5)
    assert np.array_equal(observation, again)
    assert np.array_equal(info["positions"], again_info["positions"])
    assert not np.array_equal(observation, first.reset()[0])


def test_the_clicked_sprite_is_pushed_and_no_other():
    environment = make(n_sprites=4, push=0.5)
    _, info = environment.reset(seed=0)
    before = info["positions"].copy()
    x, y = before[3]  # in front of the others
    *_, info = environment.step([x, y, 0.7, 0.4])
    moved = info["positions"] - before
    expected = np.clip([x + 0.5 * 0.2, y - 0.5 * 0.1], 0.1, 0.9) - before[3]
    np.testing.assert_allclose(moved[3], expected, atol=1e-12)
    assert not moved[:3].any()


def test_a_click_on_the_background_does_nothing():
    environment = make()
    observation, info = environment.reset(seed=0)
    row, column = np.argwhere(info["masks"][0] == 1)[0]
    click = (np.array([column, row]) + 0.5) / 16
    after, *_, after_info = environment.step([*click, 1.0, 1.0])
    assert np.array_equal(observation, after)
    assert np.array_equal(info["positions"], after_info["positions"])


def test_sprites_stay_in_the_frame():
    environment = make()
    _, info = environment.reset(seed=0)
    for _ in range(10):
        x, y = info["positions"][3]
        *_, info = environment.step([x, y, 1.0, 0.0])
    assert info["positions"][3].tolist() == [0.9, 0.1]


def test_pushing_sprites_together_ends_the_episode_with_success():
    environment = make(max_steps=200, push=2.0)
    _, info = environment.reset(seed=1)
    corners = np.array([[0.15, 0.15], [0.85, 0.85]])
    is_terminated = False
    for k in (3, 2, 1, 0):
        x, y = info["positions"][k]
        push = (corners[info["kinds"][k]] - [x, y]) / 2.0 + 0.5
        _, reward, is_terminated, _, info = environment.step([x, y, *push])
    assert is_terminated
    assert info["is_success"]
    assert info["quality"] >= SUCCESS
    assert reward == 0


def test_rewards_follow_the_quality():
    environment = make()
    _, info = environment.reset(seed=2)
    x, y = info["positions"][3]
    _, reward, _, _, info = environment.step([x, y, 0.6, 0.6])
    quality = 1 / davies_bouldin_score(info["positions"], info["kinds"])
    assert info["quality"] == pytest.approx(quality)
    assert reward == pytest.approx(np.clip(5 * (quality - 2.5), -10, 0))


def test_long_episodes_are_truncated():
    environment = make(max_steps=2)
    environment.reset(seed=0)
    nowhere = [0.0, 0.0, 0.5, 0.5]
    assert [environment.step(nowhere)[3] for _ in range(2)] == [False, True]


@pytest.mark.parametrize("cluster_by", ["color", "shape"])
def test_kinds_are_colors_or_shapes(cluster_by):
    environment = make(n_sprites=6, n_kinds=3, cluster_by=cluster_by)
    _, info = environment.reset(seed=0)
    colors, shapes = environment._colors, environment._shapes
    values = colors if cluster_by == "color" else shapes[:, None]
    n_different = len({tuple(value) for value in values.tolist()})
    assert n_different == 3
    for kind in range(3):
        assert (values[info["kinds"] == kind] == values[kind]).all()
    assert shapes.max() < len(SPRITE_SHAPES)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="n_sprites must be at least 4"):
        make(n_sprites=3)
    with pytest.raises(ValueError, match="cluster_by"):
        make(cluster_by="size")
    environment = make()
    with pytest.raises(RuntimeError, match="reset"):
        environment.step([0.5] * 4)
    environment.reset()
    with pytest.raises(ValueError, match="four numbers"):
        environment.step([0.5, 0.5, 1.5, 0.5])


def test_a_box_draws_what_it_contains():
    box = Box(0, 255, (2, 2), np.uint8, seed=1)
    drawn = box.sample()
    assert drawn in box
    assert drawn.dtype == np.uint8
    box.seed(1)
    assert np.array_equal(box.sample(), drawn)
    assert np.zeros(3) not in box
