"""Logistic regression for metrics that ask what a linear model can read."""

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
    """Fit scikit-learn's multinomial model, and stop without a warning when told to.

    The published scores stop after a number of steps whether or not they have
    converged, so that the number is part of their definition.

    Args:
        inputs: Shape ``(n_rows, n_columns)``, dense or sparse.
        labels: Class numbers, at least two, ``(n_rows,)``.
        iterations: Steps of the optimizer at most, from 1.
        cost: Weight of the errors against the squared weights; infinite for no penalty.
        is_balanced: Whether classes weigh the same however many rows they have.
    """
    # Here, because it takes a second to import.
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(
        C=cost, class_weight="balanced" if is_balanced else None, max_iter=iterations
    )
    # Products of tables this narrow take longer to hand out to threads than to do.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        # That it stopped, and that many classes might have been meant as numbers.
        warnings.simplefilter("ignore")
        return model.fit(inputs, labels)
