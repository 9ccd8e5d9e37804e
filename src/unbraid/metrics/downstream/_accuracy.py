"""Downstream accuracy: how well factors are predicted from few and from many labels."""

from collections.abc import Sequence

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

FEW, MANY = 100, 10_000
"""Numbers of labels whose accuracies are compared as the statistical efficiency."""


def downstream_accuracy(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    predictor: PredictorName = "boosting",
    variant: Variant = "fast",
    sizes: Sequence[int] = (10, FEW, 1000, MANY),
    n_test: int = 5000,
    seed: int = 0,
) -> Score:
    r"""Accuracy of predictors that learn each factor from the codes of labeled rows.

    One predictor per factor and number of labels, tested on rows it has not seen; the
    rows of a smaller number are the first ones of a larger. How fast the accuracy
    rises with labels is the statistical efficiency.

    .. math:: \text{efficiency} = \frac{\text{accuracy}(100)}{\text{accuracy}(10\,000)}

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Not scaled, as in the study;
            constant and duplicate latents are harmless.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`. For each
            factor, rows where it is missing are left out. A continuous factor is
            predicted as a number, and its accuracy is the explained variance (R
            squared on the test rows, 0 if worse than the mean).
        predictor: ``"boosting"`` (trees, blind to scale, best when one latent holds a
            factor) or ``"logistic"`` (linear, blind to rotation).
        variant: ``"dlib"`` for scikit-learn's predictors as in the study, ``"fast"``
            for nearly the same accuracies, from fewer and larger steps of boosting or
            from one fold instead of five.
        sizes: Numbers of labels to learn from, ascending. In a table that is too small
            at least a third of the rows is left to the test, and a size larger than
            what remains uses all of it (the note says so).
        n_test: Number of rows to test on; fewer if there are not enough.
        seed: Seed of the rows that are drawn.

    Returns:
        Mean accuracy over factors at the largest size, from 0 to 1, higher is better;
        ``per_factor`` at the largest size too. ``details`` has ``"accuracy_<size>"``,
        ``"min_accuracy_<size>"`` and ``"accuracy_<size>/<factor>"`` for every size,
        and, if both 100 and 10,000 are among the sizes, ``"statistical_efficiency"``.

    Raises:
        ValueError: If the input is not as above.

    Example:
        >>> grid = np.stack(np.meshgrid(range(3), range(20)), axis=-1).reshape(-1, 2)
        >>> score = downstream_accuracy(grid, grid[:, 0], sizes=(1, 40))
        >>> score, 0.1 < score.details["accuracy_1"] < 0.6
        (1.0, True)

    References:
        Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf and Bachem (2019),
        Challenging Common Assumptions in the Unsupervised Learning of Disentangled
        Representations, Sec. 5.5. https://arxiv.org/abs/1811.12359
        With too few labels for five folds, or one class among them, where
        disentanglement_lib fails, fewer folds or the most frequent class are used.
    """
    caller = "downstream_accuracy"
    codes, factors = read_inputs(caller, codes, factors)
    learner = read_learner(caller, predictor, variant, seed)
    sizes = _read_sizes(caller, sizes)
    check_count(f"{caller}: n_test", n_test)
    accuracies, note = _accuracies(codes, factors, learner, sizes, n_test)
    details = {}
    for size, row in zip(sizes, accuracies, strict=True):
        details[f"accuracy_{size}"] = row.mean()
        details[f"min_accuracy_{size}"] = row.min()
        for name, accuracy in zip(factors.names, row, strict=True):
            details[f"accuracy_{size}/{name}"] = accuracy
    if {FEW, MANY} <= set(sizes) and details[f"accuracy_{MANY}"] > 0:
        few, many = details[f"accuracy_{FEW}"], details[f"accuracy_{MANY}"]
        details["statistical_efficiency"] = few / many
    return Score(
        accuracies[-1].mean(),
        name="downstream_accuracy",
        variant=f"{predictor}, {variant}",
        per_factor=dict(zip(factors.names, accuracies[-1], strict=True)),
        details=details,
        seed=seed,
        note=note,
    )


