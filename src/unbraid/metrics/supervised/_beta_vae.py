"""BetaVAE score: can the factor that two rows share be predicted from their codes?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._logistic_regression import fit_logistic_regression
from unbraid.metrics._resampling import SharedFactorRows, grid_note
from unbraid.metrics._score import Score

_CHUNK = 512
"""Points whose pairs are in memory at once."""

_MAX_ITERATIONS = 1000


def beta_vae_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_train: int = 10_000,
    n_test: int = 5_000,
    n_pairs: int = 64,
    seed: int = 0,
) -> Score:
    r"""BetaVAE score of a representation.

    Pick a random factor :math:`k` and draw pairs of rows that share its value; the
    mean absolute difference of their codes, latent by latent, is one point. A linear
    classifier (multinomial logistic regression, ``C=1``) learns to predict
    :math:`k` from the point; the score is its accuracy on new points.

    .. math::
        d_j = \frac{1}{N} \sum_{n=1}^{N} | z_j^{(n)} - z_j'^{(n)} |,
        \qquad v_k^{(n)} = v_k'^{(n)}

    Mixed codes can score 1 as well: the score asks whether a linear classifier can
    distinguish the factors, not whether each has its own latent.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``, used as they are:
            scores depend on the scale of the codes through the classifier's penalty.
            Constant and duplicate latents neither help nor hurt.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Pairs are drawn from these rows (see ``note`` of the score when they are
            not a complete grid): continuous factors are binned, and rows where a
            factor is missing are never drawn to share it.
        n_train: Number of points that the classifier learns from.
        n_test: Number of points on which its accuracy is measured.
        n_pairs: Number of pairs of rows per point, :math:`N`.
        seed: Seed of all draws.

    Returns:
        Accuracy from 0 to 1, chance is one over the number of factors; 1 when there is
        one factor only, as ``note`` then says. ``per_factor`` has the accuracy for each
        factor, ``details`` the accuracy on the training points and the chance level.

    Raises:
        ValueError: If the input is not as above.

    Example:
        >>> factors = np.stack(np.divmod(np.arange(100), 10), axis=1)
        >>> one_latent_each = factors.astype(float)
        >>> beta_vae_score(one_latent_each, factors, n_train=500, n_test=100)
        1.0

    References:
        Higgins et al. (2017), beta-VAE: Learning Basic Visual Concepts with a
        Constrained Variational Framework, Section 3.
        https://openreview.net/forum?id=Sy2fzU9gl
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, for the sizes and the classifier.
        https://arxiv.org/abs/1811.12359
    """
    caller = "beta_vae_score"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: n_train", n_train)
    check_count(f"{caller}: n_test", n_test)
    check_count(f"{caller}: n_pairs", n_pairs)
    generator = numpy_generator(seed, caller)
    # Centered before single precision, so that a large mean costs no digits.
    centered = (codes - codes.mean(axis=0)).astype(np.float32)
    rows = SharedFactorRows(factors)
    train, test = (
        _points(centered, rows, n_points, n_pairs, generator)
        for n_points in (n_train, n_test)
    )
    train_right, test_right, note = _classified_right(train, test)
    n_tests = np.bincount(test[1], minlength=factors.n_factors).clip(1)
    per_factor = np.bincount(test[1], test_right, factors.n_factors) / n_tests
    return Score(
        test_right.mean(),
        name="beta_vae_score",
        per_factor=dict(zip(factors.names, per_factor, strict=True)),
        details={
            "train_accuracy": train_right.mean(),
            "chance": 1 / factors.n_factors,
            "n_test": len(test_right),
        },
        seed=seed,
        note="; ".join(filter(None, (note, grid_note(factors)))),
    )


def _points(
    codes: NDArray[np.float32],
    rows: SharedFactorRows,
    n_points: int,
    n_pairs: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return mean differences, (points, latents), and the shared factor, (points,)."""
    shared = generator.integers(rows.n_factors, size=n_points)
    points = np.empty((n_points, codes.shape[1]))
    for start in range(0, n_points, _CHUNK):
        part = slice(start, start + _CHUNK)
        factor = np.repeat(shared[part], n_pairs)
        pairs = codes[rows.draw(factor, size=2, generator=generator)]
        apart = np.abs(pairs[:, 0] - pairs[:, 1]).reshape(-1, n_pairs, codes.shape[1])
        points[part] = apart.mean(axis=1)
    return points, shared


def _classified_right(
    train: tuple[NDArray[np.float64], NDArray[np.int64]],
    test: tuple[NDArray[np.float64], NDArray[np.int64]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], str]:
    """Return whether training and test points are classified correctly, and a note."""
    note = ""
    if (train[1] == train[1][0]).all():
        predicted = [np.full(len(part[1]), train[1][0]) for part in (train, test)]
        note = "one factor among the training points: nothing to tell apart"
    else:
        model = fit_logistic_regression(*train, iterations=_MAX_ITERATIONS)
        predicted = [model.predict(part[0]) for part in (train, test)]
        if model.n_iter_.max() >= _MAX_ITERATIONS:
            note = "the classifier did not converge"
    return np.equal(predicted[0], train[1]), np.equal(predicted[1], test[1]), note
