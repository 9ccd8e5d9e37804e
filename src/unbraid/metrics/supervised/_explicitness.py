"""Explicitness: can a linear model predict a factor from all latents?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._labeled import labeled_rows
from unbraid.metrics._logistic_regression import fit_logistic_regression
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split, split_rows
from unbraid.metrics._standardize import standardize


def explicitness_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    iterations: int = 100,
    split: Split | None = None,
    seed: int = 0,
) -> Score:
    """Explicitness of a representation.

    A logistic regression predicts each factor from all latents. For each value of the
    factor, the area under the ROC curve measures how well its rows are separated from
    the rest; areas are averaged over values, then over factors. Chance is 0.5.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``. Standardized here; constant and
            duplicate latents are harmless.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`. Continuous
            factors are binned; for each factor, rows where it is missing are left out.
            A value that does not occur in the training or the test rows has no curve
            and is left out of the average; if none is left, the area is 0.5.
        iterations: Largest number of steps of the optimizer. It may stop before it has
            converged, as in disentanglement_lib, which changes areas by less than 1e-4.
        split: Rows to learn from and to test on. By default 10,000 and 5,000 random
            rows, or all rows in this ratio if there are fewer.
        seed: Seed of the draw.

    Returns:
        A score from 0 to 1 on the rows to test on, higher is better. ``per_factor`` has
        the areas of each factor, ``details`` the score on the rows learned from.

    Raises:
        ValueError: If a factor has no labels in the rows to learn from or to test on,
            or the input is not as above.

    Example:
        >>> factors = np.indices((2, 3)).reshape(2, -1).T.repeat(20, axis=0)
        >>> score = explicitness_score(1.0 * factors, factors)
        >>> round(score.per_factor["factor_0"], 3)
        1.0

    References:
        Ridgeway and Mozer (2018), Learning Deep Disentangled Embeddings with the
        F-Statistic Loss, Section 3. https://arxiv.org/abs/1802.05312
    """
    caller = "explicitness_score"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: iterations", iterations)
    is_drawn = split is None
    if split is None:
        generator = numpy_generator(seed, "explicitness", "rows")
        split = split_rows(len(codes), generator=generator)
    parts = [labeled_rows(caller, split, factors, k) for k in range(factors.n_factors)]
    codes = standardize(codes, split.train)
    areas = np.array(
        [
            _areas(codes, labels, rows, iterations)
            for labels, rows in zip(factors.labels.T, parts, strict=True)
        ]
    )
    train, test = areas.mean(axis=0)
    return Score(
        test,
        name="explicitness",
        per_factor=dict(zip(factors.names, areas[:, 1], strict=True)),
        details={"train": train},
        seed=seed if is_drawn else None,
    )


def _areas(
    codes: NDArray[np.float64],
    labels: NDArray[np.int64],
    rows: Split,
    iterations: int,
) -> tuple[float, float]:
    """Return the areas on the training rows and on the test rows."""
    if (labels[rows.train] == labels[rows.train[0]]).all():
        return 0.5, 0.5
    model = fit_logistic_regression(
        codes[rows.train], labels[rows.train], iterations=iterations
    )
    train, test = (
        mean_area_under_curves(
            model.predict_proba(codes[part]), labels[part][:, None] == model.classes_
        )
        for part in (rows.train, rows.test)
    )
    return train, test


def mean_area_under_curves(
    scores: NDArray[np.floating], is_class: NDArray[np.bool_]
) -> float:
    """Return the mean area under the ROC curve over classes; 0.5 if none has a curve.

    The area is the share of pairs of a row of the class and a row of another that the
    scores put in the right order, ties counting half.

    Args:
        scores: Scores, ``(n_rows, n_classes)``, higher for rows of the class.
        is_class: Whether a row is of a class, ``(n_rows, n_classes)``.
    """
    # Here, because it takes half a second to import.
    from scipy.stats import rankdata

    inside = is_class.sum(axis=0)
    pairs = inside * (len(is_class) - inside)
    ranks = np.where(is_class, rankdata(scores, axis=0), 0.0).sum(axis=0)
    ordered = ranks - inside * (inside + 1) / 2
    has_curve = pairs > 0
    if not has_curve.any():
        return 0.5
    return float((ordered[has_curve] / pairs[has_curve]).mean())
