"""Linear predictors whose penalty is chosen by cross-validation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY_ROWS = 1000
"""Rows above which fast variants use one fold, and few rounds of boosting."""

_N_FOLDS = 5
_INVERSE_PENALTIES = np.logspace(-4, 4, 10)


def fit_logistic(
    codes: NDArray[np.float64], labels: NDArray[np.integer], *, is_fast: bool
) -> Any:
    """Fit penalized logistic regression, with the penalty chosen by accuracy in folds.

    Args:
        codes: Codes, ``(n_rows, n_codes)``.
        labels: Class numbers, at least two, ``(n_rows,)``.
        is_fast: Use one of the five folds if there are more than 1,000 rows.

    Returns:
        A fitted classifier of scikit-learn.
    """
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV, KFold

    folds = list(KFold(min(_N_FOLDS, len(labels))).split(codes))
    if is_fast and len(labels) > MANY_ROWS:
        folds = folds[:1]
    n_classes = len(np.unique(labels))
    n_seen = [len(np.unique(labels[train])) for train, _ in folds]
    # A fold with a single class cannot be fitted.
    folds = [fold for fold, n in zip(folds, n_seen, strict=True) if n > 1]
    if min(n_seen) == n_classes:
        model = LogisticRegressionCV(Cs=10, cv=folds, scoring="accuracy")
        return model.fit(codes, labels)
    if not folds:
        return LogisticRegression().fit(codes, labels)
    # LogisticRegressionCV of many releases fails if a fold lacks a class; this is the
    # same search, one model at a time.
    choices = {"C": _INVERSE_PENALTIES}
    search = GridSearchCV(LogisticRegression(), choices, cv=folds, scoring="accuracy")
    return search.fit(codes, labels).best_estimator_


def fit_ridge(codes: NDArray[np.float64], values: NDArray[np.float64]) -> Any:
    """Fit ridge regression, with the penalty chosen by leaving out single rows."""
    from sklearn.linear_model import RidgeCV

    return RidgeCV(1.0 / _INVERSE_PENALTIES).fit(codes, values)
