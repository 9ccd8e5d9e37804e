"""Logistic regression for metrics."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


def fit_logistic_regression(
    inputs: Any,
    labels: NDArray[np.integer],
    *,
    iterations: int,
    cost: float = 1.0,
    is_balanced: bool = False,
) -> "LogisticRegression":
    """Fit scikit-learn's multinomial model, without a warning if it is stopped early.

    The published scores stop after a number of steps, converged or not, so that this
    number is part of their definition.

    Args:
        inputs: Inputs, ``(n_rows, n_columns)``, dense or sparse.
        labels: Class numbers, at least two, ``(n_rows,)``.
        iterations: Largest number of steps of the optimizer, at least 1.
        cost: Weight of the errors relative to the squared weights; infinite for no
            penalty.
        is_balanced: Give all classes the same weight, whatever their numbers of rows.
    """
    # Here, because it takes a second to import.
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(
        C=cost, class_weight="balanced" if is_balanced else None, max_iter=iterations
    )
    # For products of such narrow tables, threads cost more than they gain.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        # Warnings that it stopped early, and that there are many classes.
        warnings.simplefilter("ignore")
        return model.fit(inputs, labels)
