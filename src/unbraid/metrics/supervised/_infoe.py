"""InfoE: how much of each factor a linear model reads off all latents."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._labeled import labeled_rows
from unbraid.metrics._logistic_regression import fit_logistic_regression
from unbraid.metrics._score import Score
from unbraid.metrics._sizes import check_size
from unbraid.metrics._splits import Split, split_rows
from unbraid.metrics._standardize import standardize

from ._infomec import LatentKind, check_latent_kind


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
    r"""InfoE: how much of each factor a linear model reads off all latents.

    A logistic regression without penalty, classes balanced, predicts each factor. Its
    log-loss, against that of a model that sees no latents, gives the share of the
    factor's uncertainty that is taken away; shares are averaged over factors.

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
        iterations: Steps of the optimizer at most, 100 in the paper. Where a factor can
            be told without error there is no best model, and the score creeps up to 1
            with every step.
        split: Rows to learn from and to test on; when not given, 10,000 and 5,000 are
            drawn at random, or all rows in this ratio if there are fewer.
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
    who = "infoexplicitness"
    codes, factors = read_inputs(who, codes, factors)
    check_size(who, "iterations", iterations)
    check_latent_kind(who, latent_kind)
    if scored_on not in ("test", "train"):
        raise ValueError(
            f"{who}: expected scored_on 'test' or 'train', got {scored_on!r}."
        )
    is_drawn = split is None
    if split is None:
        generator = numpy_generator(seed, "infoe", "rows")
        split = split_rows(len(codes), generator=generator)
    if scored_on == "train":
        split = Split(split.train, split.train)
    parts = [labeled_rows(who, split, factors, k) for k in range(factors.n_factors)]
    inputs = _inputs(codes, split.train, latent_kind)
    taken_away = np.array(
        [
            _taken_away(inputs, labels, rows, iterations)
            for labels, rows in zip(factors.labels.T, parts, strict=True)
        ]
    )
    return Score(
        taken_away.mean(),
        name="infoe",
        variant=f"{latent_kind}, {scored_on}",
        per_factor=dict(zip(factors.names, taken_away, strict=True)),
        seed=seed if is_drawn else None,
    )


def _inputs(
    codes: NDArray[np.float64], train: NDArray[np.integer], latent_kind: LatentKind
) -> Any:
    """Columns that the model sees, ``(n_rows, n_columns)``; sparse if discrete."""
    if latent_kind == "continuous":
        return standardize(codes, train)
    # Here, because it takes a second to import.
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(handle_unknown="ignore").fit(codes[train]).transform(codes)


def _taken_away(
    inputs: Any, labels: NDArray[np.int64], rows: Split, iterations: int
) -> float:
    """Share of the log-loss without latents that a model with them does away with."""
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
    # Cut off like scikit-learn's log-loss, or one bold mistake outweighs all else.
    loss = -np.log(np.maximum(chances, np.finfo(np.float64).eps)).mean()
    # With classes balanced, the best model that sees nothing finds all equally likely.
    return max(0.0, 1.0 - loss / np.log(len(classes)))
