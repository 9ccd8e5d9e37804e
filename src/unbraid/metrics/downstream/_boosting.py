"""Boosted trees as scikit-learn grows them, with the speed of LightGBM.

LightGBM finds splits from histograms, which is fast, but weighs rows by the curvature
of the loss when it does so. scikit-learn's classifier chooses splits by the variance of
the residuals and uses the curvature for the values of leaves only, which is worth
several per cent of accuracy on a thousand rows. Here LightGBM searches the splits with
all weights equal, and the leaves get scikit-learn's values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_TREES = 100
"""Trees per class, each of depth 3 with a learning rate of 0.1: all as published."""

QUIET = {
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbosity": -1,
    "min_data_in_bin": 1,
}
"""LightGBM: the same trees on every machine, no messages, bins also for a few rows."""

_RATE = 0.1
_N_LEAVES = 8
_TREES = {
    **QUIET,
    "max_depth": 3,
    "num_leaves": _N_LEAVES,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 0.0,
}

Predict = Callable[[NDArray[np.floating]], NDArray[Any]]


def rounding(codes: NDArray[np.floating]) -> Predict:
    """A function that rounds latents to a millionth of their range in these codes.

    Equal codes that were computed in different ways differ in their last digits. To a
    tree that difference is as good as any other; scikit-learn's trees do not see it.
    """
    steps = 1e-6 * np.ptp(codes, axis=0)
    steps[steps == 0] = 1.0
    return lambda codes: np.round(codes / steps)


def fit_classifier(
    codes: NDArray[np.floating], labels: NDArray[np.integer]
) -> tuple[Predict, NDArray[np.float64]]:
    """Learn at least two classes.

    Args:
        codes: Rows to learn from, ``(n, n_latents)``.
        labels: Any integers, ``(n,)``.

    Returns:
        A function from codes to labels, and the gain of all splits by each latent.
    """
    import lightgbm

    classes, labels = np.unique(labels, return_inverse=True)
    n_classes, rounded = len(classes), rounding(codes)
    settings = {**_TREES, "objective": "none", "num_class": n_classes}
    codes = rounded(codes)
    trees = lightgbm.Booster(settings, lightgbm.Dataset(codes, labels, params=settings))
    priors = np.log(np.bincount(labels) / len(labels))
    # Classes first, as LightGBM keeps them; it also works in single precision.
    is_class = np.equal.outer(np.arange(n_classes), labels).astype(np.float32)
    scores = np.repeat(priors[:, None].astype(np.float32), len(labels), axis=1)
    weights = np.ones_like(scores)
    for tree in range(N_TREES):
        chances = np.exp(scores - scores.max(axis=0))
        chances /= chances.sum(axis=0)
        slopes = chances - is_class
        if trees.update(fobj=lambda *_, slopes=slopes: (slopes.T, weights.T)):
            break  # no tree found anything to split
        leaves = trees.predict(
            codes, start_iteration=tree, num_iteration=1, pred_leaf=True, num_threads=1
        )
        scores += _set_leaves(trees, tree, np.asarray(leaves), slopes, chances)

    def predict(codes: NDArray[np.floating]) -> NDArray[Any]:
        raw = trees.predict(rounded(codes), raw_score=True, num_threads=1)
        return classes[(np.asarray(raw) + priors).argmax(axis=1)]

    return predict, trees.feature_importance("gain")


def fit_regressor(
    codes: NDArray[np.floating], values: NDArray[np.floating]
) -> tuple[Predict, NDArray[np.float64]]:
    """Learn a number; see :func:`fit_classifier`."""
    import lightgbm

    # Squared errors have the same curvature everywhere: nothing to be corrected.
    settings = {**_TREES, "objective": "regression", "learning_rate": _RATE}
    rounded = rounding(codes)
    rows = lightgbm.Dataset(rounded(codes), values, params=settings)
    trees = lightgbm.train(settings, rows, num_boost_round=N_TREES)
    return (
        lambda codes: np.asarray(trees.predict(rounded(codes), num_threads=1)),
        trees.feature_importance("gain"),
    )


def _set_leaves(
    trees: Any,
    tree: int,
    leaves: NDArray[np.integer],
    slopes: NDArray[np.float32],
    chances: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Give the newest trees a Newton step in each leaf (Friedman 2001, Eq. 38).

    Args:
        trees: The booster.
        tree: Which round of trees.
        leaves: Leaf each row falls into, ``(n, n_classes)``.
        slopes: Derivative of the loss, ``(n_classes, n)``.
        chances: Probabilities of the classes, ``(n_classes, n)``.

    Returns:
        What the trees add to the scores, ``(n_classes, n)``.
    """
    n_classes, n_rows = slopes.shape
    cells = leaves.reshape(n_rows, n_classes).T + np.arange(n_classes)[:, None] * (
        _N_LEAVES
    )
    size = n_classes * _N_LEAVES
    pull = -np.bincount(cells.ravel(), slopes.ravel(), size)
    curvature = np.bincount(cells.ravel(), (chances * (1 - chances)).ravel(), size)
    curvature *= n_classes / (n_classes - 1)
    steps = np.divide(
        pull, curvature, out=np.zeros(size), where=curvature > np.finfo(np.float32).tiny
    )
    for cell in np.flatnonzero(np.bincount(cells.ravel(), minlength=size)):
        which, leaf = divmod(int(cell), _N_LEAVES)
        trees.set_leaf_output(tree * n_classes + which, leaf, _RATE * steps[cell])
    return (_RATE * steps[cells]).astype(np.float32)
