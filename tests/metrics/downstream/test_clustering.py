import numpy as np
import pytest
from constructed import SPACES, constructed, sampled

from unbraid.data import FactorSpace
from unbraid.metrics import Factors, clustering_sample_efficiency
from unbraid.metrics.downstream._clustering import _choose_factors, _rewards
from unbraid.metrics.downstream._exploration import explore, make_world

SMALL = FactorSpace(
    ("shape", "scale", "x", "y"),
    (3, 4, 12, 12),
    ("categorical", "ordinal", "ordinal", "ordinal"),
)


def small(name):
    codes, factors = constructed(name, SMALL, np.arange(SMALL.size))
    return codes, Factors(factors, names=SMALL.names, kinds=SMALL.kinds)


def walks_of(factors, columns, cluster, n_steps=2000, length=10):
    world = make_world(factors, columns, cluster)
    generator = np.random.default_rng(0)
    visited = explore(
        world, n_steps=n_steps, episode_length=length, generator=generator
    )
    return factors.labels[visited].reshape(-1, length, factors.n_factors)


def test_disentangled_codes_need_fewer_steps_than_rotated_and_blind_ones():
    steps = {}
    for name, most in (("perfect", 1000), ("rotated", 1000), ("random", 200)):
        codes, factors = small(name)
        steps[name] = clustering_sample_efficiency(
            codes, factors, max_steps=most, n_runs=3
        )
    assert steps["perfect"] < 0.6 * steps["rotated"]
    assert steps["perfect"].note == ""
    assert steps["rotated"].details["accuracy"] > 0.7
    assert steps["random"] == 200
    assert steps["random"].note == "3 of 3 runs were given up."
    assert steps["random"].details["n_given_up"] == 3
    assert steps["random"].details["accuracy"] == pytest.approx(0.5, abs=0.08)


def test_the_score_is_the_median_over_runs_of_the_steps_needed():
    codes, factors = small("perfect")
    score = clustering_sample_efficiency(codes, factors, n_runs=3, seed=2)
    runs = [score.details[f"steps_{run}"] for run in range(3)]
    assert score == np.median(runs)
    assert len(set(runs)) > 1
    again = clustering_sample_efficiency(codes, factors, n_runs=1, seed=2)
    assert again.details["steps_0"] == runs[0]
    other = clustering_sample_efficiency(codes, factors, n_runs=1, seed=3)
    assert other.details["accuracy"] != score.details["accuracy"]


@pytest.mark.parametrize("change", ["permuted", "warped", "duplicated", "dead"])
def test_changes_that_keep_latents_apart_hardly_matter(change):
    codes, factors = small("perfect")
    codes = codes[:, :4]
    changed = {
        "permuted": -codes[:, [2, 0, 3, 1]],
        "warped": np.exp(3 * codes),
        "duplicated": np.column_stack([codes, codes]),
        "dead": np.column_stack([codes, np.zeros(len(codes))]),
    }[change]
    plain, other = (
        clustering_sample_efficiency(z, factors, n_runs=3) for z in (codes, changed)
    )
    assert other == pytest.approx(plain, rel=0.35)


def test_reward_is_one_in_the_quadrant_of_the_shape():
    _, factors = small("perfect")
    rewards = _rewards(factors, [2, 3], 0)
    for row in range(0, len(factors), 7):
        shape, _, x, y = factors.labels[row]
        quadrant = {(0, 0): 0, (1, 0): 1, (0, 1): 2, (1, 1): 3}[x >= 6, y >= 6]
        assert rewards[row] == (quadrant == shape)


def test_a_sprite_moves_by_one_step_in_one_direction_and_stays_what_it_is():
    _, factors = small("perfect")
    paths = walks_of(factors, [2, 3], 0)
    moves = np.diff(paths, axis=1)
    assert (moves[..., :2] == 0).all()
    assert (np.abs(moves).sum(axis=-1) <= 1).all()
    # It stands still at the border only, which is hit in a few steps out of a hundred.
    assert 0.85 < np.abs(moves).sum(axis=-1).mean() < 1.0
    assert paths[..., 2:].min() == 0
    assert paths[..., 2:].max() == 11
    starts = paths[:, 0]
    assert len(np.unique(starts, axis=0)) > 100