def statistical_efficiency(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    predictor: PredictorName = "boosting",
    variant: Variant = "fast",
    few: int = FEW,
    many: int = MANY,
    n_test: int = 5000,
    seed: int = 0,
) -> Score:
    """Mean accuracy from few labels as a share of that from many.

    See :func:`downstream_accuracy` for the accuracies. A representation without
    information has an efficiency of about 1, too, because more labels do not help.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`.
        predictor: ``"boosting"``, as in the paper's figures, or ``"logistic"``.
        variant: ``"fast"`` or ``"dlib"``.
        few: Number of labels in the numerator.
        many: Number of labels in the denominator.
        n_test: Number of rows to test on.
        seed: Seed of the rows that are drawn.

    Returns:
        From 0 to about 1, higher is better: the ratio of the means over factors.
        Factors of which nothing is learned from many labels have no ratio. They are
        left out, ``factors_used`` counts the others, and ``note`` names those left out.
        ``per_factor`` has the ratio of each factor. ``details`` has both mean
        accuracies and ``"mean_ratio"``, the mean of ``per_factor``.

    Raises:
        ValueError: If nothing is learned of any factor, or the input is not as above.

    Example:
        >>> grid = np.stack(np.meshgrid(range(3), range(20)), axis=-1).reshape(-1, 2)
        >>> score = statistical_efficiency(grid, grid[:, 0], few=1, many=40)
        >>> 0.1 < score < 0.6
        True

    References:
        Locatello et al. (2019), Sec. 5.5. https://arxiv.org/abs/1811.12359
    """
    caller = "statistical_efficiency"
    codes, factors = read_inputs(caller, codes, factors)
    learner = read_learner(caller, predictor, variant, seed)
    sizes = _read_sizes(caller, (few, many))
    check_count(f"{caller}: n_test", n_test)
    (above, below), note = _accuracies(codes, factors, learner, sizes, n_test)
    is_learned = below > 0
    if not is_learned.any():
        raise ValueError(
            f"{caller}: nothing is learned of any factor from {many} labels, so there "
            f"is no ratio of accuracies. {note} Score more rows, or other codes."
        )
    ratios = {
        name: high / low
        for name, high, low in zip(factors.names, above, below, strict=True)
        if low > 0
    }
    left_out = [name for name in factors.names if name not in ratios]
    if left_out:
        note = f"{note} Nothing is learned of {', '.join(left_out)}.".strip()
    above, below = above[is_learned], below[is_learned]
    return Score(
        above.mean() / below.mean(),
        name="statistical_efficiency",
        variant=f"{predictor}, {variant}",
        per_factor=ratios,
        factors_used=(len(ratios), factors.n_factors),
        details={
            f"accuracy_{sizes[0]}": above.mean(),
            f"accuracy_{sizes[1]}": below.mean(),
            "mean_ratio": float(np.mean(list(ratios.values()))),
        },
        seed=seed,
        note=note,
    )


def _read_sizes(caller: str, sizes: Sequence[int]) -> list[int]:
    for size in sizes:
        check_count(f"{caller}: every number of labels", size)
    numbers = list(sizes)
    if not numbers or sorted(set(numbers)) != numbers:
        raise ValueError(
            f"{caller}: numbers of labels must be ascending, got {tuple(sizes)}."
        )
    return numbers


def _accuracies(
    codes: NDArray[np.float64],
    factors: Factors,
    learner: Learner,
    sizes: list[int],
    n_test: int,
) -> tuple[NDArray[np.float64], str]:
    """Return accuracies ``(n_sizes, n_factors)``, and a note if rows are too few."""
    table = np.empty((len(sizes), factors.n_factors))
    fewest = sizes[-1]
    for k in range(factors.n_factors):
        # One stream for all factors, so that complete factors share their rows.
        generator = numpy_generator(learner.seed, "downstream_accuracy")
        rows = split_known(
            factors, k, n_train=sizes[-1], n_test=n_test, generator=generator
        )
        fewest = min(fewest, len(rows.train))
        for i, size in enumerate(sizes):
            if i > 0 and len(rows.train) <= sizes[i - 1]:
                table[i, k] = table[i - 1, k]
                continue
            split = Split(rows.train[:size], rows.test)
            table[i, k] = learner.fit_and_score(codes, factors, k, split)
    note = ""
    if fewest < sizes[-1]:
        note = f"Only {fewest} labeled rows to learn from, not {sizes[-1]}."
    return table, note
