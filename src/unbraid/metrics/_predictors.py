"""Predictors of factors from codes, with importances and accuracies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Kind

from ._boosting import (
    QUICK,
    Growth,
    boost,
    sigmoid_gradient,
    softmax_gradient,
    squared_gradient,
)
from ._linear_predictors import fit_logistic, fit_ridge

Variant = Literal["fast", "dlib", "logistic", "lasso", "random_forest"]

_PENALTIES = np.logspace(-4, -0.5, 8)


@dataclass(frozen=True)
class Sample:
    """Codes and one factor of the same rows.

    Attributes:
        codes: Codes, ``(n_rows, n_codes)``.
        factor: Class numbers, or values if the factor is continuous, ``(n_rows,)``.
    """

    codes: NDArray[np.float64]
    factor: NDArray[Any]


@dataclass(frozen=True)
class Fit:
    """Result of fitting a predictor of one factor.

    Attributes:
        importance: Importance of each code, non-negative, ``(n_codes,)``.
        train_quality: Accuracy on the training rows; where numbers are predicted, the
            share of their variance that is explained, 0 if negative.
        test_quality: The same on the test rows.
    """

    importance: NDArray[np.float64]
    train_quality: float
    test_quality: float


def fit_predictor(
    variant: Variant, train: Sample, test: Sample, kind: Kind, *, seed: int
) -> Fit:
    """Fit a predictor of a factor.

    Constant codes get importance 0. A factor that is constant in the training rows is
    predicted as this constant.

    Args:
        variant: Name of the predictor; see :func:`unbraid.metrics.dci`.
        train: Rows to learn from, at least one.
        test: Rows to test on, at least one.
        kind: Kind of the factor.
        seed: Seed of the predictor.
    """
    numeric = kind == "continuous" or (variant == "lasso" and kind != "categorical")
    importance = np.zeros(train.codes.shape[1])
    used = np.ptp(train.codes, axis=0) > 0
    rows = np.concatenate([train.codes, test.codes])[:, used]
    if not used.any() or (train.factor == train.factor[0]).all():
        constant = (
            train.factor.mean() if numeric else np.bincount(train.factor).argmax()
        )
        predicted = np.full(len(rows), constant)
    else:
        predictor = _PREDICTORS[variant]
        importance[used], predicted = predictor(rows, train.factor, numeric, seed)
    quality = explained_variance if numeric else accuracy
    n_train = len(train.factor)
    return Fit(
        importance=importance,
        train_quality=quality(train.factor, predicted[:n_train]),
        test_quality=quality(test.factor, predicted[n_train:]),
    )


def predict_boosted(
    rows: NDArray[np.float64],
    factor: NDArray[Any],
    numeric: bool,
    seed: int,
    growth: Growth = QUICK,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Predict with boosted trees, as in the ``"fast"`` variants; see ``boost``.

    Args:
        rows: Codes, ``(n_rows, n_codes)``; the first ones are learned from. No code is
            constant in them.
        factor: Factor of the training rows, ``(n_train,)``, not constant.
        numeric: Predict a number instead of a class.
        seed: Not used; nothing is random.
        growth: Settings of boosting.

    Returns:
        Importances of the codes, ``(n_codes,)``, summing to 1 (or all zero), and
        predictions for all rows, ``(n_rows,)``.
    """
    del seed
    if numeric:
        mean, spread = factor.mean(), factor.std()
        target = ((factor - mean) / spread)[None]
        start = np.zeros(1)
        importance, scores = boost(
            rows, target, start=start, gradient=squared_gradient, growth=growth
        )
        return importance, mean + spread * scores[0]
    classes = np.unique(factor)
    target = (classes[:, None] == factor).astype(np.float64)
    start = np.log(target.mean(axis=1))
    if len(classes) == 2:
        start, target = start[1:] - start[:1], target[1:]
        importance, odds = boost(
            rows, target, start=start, gradient=sigmoid_gradient, growth=growth
        )
        return importance, classes[(odds[0] > 0).astype(int)]
    importance, scores = boost(
        rows, target, start=start, gradient=softmax_gradient, growth=growth
    )
    return importance, classes[scores.argmax(axis=0)]


def predict_boosted_by_sklearn(
    rows: NDArray[np.float64], factor: NDArray[Any], numeric: bool, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Predict with the trees of scikit-learn; see :func:`predict_boosted`."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingRegressor if numeric else GradientBoostingClassifier
    model = kind(random_state=seed % 2**32).fit(rows[: len(factor)], factor)
    return np.asarray(model.feature_importances_), np.asarray(model.predict(rows))


def _random_forest(
    rows: NDArray[np.float64], factor: NDArray[Any], numeric: bool, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if numeric else RandomForestClassifier
    # All codes compete for every split: a random subset may contain only useless
    # codes, which would spread the importance.
    settings: dict[str, Any] = {"min_samples_leaf": 5, "max_features": None}
    model = kind(n_estimators=100, random_state=seed % 2**32, **settings)
    model.fit(rows[: len(factor)], factor)
    return np.asarray(model.feature_importances_), np.asarray(model.predict(rows))


def _lasso(
    rows: NDArray[np.float64], factor: NDArray[Any], numeric: bool, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    from sklearn.linear_model import LassoCV

    train = rows[: len(factor)]
    rows = (rows - train.mean(axis=0)) / train.std(axis=0)
    classes = np.unique(factor)
    targets = factor[None] if numeric else factor[None] == classes[:, None]
    weights, scores = [], []
    settings: dict[str, Any] = {"alphas": _PENALTIES, "cv": min(5, len(factor))}
    for target in targets:
        scaled = (target - target.mean()) / target.std()
        model = LassoCV(**settings).fit(rows[: len(factor)], scaled)
        weights.append(np.abs(model.coef_))
        scores.append(target.mean() + target.std() * model.predict(rows))
    predicted = scores[0] if numeric else classes[np.argmax(scores, axis=0)]
    return np.mean(weights, axis=0), predicted


def _logistic(
    rows: NDArray[np.float64], factor: NDArray[Any], numeric: bool, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    n_train = len(factor)
    rows = (rows - rows[:n_train].mean(axis=0)) / rows[:n_train].std(axis=0)
    if numeric:
        model = fit_ridge(rows[:n_train], factor)
        return np.abs(model.coef_), np.asarray(model.predict(rows))
    model = fit_logistic(rows[:n_train], factor, is_fast=True)
    return np.abs(model.coef_).mean(axis=0), np.asarray(model.predict(rows))


def accuracy(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the share of rows whose class is predicted correctly."""
    return float((truth == predicted).mean())


def explained_variance(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return R squared; 0 if it is negative, or if the truth is constant."""
    variance = truth.var()
    left = ((truth - predicted) ** 2).mean()
    return float(max(0.0, 1.0 - left / variance)) if variance > 0 else 0.0


_PREDICTORS: dict[
    Variant,
    Callable[
        [NDArray[np.float64], NDArray[Any], bool, int],
        tuple[NDArray[np.float64], NDArray[Any]],
    ],
] = {
    "fast": predict_boosted,
    "dlib": predict_boosted_by_sklearn,
    "logistic": _logistic,
    "lasso": _lasso,
    "random_forest": _random_forest,
}
"""Functions of codes of training and test rows, the factor of the training rows,
whether to predict a number, and a seed. They return importances and predictions."""