def test_cyclic_positions_go_round_and_categorical_ones_jump():
    space = FactorSpace(
        ("kind", "angle", "position"),
        (2, 5, 6),
        ("categorical", "cyclic", "categorical"),
    )
    factors = Factors(
        space.factors(np.arange(space.size)), names=space.names, kinds=space.kinds
    )
    angles = walks_of(factors, [1], 0)[..., 1]
    assert set(np.unique(np.diff(angles, axis=1) % 5)) == {1, 4}
    positions = walks_of(factors, [2], 0)[..., 2]
    assert np.abs(np.diff(positions, axis=1)).max() == 5


def test_in_an_incomplete_table_only_cluster_and_position_are_kept():
    codes, factors = small("perfect")
    rows = np.random.default_rng(0).permutation(SMALL.size)[:800]
    part = Factors(factors.values[rows], names=SMALL.names, kinds=SMALL.kinds)
    paths = walks_of(part, [2, 3], 0)
    moves = np.diff(paths, axis=1)
    assert (moves[..., 0] == 0).all()
    assert (np.abs(moves[..., 2:]).sum(axis=-1) <= 1).all()
    assert (moves[..., 1] != 0).any()
    score = clustering_sample_efficiency(codes[rows], part, n_runs=3)
    assert score < 1000


@pytest.mark.parametrize(
    ("space", "columns", "cluster"),
    [
        (SPACES["dsprites"], [3, 4], 0),
        (SPACES["shapes3d"], [3, 5], 4),
        (FactorSpace(("a", "b", "c"), (4, 2, 4)), [0, 2], 1),
        (FactorSpace(("a", "b"), (2, 3)), [1], 0),
        (FactorSpace(("a", "b", "c"), (2, 3, 4), ("categorical",) * 3), [1, 2], 0),
    ],
)
def test_factors_are_chosen_by_kind_and_size(space, columns, cluster):
    generator = np.random.default_rng(0)
    rows = generator.integers(0, space.size, 500)
    factors = Factors(space.factors(rows), names=space.names, kinds=space.kinds)
    assert _choose_factors(factors, None, None) == (columns, cluster)


def test_factors_can_be_named():
    codes, factors = small("perfect")
    options = {"max_steps": 200, "n_runs": 1}
    by_name = clustering_sample_efficiency(
        codes, factors, position=("y",), cluster_by="scale", **options
    )
    by_column = clustering_sample_efficiency(
        codes, factors, position=(3,), cluster_by=1, **options
    )
    assert by_name.details == by_column.details


def test_continuous_and_missing_factors_are_accepted():
    generator = np.random.default_rng(0)
    position = generator.uniform(size=(4000, 2))
    kind = generator.integers(0, 2, 4000).astype(float)
    codes = np.column_stack([position, kind, np.ones(4000)])
    kind[::10] = np.nan
    factors = Factors(
        np.column_stack([position, kind]),
        kinds=("continuous", "continuous", "categorical"),
    )
    score = clustering_sample_efficiency(codes, factors, n_runs=3)
    assert score < 2000


def test_a_table_in_which_nothing_can_move_is_refused():
    position = np.arange(0, 200, 2)
    factors = Factors(
        np.column_stack([position % 3, position]), kinds=("categorical", "ordinal")
    )
    with pytest.raises(ValueError, match="neighboring positions, but there were none"):
        clustering_sample_efficiency(position.astype(float), factors)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": ("z",)}, "no factor 'z'. Factors are shape, scale, x, y"),
        ({"position": (7,)}, "no factor 7"),
        ({"position": ()}, "position must be one or two factors"),
        ({"position": ("x", "x")}, "position must be one or two factors"),
        ({"position": ("x",), "cluster_by": "x"}, "cluster_by another one"),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1"),
        ({"n_runs": 0.5}, "n_runs must be a whole number of at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    codes, factors = small("perfect")
    with pytest.raises(ValueError, match=message):
        clustering_sample_efficiency(codes, factors, **options)


def test_one_factor_or_a_reward_that_never_comes_is_refused():
    with pytest.raises(ValueError, match="at least two factors"):
        clustering_sample_efficiency(np.eye(4), [0, 1, 0, 1])
    codes, table = sampled("perfect", SMALL, 500)
    far = table[:, 0] * 4 + (table[:, 2] >= 6) + 2 * (table[:, 3] >= 6)
    unrewarded = ~np.isin(far, [0, 5, 10])
    factors = Factors(table[unrewarded], kinds=SMALL.kinds)
    with pytest.raises(ValueError, match="with and without reward, got 0 and"):
        clustering_sample_efficiency(codes[unrewarded], factors)
