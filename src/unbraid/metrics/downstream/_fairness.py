"""Unfairness: dependence of predictions of one factor on another factor."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data import Kind
from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._grid import Grid, complete_grid
from unbraid.metrics._inputs import Factors, read_inputs, require_two_factors
from unbraid.metrics._score import Score
from unbraid.metrics._splits import split_rows

from ._learner import Learner, Variant, read_learner, split_known


def unfairness(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    variant: Variant = "fast",
    n_train: int = 10_000,
    n_vectors: int = 100,
    seed: int = 0,
) -> Score:
    r"""Unfairness: dependence of predictions of a target on a sensitive factor.

    Boosted trees learn each factor (the target) from the codes. The rest of the
    factors are sensitive in turn: if predictions of the target are distributed the
    same whatever the sensitive value, as the target itself is, they are fair. The
    distance is the total variation.

    .. math::
        \text{unfairness}(\hat{y}) = \frac{1}{|S|} \sum_{s}
        D_{TV}\bigl(p(\hat{y}),\, p(\hat{y} \mid s)\bigr)

    Every sensitive value counts alike, however many rows have it.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Constant and duplicate latents
            are harmless.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`, at least
            two factors. If every combination of values has one row, ``n_vectors`` rows
            are drawn for each pair of factors and the sensitive one is set to each of
            its values. In any other table, :math:`p(\hat{y} \mid s)` comes from the
            rows with the value :math:`s` among those not learned from (at least a third
            of all, at most ``2 * n_train``); it then contains chance (see ``chance``
            of the score) and any dependence among the factors of the table. Continuous
            factors are binned; rows where a factor concerned is missing are left out.
        variant: ``"dlib"`` for scikit-learn's boosted trees, ``"fast"`` for ours.
        n_train: Number of rows to learn from; fewer if there are not enough.
        n_vectors: Number of rows in which a sensitive factor is set to all its values.
        seed: Seed of the rows that are drawn.

    Returns:
        Mean over targets and sensitive factors, from 0 to 1, lower is better.
        ``per_factor`` is the mean for each target. ``details`` has
        ``"mean/<target>/<sensitive>"`` and ``"max/<target>/<sensitive>"``, the mean
        and the largest distance over sensitive values, and from each
        of these two tables the mean or largest over targets of the mean or largest
        over sensitive factors (``"max/mean_target/max_sensitive"``) and the other way
        round (``"mean/max_sensitive/mean_target"``). Pairs that are never known
        together are left out, and the note says so. In a table that is not a grid,
        ``chance`` is the score with the sensitive values shuffled.

    Raises:
        ValueError: If there is one factor only, or no two factors known together.

    Example:
        >>> grid = np.stack(np.meshgrid(range(3), range(8)), axis=-1).reshape(-1, 2)
        >>> unfairness(grid, grid)
        0.0
        >>> unfairness(grid.sum(axis=1), grid) > 0
        True

    References:
        Locatello, Abbati, Rainforth, Bauer, Schölkopf and Bachem (2019), On the
        Fairness of Disentangled Representations, Sec. 4.
        https://arxiv.org/abs/1905.13662
        The code of disentanglement_lib weights sensitive values by their rows, which
        makes a difference outside of a complete grid only.
    """
    codes, factors = read_inputs("unfairness", codes, factors)
    require_two_factors("unfairness", factors)
    learner = read_learner("unfairness", "boosting", variant, seed)
    check_count("unfairness: n_train", n_train)
    check_count("unfairness: n_vectors", n_vectors)
    factors = _as_classes(factors)
    grid = complete_grid(factors)
    if grid is not None:
        pairs = _on_grid(codes, factors, grid, learner, n_train, n_vectors)
        chance, note = None, ""
    else:
        pairs, shuffled = _on_table(codes, factors, learner, n_train)
        chance = float(np.nanmean(shuffled[0], axis=1).mean())
        note = "Not a complete grid: rows were selected."
        left_out = np.isnan(pairs[0]).sum() - factors.n_factors
        if left_out:
            note += f" {left_out} pairs of factors are not known together."
    per_target = np.nanmean(pairs[0], axis=1)
    return Score(
        per_target.mean(),
        name="unfairness",
        variant=variant,
        per_factor=dict(zip(factors.names, per_target, strict=True)),
        details=_details(pairs, factors.names),
        seed=seed,
        chance=chance,
        note=note,
    )


def total_variations(
    predicted: NDArray[np.integer], sensitive: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances of predictions at each sensitive value to those in all rows.

    Args:
        predicted: Predicted class numbers from 0, ``(n,)``.
        sensitive: Sensitive class numbers from 0 of the same rows, ``(n,)``.

    Returns:
        Distance of each sensitive value that occurs, from 0 to 1, and its rows.

    Example:
        >>> total_variations(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]))
        (array([0.25, 0.75]), array([3, 1]))
    """
    n_classes = int(predicted.max()) + 1
    n_values = int(sensitive.max()) + 1
    counts = np.bincount(
        sensitive * n_classes + predicted, minlength=n_values * n_classes
    ).reshape(n_values, n_classes)
    counts = counts[counts.sum(axis=1) > 0]
    n_each = counts.sum(axis=1)
    pooled = counts.sum(axis=0) / n_each.sum()
    distances = np.abs(counts / n_each[:, None] - pooled).sum(axis=1) / 2.0
    return distances, n_each


def _mean_and_largest(
    predicted: NDArray[np.integer], sensitive: NDArray[np.integer]
) -> tuple[float, float]:
    distances, _ = total_variations(predicted, sensitive)
    return float(distances.mean()), float(distances.max())


def _as_classes(factors: Factors) -> Factors:
    """Return factors whose real values are binned."""
    if not any(factors.is_binned):
        return factors
    labels = np.where(factors.known, factors.labels, np.nan)
    kinds: list[Kind] = [
        "ordinal" if kind == "continuous" else kind for kind in factors.kinds
    ]
    return Factors(labels, names=factors.names, kinds=kinds)


def _on_grid(
    codes: NDArray[np.float64],
    factors: Factors,
    grid: Grid,
    learner: Learner,
    n_train: int,
    n_vectors: int,
) -> NDArray[np.float64]:
    """Return mean and largest distances by counterfactuals, ``(2, n, n)``."""
    pairs = np.full((2, factors.n_factors, factors.n_factors), np.nan)
    generator = numpy_generator(learner.seed, "unfairness")
    train = split_rows(len(codes), n_train=n_train, n_test=0, generator=generator).train
    for target in range(factors.n_factors):
        others = [k for k in range(factors.n_factors) if k != target]
        rows, sensitive = [], []
        for other in others:
            vectors = generator.choice(grid.rows.ravel(), size=n_vectors)
            values = np.arange(factors.sizes[other])[:, None]
            rows.append(grid.change(vectors, other, values).ravel())
            sensitive.append(np.repeat(values.ravel(), n_vectors))
        new = codes[np.concatenate(rows)]
        fitted = learner.fit(codes[train], factors.at(train), target, new)
        ends = np.cumsum([len(part) for part in rows])[:-1]
        predictions = np.split(fitted.predicted, ends)
        for other, predicted, values in zip(
            others, predictions, sensitive, strict=True
        ):
            pairs[:, target, other] = _mean_and_largest(predicted, values)
    return pairs


def _on_table(
    codes: NDArray[np.float64], factors: Factors, learner: Learner, n_train: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distances between selected rows, and those with shuffled values."""
    pairs = np.full((2, factors.n_factors, factors.n_factors), np.nan)
    shuffled = pairs.copy()
    for target in range(factors.n_factors):
        generator = numpy_generator(learner.seed, "unfairness", target)
        split = split_known(
            factors, target, n_train=n_train, n_test=2 * n_train, generator=generator
        )
        train = split.train
        new = codes[split.test]
        predicted = learner.fit(codes[train], factors.at(train), target, new).predicted
        for other in range(factors.n_factors):
            sensitive = factors.labels[split.test, other]
            known = sensitive >= 0
            if other == target or len(np.unique(sensitive[known])) < 2:
                continue
            sensitive = sensitive[known]
            pairs[:, target, other] = _mean_and_largest(predicted[known], sensitive)
            shuffled[:, target, other] = _mean_and_largest(
                predicted[known], generator.permutation(sensitive)
            )
    for k, name in enumerate(factors.names):
        if np.isnan(pairs[0, k]).all() or np.isnan(pairs[0, :, k]).all():
            raise ValueError(
                f"unfairness: there are no test rows in which {name!r} is known and "
                "another factor varies. Drop this factor, or label more rows."
            )
    return pairs, shuffled


def _details(pairs: NDArray[np.float64], names: tuple[str, ...]) -> dict[str, float]:
    """Return all pairs, and means and maxima over targets and sensitive factors."""
    details = {}
    over = {"mean": np.nanmean, "max": np.nanmax}
    for kind, table in zip(("mean", "max"), pairs, strict=True):
        for i, j in np.argwhere(~np.isnan(table)):
            details[f"{kind}/{names[i]}/{names[j]}"] = table[i, j]
        for outer in over:
            for inner in over:
                by_target = over[outer](over[inner](table, axis=1))
                by_sensitive = over[outer](over[inner](table, axis=0))
                details[f"{kind}/{outer}_target/{inner}_sensitive"] = by_target
                details[f"{kind}/{outer}_sensitive/{inner}_target"] = by_sensitive
    return details
