"""Separated attribute predictability: whether one latent alone predicts a factor."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_option, check_positive, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs, require_two_latents
from unbraid.metrics._labeled import labeled_rows
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split, split_rows

from ._one_latent_svm import fit_one_latent

SingleLatentScore = Literal["accuracy", "r2"]


def separated_attribute_predictability(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    score: SingleLatentScore = "accuracy",
    cost: float = 0.01,
    split: Split | None = None,
    seed: int = 0,
) -> Score:
    """Separated attribute predictability (SAP) of a representation.

    Each factor is predicted from each latent alone; the lead of the best latent over
    the runner-up is averaged over factors. A discrete factor is predicted by a linear
    support vector machine, and judged by accuracy on rows that were not learned from;
    a continuous one by a line, and judged by the squared correlation.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``, at least two latents. A constant
            latent predicts one class, or nothing of a continuous factor; a duplicate
            one closes the lead. The machine penalizes weights, so that shrinking a
            latent lowers its accuracy.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`, whose kinds
            say which factors are continuous: accuracies and squared correlations are
            averaged as if they were alike. For each factor, rows where it is missing
            are left out. A class that was not learned from counts as missed.
        score: ``"accuracy"`` for discrete factors and the squared correlation for
            continuous ones, or ``"r2"``, the squared correlation for every factor.
            Then the values of a factor are used as numbers, also of a categorical one.
        cost: Weight of the errors relative to the penalty, positive.
        split: Rows to learn from and to test on. By default 10,000 and 5,000 random
            rows, or all rows in this ratio if there are fewer.
        seed: Seed of the draw.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the leads, ``matrix``
        the accuracies and squared correlations, ``(n_latents, n_factors)``.

    Raises:
        ValueError: If there is one latent only, a factor without labels in the rows to
            learn from or to test on, or the input is not as above.

    Example:
        >>> factors = np.indices((2, 2)).reshape(2, -1).T.repeat(50, axis=0)
        >>> score = separated_attribute_predictability(1.0 * factors, factors)
        >>> bool(score > 0.3)
        True

    References:
        Kumar, Sattigeri and Balakrishnan (2018), Variational Inference of Disentangled
        Latent Concepts from Unlabeled Observations, Section 3.
        https://arxiv.org/abs/1711.00848
        The machine and its settings are those of disentanglement_lib, solved exactly
        where liblinear stops at a tolerance.
    """
    caller = "separated_attribute_predictability"
    codes, factors = read_inputs(caller, codes, factors)
    require_two_latents(caller, codes)
    check_option(f"{caller}: score", score, SingleLatentScore)
    check_positive(f"{caller}: cost", cost)
    is_drawn = split is None
    if split is None:
        generator = numpy_generator(seed, "sap", "rows")
        split = split_rows(len(codes), generator=generator)
    table = np.empty((codes.shape[1], factors.n_factors))
    for k, kind in enumerate(factors.kinds):
        rows = labeled_rows(caller, split, factors, k)
        if kind == "continuous" or score == "r2":
            values = factors.values[rows.train, k]
            table[:, k] = _squared_correlations(codes[rows.train], values)
        else:
            table[:, k] = _accuracies(codes, factors.labels[:, k], rows, cost)
    best = np.sort(table, axis=0)
    leads = best[-1] - best[-2]
    return Score(
        leads.mean(),
        name="sap",
        variant="" if score == "accuracy" else score,
        per_factor=dict(zip(factors.names, leads, strict=True)),
        matrix=table,
        seed=seed if is_drawn else None,
    )


def _accuracies(
    codes: NDArray[np.float64], labels: NDArray[np.int64], rows: Split, cost: float
) -> NDArray[np.float64]:
    accuracies = np.empty(codes.shape[1])
    for j, latent in enumerate(codes.T):
        machine = fit_one_latent(latent[rows.train], labels[rows.train], cost=cost)
        accuracies[j] = (machine.predict(latent[rows.test]) == labels[rows.test]).mean()
    return accuracies


def _squared_correlations(
    codes: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    codes, values = codes - codes.mean(axis=0), values - values.mean()
    scale = (codes**2).sum(axis=0) * (values**2).sum()
    # The limit is disentanglement_lib's, for a latent that does not vary.
    varies = (codes.var(axis=0) > 1e-12) & (scale > 0)
    explained = np.zeros_like(scale)
    return np.divide((values @ codes) ** 2, scale, out=explained, where=varies)
