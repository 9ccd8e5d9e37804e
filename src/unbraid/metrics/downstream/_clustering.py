"""Clustering task: steps that an agent needs to learn a reward from codes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._boosting import Growth, boost, sigmoid_gradient
from unbraid.metrics._inputs import Factors, read_inputs, require_two_factors
from unbraid.metrics._score import Score

from ._exploration import explore, make_world

ACCURACY = 0.9
"""Accuracy at which the task counts as learned, as in the published comparison."""

FEWEST_STEPS, MAX_STEPS = 20, 5000
"""Steps before the first fit, and steps after which a run is given up."""

_TREES = Growth(n_rounds=30, rate=1 / 3, depth=5)
"""A cluster, a half of each position and a value or two: five splits."""

_CALLER = "clustering_sample_efficiency"


def clustering_sample_efficiency(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    position: Sequence[str | int] | None = None,
    cluster_by: str | int | None = None,
    max_steps: int = MAX_STEPS,
    episode_length: int = 10,
    n_test: int = 1000,
    n_runs: int = 5,
    seed: int = 0,
) -> Score:
    """Steps a random agent takes until the reward of a clustering task is learned.

    A sprite belongs where its cluster belongs: the halves of each position factor
    make regions (halves or quadrants), each value of the cluster factor has one of
    them, and the reward is 1 in it and 0 elsewhere. An agent that moves sprites at
    random sees their codes and rewards, and learns to predict the reward from a code.

    *States* are rows of the table. *Episodes* of ``episode_length`` steps begin with a
    random row. In a *step* one of the position factors, at random, moves to the next
    value up or down, at random; at the border it stays (or goes round, if cyclic); a
    categorical one jumps to any value. The row reached and its reward are learned
    from. The *predictor* is boosted trees (30 of depth 5, decided as if both
    rewards were as frequent), fitted anew after 20 steps, then after every 10 %
    more, to all that was seen. *Accuracy* is measured on a fixed set of held-out rows,
    half of them rewarded, that are never learned from. A run ends at the first accuracy
    of at least 90 %, or after ``max_steps``.

    The reward is a conjunction of thresholds on single factors. Trees find it from few
    rows if single latents hold these factors, whatever their order, sign, scale or
    warp; of mixed latents they need many more splits, each with rows of its own. A
    learner that is blind to rotations could not tell the two apart.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant and duplicate latents
            are harmless.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`, at least
            two factors. Continuous ones are binned; rows in which a position or the
            cluster is missing are left out. If every combination of values has one row,
            a sprite keeps its other factors while it moves. In any other table it
            moves to a random row of the same cluster with the new position, and stays
            where it is if there is none.
        position: One or two factors (names or columns) that move. By default the two
            ordinal or continuous ones with most values (of equals, the last); if there
            are none, any.
        cluster_by: The factor that decides the region. By default the first
            categorical one that is not a position, or else the one with fewest values.
            If it has more values than there are regions, neighbors share one.
        max_steps: Number of steps after which a run is given up.
        episode_length: Number of steps before a new sprite appears.
        n_test: Number of held-out rows, at most a third of those with either reward.
        n_runs: Number of independent explorations.
        seed: Seed of the exploration and of the held-out rows.

    Returns:
        Median over runs of the steps that were needed, lower is better; a run that was
        given up counts ``max_steps`` and the note says so. ``details`` has the steps of
        each run (``"steps_<run>"``), ``"n_given_up"``, and the mean of the last
        accuracies (``"accuracy"``). ``factors_used`` counts the positions and the
        cluster, whatever other factors there are.

    Raises:
        ValueError: If there is one factor only, a factor is not known by name, no row
            is rewarded or none is not, or no sprite can move anywhere in the table.

    Example:
        >>> axes = np.meshgrid(range(2), range(8), range(8))
        >>> grid = np.stack(axes, axis=-1).reshape(-1, 3)
        >>> clustering_sample_efficiency(grid, grid, max_steps=300, n_runs=1) < 300
        True
        >>> without_cluster = grid[:, 1:]
        >>> blind = clustering_sample_efficiency(
        ...     without_cluster, grid, max_steps=300, n_runs=1
        ... )
        >>> blind, blind.note
        (300.0, '1 of 1 runs were given up.')

    References:
        Watters, Matthey, Bosnjak, Burgess and Lerchner (2019), COBRA: Data-Efficient
        Model-Based RL through Unsupervised Object Discovery and Curiosity-Driven
        Exploration. https://arxiv.org/abs/1905.09275
        Theirs has several sprites, continuous moves and a learned transition model;
        kept here is what depends on the codes, the learning of the reward.
    """
    codes, factors = read_inputs(_CALLER, codes, factors)
    counts = {"max_steps": max_steps, "episode_length": episode_length}
    counts |= {"n_test": n_test, "n_runs": n_runs}
    for name, value in counts.items():
        check_count(f"{_CALLER}: {name}", value)
    columns, cluster = _choose_factors(factors, position, cluster_by)
    rewards = _rewards(factors, columns, cluster)
    held_out = _held_out(rewards, n_test, numpy_generator(seed, _CALLER, "test"))
    world = make_world(factors, columns, cluster)
    steps, accuracies = [], []
    for run in range(n_runs):
        visited = explore(
            world,
            n_steps=max_steps,
            episode_length=episode_length,
            generator=numpy_generator(seed, _CALLER, run),
        )
        needed, accuracy = _learn(codes, rewards, visited, held_out)
        steps.append(needed)
        accuracies.append(accuracy)
    n_given_up = sum(accuracy < ACCURACY for accuracy in accuracies)
    return Score(
        float(np.median(steps)),
        name="clustering_sample_efficiency",
        factors_used=(len(columns) + 1, factors.n_factors),
        details={
            **{f"steps_{run}": needed for run, needed in enumerate(steps)},
            "n_given_up": n_given_up,
            "accuracy": float(np.mean(accuracies)),
        },
        seed=seed,
        note=f"{n_given_up} of {n_runs} runs were given up." if n_given_up else "",
    )


def _choose_factors(
    factors: Factors, position: Sequence[str | int] | None, cluster_by: str | int | None
) -> tuple[list[int], int]:
    """Return the columns of the position factors and of the cluster factor."""
    every = range(factors.n_factors)
    require_two_factors(_CALLER, factors)
    given = None if cluster_by is None else _column(factors, cluster_by)
    if position is not None:
        columns = [_column(factors, factor) for factor in position]
    else:
        free = [k for k in every if k != given]
        ordered = [k for k in free if factors.kinds[k] in ("ordinal", "continuous")]
        # One factor must be left to be the cluster.
        n_wanted = min(2, factors.n_factors - 1)
        by_size = sorted(ordered or free, key=lambda k: (factors.sizes[k], k))
        columns = sorted(by_size[-n_wanted:])
    rest = [k for k in every if k not in columns]
    if given is None and rest:
        categorical = [k for k in rest if factors.kinds[k] == "categorical"]
        given = (categorical or sorted(rest, key=lambda k: factors.sizes[k]))[0]
    if not 1 <= len(set(columns)) == len(columns) <= 2 or given not in rest:
        raise ValueError(
            f"{_CALLER}: position must be one or two factors, and cluster_by another "
            f"one, got {position} and {cluster_by!r}."
        )
    return columns, given


def _column(factors: Factors, factor: str | int) -> int:
    if isinstance(factor, str) and factor in factors.names:
        return factors.names.index(factor)
    if not isinstance(factor, str) and 0 <= factor < factors.n_factors:
        return int(factor)
    raise ValueError(
        f"{_CALLER}: there is no factor {factor!r}. Factors are "
        f"{', '.join(factors.names)}, or their columns."
    )


def _rewards(factors: Factors, columns: list[int], cluster: int) -> NDArray[np.int64]:
    """Return 1 for rows in the region of their cluster, 0 elsewhere, -1 if unknown."""
    sizes = np.array(factors.sizes)
    is_upper = 2 * factors.labels[:, columns] >= sizes[columns]
    region = is_upper @ (2 ** np.arange(len(columns)))
    n_regions = 2 ** len(columns)
    wanted = factors.labels[:, cluster]
    if sizes[cluster] > n_regions:
        wanted = wanted * n_regions // sizes[cluster]
    known = factors.known[:, [*columns, cluster]].all(axis=1)
    return np.where(known, region == wanted, -1)


def _held_out(
    rewards: NDArray[np.int64], n_test: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Draw as many rewarded as unrewarded rows."""
    sides = [np.flatnonzero(rewards == reward) for reward in (0, 1)]
    fewest = min(len(side) for side in sides)
    if fewest < 3:
        raise ValueError(
            f"{_CALLER} needs at least three rows with and without reward, got "
            f"{len(sides[1])} and {len(sides[0])}. Choose other factors."
        )
    n_each = max(1, min(n_test // 2, fewest // 3))
    chosen = [generator.choice(side, n_each, replace=False) for side in sides]
    return np.concatenate(chosen)


def _learn(
    codes: NDArray[np.float64],
    rewards: NDArray[np.int64],
    visited: NDArray[np.int64],
    held_out: NDArray[np.int64],
) -> tuple[int, float]:
    """Return the steps until the accuracy is reached, and the last accuracy."""
    is_new = ~np.isin(visited, held_out)
    accuracy = 0.5
    for n_steps in _checkpoints(len(visited)):
        seen = visited[:n_steps][is_new[:n_steps]]
        if len(np.unique(rewards[seen])) < 2:
            continue
        predicted = _predict_reward(codes[seen], rewards[seen], codes[held_out])
        accuracy = float(np.mean(predicted == rewards[held_out]))
        if accuracy >= ACCURACY:
            return n_steps, accuracy
    return len(visited), accuracy


def _checkpoints(n_steps: int) -> list[int]:
    """Return 20 steps, then 10 % more each time, up to the end."""
    steps = [min(FEWEST_STEPS, n_steps)]
    while steps[-1] < n_steps:
        steps.append(min(n_steps, -(-steps[-1] * 11 // 10)))
    return steps


def _predict_reward(
    codes: NDArray[np.float64], rewards: NDArray[np.int64], new: NDArray[np.float64]
) -> NDArray[np.int64]:
    from scipy.special import logit  # slow to import

    used = np.ptp(codes, axis=0) > 0
    if not used.any():
        return np.zeros(len(new), dtype=np.int64)
    rows = np.concatenate([codes, new])[:, used]
    targets = rewards[None].astype(np.float64)
    start = logit(targets.mean(axis=1))
    _, odds = boost(
        rows, targets, start=start, gradient=sigmoid_gradient, growth=_TREES
    )
    # Half of the held-out rows are rewarded, whatever the share of those seen was.
    return (odds[0, len(codes) :] > start).astype(np.int64)
