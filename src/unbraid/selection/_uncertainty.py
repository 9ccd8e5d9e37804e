"""Uncertainty of the scores of models and configurations with few seeds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

Floats = NDArray[np.float64]

_PRIOR_RUNS = 4.0
# Standard deviation of the influence of a seed where the whole score is agreement, and
# where none of it is. Both numbers describe the seeds of 42 configurations on 7 sets of
# images (benchmarks/choice.py).
_PRIOR_OF_AGREEMENT, _PRIOR_OF_OTHERS = 0.2, 0.05
_EXCESS_OF_MEDIAN = 2.0
"""Variance of a median of more than two partners relative to that of their mean: pi / 2
for many normal values, and more for the few and skewed ones in simulations."""


class Spread(NamedTuple):
    """Uncertainty of scores of one configuration.

    Attributes:
        of_mean: Standard error of the score of the configuration.
        of_model: Standard error of the score of each of its models.
        degrees: Degrees of freedom of both.
    """

    of_mean: float
    of_model: float
    degrees: float

    def reach(self, error: float, probability: float) -> float:
        """Return the half width of an interval with this standard error."""
        return float(t.ppf((1 + probability) / 2, self.degrees)) * error


def estimate_spread(agreement: Floats, others: Floats) -> Spread:
    r"""Estimate how much scores would change with other seeds.

    The score of a model is the sum of a part that compares it with the other seeds and
    of a part of its own. In the mean over :math:`n` seeds, a seed counts twice in the
    first part, as a model and as a partner of the others, so that its influence is

    .. math::
        h_i = 2 \, \frac{n - 1}{n - 2} \, (a_i - \bar a) + (o_i - \bar o)

    (the factor undoes that the score of a seed shares pairs with those of the
    others). The variance of the influence is estimated from these values and from a
    prior that counts as much as four more runs, because the spread of two to four seeds
    says little: two seeds have one agreement, and say nothing.

    .. math::
        s^2 = \frac{\sum_i h_i^2 + \nu_0 \sigma_0^2}{n - 1 + \nu_0}, \qquad
        \operatorname{Var}(\bar x) = \frac{s^2}{n}, \qquad
        \operatorname{Var}(x_i) = \frac{c \, s^2}{4 (n - 1)}

    The second variance is that of the model's partners, for a model that stays as it
    is; :math:`c = 2` for more than two partners, whose median varies more than their
    mean, and else 1. Both belong to a t distribution with :math:`n - 1 + \nu_0` degrees
    of freedom.

    Args:
        agreement: Part of each model's score that depends on other seeds, ``(n,)``.
        others: Remaining part of each model's score, ``(n,)``.

    Raises:
        ValueError: If there are no models, or different numbers of values.

    Example:
        >>> even = estimate_spread(np.full(3, 0.5), np.zeros(3))
        >>> uneven = estimate_spread(np.array([0.2, 0.5, 0.8]), np.zeros(3))
        >>> bool(uneven.of_mean > even.of_mean), even.degrees
        (True, 6.0)

    References:
        Hoeffding (1948), A Class of Statistics with Asymptotically Normal Distribution,
        section 5, for the influence in a mean over pairs.
    """
    if not len(agreement) == len(others) > 0:
        raise ValueError(
            "estimate_spread needs both parts of the score of each of one or more "
            f"models, got {len(agreement)} and {len(others)} values."
        )
    n_runs, total = len(agreement), agreement.mean() + others.mean()
    share = agreement.mean() / total if total > 0 else 1.0
    prior = share * _PRIOR_OF_AGREEMENT + (1 - share) * _PRIOR_OF_OTHERS
    squares, degrees = _PRIOR_RUNS * prior**2, _PRIOR_RUNS
    if n_runs > 2:
        influence = 2 * (n_runs - 1) / (n_runs - 2) * (agreement - agreement.mean())
        influence += others - others.mean()
        squares += float(influence @ influence)
        degrees += n_runs - 1
    variance = squares / degrees
    excess = _EXCESS_OF_MEDIAN if n_runs > 3 else 1.0
    return Spread(
        of_mean=float(np.sqrt(variance / n_runs)),
        of_model=float(np.sqrt(excess * variance / 4 / max(n_runs - 1, 1))),
        degrees=degrees,
    )
