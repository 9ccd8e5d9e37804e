"""Reduced downstream accuracy: predicting a factor without its best latents."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split

from ._learner import (
    Learner,
    PredictorName,
    Variant,
    read_learner,
    split_known,
)


def reduced_downstream_accuracy(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_removed: int = 2,
    predictor: PredictorName = "boosting",
    variant: Variant = "fast",
    measure_others: bool = False,
    n_train: int = 10_000,
    n_test: int = 5000,
    seed: int = 0,
) -> Score:
    """Accuracy of predicting each factor without its most important latents.

    For each factor, boosted trees are fitted and the latent they use most is dropped,
    ``n_removed`` times over; a predictor then learns the factor from the latents that
    remain. In a disentangled representation little is left to learn, and the other
    factors are known as well as before.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant latents are never
            dropped before useful ones. When none is left, the most frequent class (or
            the mean) is predicted.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`. For each
            factor, rows where it is missing are left out; continuous factors are
            scored by explained variance, as in :func:`downstream_accuracy`.
        n_removed: Number of latents to drop for each factor.
        predictor: Predictor on the remaining latents, ``"boosting"`` or
            ``"logistic"``; importances always come from boosting.
        variant: ``"dlib"`` for scikit-learn's predictors, ``"fast"`` for ours.
        measure_others: Also predict all other factors from the remaining latents of
            each factor (``n_factors`` times as many predictors).
        n_train: Number of rows to learn from, at most two thirds of all.
        n_test: Number of rows to test on; fewer if there are not enough.
        seed: Seed of the rows that are drawn.

    Returns:
        Mean accuracy over factors, from 0 to 1; lower is better. ``per_factor`` has
        the accuracies; ``details`` the mean accuracy with all latents
        (``"accuracy"``), how much of it is lost (``"drop"``), the same per factor
        (``"accuracy/<factor>"``) and, if measured, the mean accuracy of the other
        factors (``"others_accuracy"``). ``matrix`` is
        1 where a latent was dropped for a factor, 0 elsewhere.

    Raises:
        ValueError: If the input is not as above.

    Example:
        >>> grid = np.stack(np.meshgrid(range(4), range(25)), axis=-1).reshape(-1, 2)
        >>> score = reduced_downstream_accuracy(grid, grid[:, 0], n_removed=1)
        >>> score.details["accuracy"], score < 0.5, score.matrix[:, 0]
        (1.0, True, array([1., 0.]))

    References:
        Measured in disentanglement_lib (reduced_downstream_task), which accompanies
        Locatello et al. (2019). https://arxiv.org/abs/1811.12359
    """
    caller = "reduced_downstream_accuracy"
    codes, factors = read_inputs(caller, codes, factors)
    learner = read_learner(caller, predictor, variant, seed)
    check_count(f"{caller}: n_removed", n_removed)
    check_count(f"{caller}: n_train", n_train)
    check_count(f"{caller}: n_test", n_test)
    splits = [
        split_known(
            factors,
            k,
            n_train=n_train,
            n_test=n_test,
            generator=numpy_generator(seed, caller),
        )
        for k in range(factors.n_factors)
    ]
    dropped = np.zeros((codes.shape[1], factors.n_factors))
    whole, reduced, others = [], [], []
    for k, split in enumerate(splits):
        dropped[:, k], accuracy = _drop(codes, factors, k, split, n_removed, learner)
        rest = codes[:, dropped[:, k] == 0]
        whole.append(accuracy)
        reduced.append(learner.fit_and_score(rest, factors, k, split))
        for other in range(factors.n_factors) if measure_others else ():
            if other != k:
                split = splits[other]
                others.append(learner.fit_and_score(rest, factors, other, split))
    value, accuracy = float(np.mean(reduced)), float(np.mean(whole))
    details = {"accuracy": accuracy, "drop": accuracy - value}
    details |= {
        f"accuracy/{name}": part
        for name, part in zip(factors.names, whole, strict=True)
    }
    if others:
        details["others_accuracy"] = float(np.mean(others))
    return Score(
        value,
        name="reduced_downstream_accuracy",
        variant=f"{predictor}, {variant}",
        per_factor=dict(zip(factors.names, reduced, strict=True)),
        matrix=dropped,
        details=details,
        seed=seed,
    )


def _drop(
    codes: NDArray[np.float64],
    factors: Factors,
    factor: int,
    split: Split,
    n_removed: int,
    learner: Learner,
) -> tuple[NDArray[np.bool_], float]:
    """Return the latents to drop for a factor, and the accuracy with them."""
    trees = replace(learner, predictor="boosting")
    labels = factors.at(split.train)
    is_dropped = np.zeros(codes.shape[1], dtype=np.bool_)
    fits = []
    for _ in range(min(n_removed, codes.shape[1])):
        left = np.flatnonzero(~is_dropped)
        kept = codes[:, left]
        fits.append(trees.fit(kept[split.train], labels, factor, kept[split.test]))
        is_dropped[left[np.argmax(fits[-1].importance)]] = True
    if learner.predictor == "boosting":
        return is_dropped, learner.score(fits[0], factors.at(split.test), factor)
    return is_dropped, learner.fit_and_score(codes, factors, factor, split)
