"""FactorVAE score: does fixing a factor hold one latent constant?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._resampling import SharedFactorRows, grid_note
from unbraid.metrics._score import Score

_CHUNK = 1024
"""Groups whose codes are in memory at once."""


def factor_vae_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_train: int = 10_000,
    n_test: int = 5_000,
    group_size: int = 64,
    n_variance: int = 10_000,
    prune_threshold: float = 0.05,
    seed: int = 0,
) -> Score:
    r"""FactorVAE score of a representation.

    Fix a random factor :math:`k`, draw a group of rows that share its value, and vote
    for the latent that varies least in the group, relative to its variance in all rows.
    Each latent is assigned to the factor that it got most votes from; the score is the
    share of new votes for which this predicts the factor that was fixed.

    .. math::
        j^* = \operatorname*{arg\,min}_{j \,:\, s_j \ge t} \;
        \frac{\operatorname{Var}[z_j \mid v_k]}{s_j^2},
        \qquad s_j^2 = \operatorname{Var}[z_j]

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. A dead latent is pruned;
            of two duplicates the first one wins a tie.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Groups are drawn from these rows (see ``note`` of the score when they are
            not a complete grid): continuous factors are binned, and rows where a
            factor is missing are never drawn to share it.
        n_train: Votes to learn from.
        n_test: Votes to score.
        group_size: Number of rows per vote, at least 2.
        n_variance: Rows, with replacement, to estimate :math:`s_j^2` from, at least 2.
        prune_threshold: Latents whose standard deviation :math:`s_j` is below :math:`t`
            may not be voted for, and constant ones never. It is in units of the codes
            and meant for latents with a standard normal prior; codes of another scale
            need another.
        seed: Seed of all draws.

    Returns:
        Accuracy from 0 to 1, chance is about one over the number of factors; 1 when
        there is one factor only, and 0 when no latent is active, as ``note`` then says.
        ``per_factor`` has the accuracy for each factor, ``matrix`` the share of each
        factor's training votes that each latent got, ``details`` the number of active
        latents and the accuracy on the training votes.

    Raises:
        ValueError: If the input is not as above.

    Example:
        >>> factors = np.stack(np.divmod(np.arange(100), 10), axis=1)
        >>> one_latent_each = factors.astype(float)
        >>> factor_vae_score(one_latent_each, factors)
        1.0
        >>> rotated = one_latent_each @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> factor_vae_score(rotated, factors) < 0.75
        True

    References:
        Kim and Mnih (2018), Disentangling by Factorising, Section 4.
        https://arxiv.org/abs/1802.05983
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, for the sizes and the pruning.
        https://arxiv.org/abs/1811.12359
    """
    caller = "factor_vae_score"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: n_train", n_train)
    check_count(f"{caller}: n_test", n_test)
    check_count(f"{caller}: group_size", group_size, least=2)
    check_count(f"{caller}: n_variance", n_variance, least=2)
    generator = numpy_generator(seed, caller)
    scaled, active = _active_latents(codes, n_variance, prune_threshold, generator)
    rows = SharedFactorRows(factors)
    # Latents that are not active get no votes.
    train, test = np.zeros((2, codes.shape[1], factors.n_factors), dtype=np.int64)
    if len(active):
        train[active] = _votes(scaled, rows, n_train, group_size, generator)
        test[active] = _votes(scaled, rows, n_test, group_size, generator)
    stands_for = train.argmax(axis=1)
    right = np.take_along_axis(test, stands_for[:, None], axis=1)[:, 0]
    right_by_factor = np.bincount(stands_for, right, factors.n_factors)
    per_factor = right_by_factor / test.sum(axis=0).clip(1)
    return Score(
        right.sum() / n_test,
        name="factor_vae_score",
        per_factor=dict(zip(factors.names, per_factor, strict=True)),
        matrix=train / train.sum(axis=0).clip(1),
        details={
            "n_active": len(active),
            "train_accuracy": train.max(axis=1).sum() / n_train,
            "n_test": n_test,
        },
        seed=seed,
        note=_note(len(active), prune_threshold, factors),
    )


def _active_latents(
    codes: NDArray[np.float64],
    n_variance: int,
    threshold: float,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the codes of active latents divided by their spread, and their columns."""
    some = codes[generator.integers(len(codes), size=n_variance)]
    spread = some.std(axis=0, ddof=1)
    active = np.flatnonzero((spread >= threshold) & (spread > 0))
    # Centered before single precision, so that a large mean costs no digits.
    scaled = (codes[:, active] - some[:, active].mean(axis=0)) / spread[active]
    return scaled.astype(np.float32), active


def _votes(
    scaled: NDArray[np.float32],
    rows: SharedFactorRows,
    n_votes: int,
    group_size: int,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Count how often each latent won for each fixed factor, (latents, factors)."""
    fixed = generator.integers(rows.n_factors, size=n_votes)
    winners = np.empty(n_votes, dtype=np.int64)
    for start in range(0, n_votes, _CHUNK):
        part = slice(start, start + _CHUNK)
        group = rows.draw(fixed[part], size=group_size, generator=generator)
        winners[part] = scaled[group].var(axis=1).argmin(axis=1)
    cells = winners * rows.n_factors + fixed
    shape = (scaled.shape[1], rows.n_factors)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _note(n_active: int, threshold: float, factors: Factors) -> str:
    if not n_active:
        return f"no latent has a standard deviation of {threshold} or more: 0"
    if factors.n_factors == 1:
        return "one factor: always 1"
    return grid_note(factors)
