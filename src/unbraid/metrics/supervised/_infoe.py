"""InfoE: how much of each factor a linear model predicts from all latents."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, check_option, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._labeled import labeled_rows
from unbraid.metrics._logistic_regression import fit_logistic_regression
from unbraid.metrics._score import Score
from unbraid.metrics._splits import Split, split_rows
from unbraid.metrics._standardize import standardize

from ._infomec import LatentKind


def infoexplicitness(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    latent_kind: LatentKind = "continuous",
    scored_on: Literal["test", "train"] = "test",
    iterations: int = 100,
    split: Split | None = None,
    seed: int = 0,
) -> Score:
    r"""InfoE: how much of each factor a linear model predicts from all latents.

    A logistic regression without penalty, classes balanced, predicts each factor. Its
    log-loss, compared with that of a model without latents, gives the share of the
    factor's uncertainty that is removed; shares are averaged over factors.

    .. math:: \frac{1}{K} \sum_k \max\Bigl(0, 1 - \frac{L(v_k \mid z)}{L(v_k)} \Bigr)

    Args:
        codes: Latents :math:`z`, ``(n_rows, n_latents)``, dead ones included.
            Continuous ones are standardized, discrete ones become one column per value.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out, and in the rows scored those of a value not learned from. A
            factor with a single value among the rows learned from counts as 0.
        latent_kind: ``"continuous"`` or ``"discrete"``.
        scored_on: ``"test"`` scores on rows that were not learned from; ``"train"`` on
            those learned from, as published, which flatters many latents on few rows.
        iterations: Largest number of steps of the optimizer, 100 in the paper. If a
            factor can be predicted without error there is no best model, and the score
            approaches 1 with more steps.
        split: Rows to learn from and to test on. By default 10,000 and 5,000 random
            rows, or all rows in this ratio if there are fewer.
        seed: Seed of the draw.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the terms of the sum.

    Raises:
        ValueError: If a factor has no labels in the rows to learn from or to test on,
            or the input is not as above.

    Example:
        >>> factors = np.indices((2, 2)).reshape(2, -1).T.repeat(50, axis=0)
        >>> round(infoexplicitness(1.0 * factors, factors), 2)
        1.0

    References:
        Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via Latent
        Quantization, on InfoMEC. https://arxiv.org/abs/2305.18378
        Scoring on other rows than those learned from is ours.
    """
    caller = "infoexplicitness"
    codes, factors = read_inputs(caller, codes, factors)
    check_count(f"{caller}: iterations", iterations)
    check_option(f"{caller}: latent_kind", latent_kind, LatentKind)
    check_option(f"{caller}: scored_on", scored_on, ("test", "train"))
    is_drawn = split is None
    if split is None:
        generator = numpy_generator(seed, "infoe", "rows")
        split = split_rows(len(codes), generator=generator)
    if scored_on == "train":
        split = Split(split.train, split.train)
    parts = [labeled_rows(caller, split, factors, k) for k in range(factors.n_factors)]
    inputs = _inputs(codes, split.train, latent_kind)
    removed = np.array(
        [
            _removed_share(inputs, labels, rows, iterations)
            for labels, rows in zip(factors.labels.T, parts, strict=True)
        ]
    )
    return Score(
        removed.mean(),
        name="infoe",
        variant=f"{latent_kind}, {scored_on}",
        per_factor=dict(zip(factors.names, removed, strict=True)),
        seed=seed if is_drawn else None,
    )


def _inputs(
    codes: NDArray[np.float64], train: NDArray[np.integer], latent_kind: LatentKind
) -> Any:
    """Return the inputs of the model, ``(n_rows, n_columns)``, sparse if discrete."""
    if latent_kind == "continuous":
        return standardize(codes, train)
    # Here, because it takes a second to import.
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(handle_unknown="ignore").fit(codes[train]).transform(codes)


def _removed_share(
    inputs: Any, labels: NDArray[np.int64], rows: Split, iterations: int
) -> float:
    """Return the share of the log-loss that a model with latents removes."""
    classes = np.unique(labels[rows.train])
    scored = rows.test[np.isin(labels[rows.test], classes)]
    if len(classes) < 2 or not len(scored):
        return 0.0
    model = fit_logistic_regression(
        inputs[rows.train],
        labels[rows.train],
        iterations=iterations,
        cost=np.inf,
        is_balanced=True,
    )
    columns = np.searchsorted(classes, labels[scored])
    chances = model.predict_proba(inputs[scored])[np.arange(len(scored)), columns]
    # Clipped like scikit-learn's log-loss, or one confident mistake would dominate.
    loss = -np.log(np.maximum(chances, np.finfo(np.float64).eps)).mean()
    # With balanced classes, the best model without inputs finds all equally likely.
    return max(0.0, 1.0 - loss / np.log(len(classes)))
