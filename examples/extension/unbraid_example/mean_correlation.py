"""The mean correlation coefficient (MCC)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unbraid.metrics import Factors, Metric, Score, read_inputs


def mean_correlation_coefficient(
    codes: ArrayLike, factors: ArrayLike | Factors
) -> Score:
    r"""Mean correlation coefficient (MCC) of a representation, of ranks.

    Every factor is assigned a latent of its own, such that the sum of absolute rank
    correlations is as large as possible. The score is the mean of these correlations.

    .. math::
        \max_{\pi} \frac{1}{K} \sum_k |\rho(z_{\pi(k)}, v_k)|

    Args:
        codes: Latent means, ``(n_rows, n_latents)``.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`unbraid.Factors`.
            Rows with missing values of a factor are ignored for that factor. The score
            depends on the order of values, so it is of little use for categorical and
            cyclic factors.

    Returns:
        Score from 0 to 1, higher is better. Factors without a latent count as 0.
        ``matrix`` has the correlations, ``(n_latents, n_factors)``.

    References:
        Hyvarinen and Morioka (2016), Unsupervised Feature Extraction by
        Time-Contrastive Learning and Nonlinear ICA, section 6.
        https://arxiv.org/abs/1605.06336
    """
    codes, factors = read_inputs("mean_correlation_coefficient", codes, factors)
    matrix = np.stack(
        [
            _rank_correlations(codes[known], values[known])
            for values, known in zip(factors.values.T, factors.known.T, strict=True)
        ],
        axis=1,
    )
    sizes = np.abs(matrix)
    latents, columns = linear_sum_assignment(sizes, maximize=True)
    matched = np.zeros(factors.n_factors)
    matched[columns] = sizes[latents, columns]
    return Score(
        matched.mean(),
        name="mcc",
        variant="rank",
        per_factor=dict(zip(factors.names, matched, strict=True)),
        matrix=matrix,
    )


def _rank_correlations(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the rank correlation of each column with the values; 0 if constant."""
    ranks = rankdata(np.column_stack([codes, values]), axis=0)
    ranks -= ranks.mean(axis=0)
    lengths = np.linalg.norm(ranks, axis=0)
    lengths[lengths == 0] = 1.0
    ranks /= lengths
    return ranks[:, :-1].T @ ranks[:, -1]


METRIC = Metric(mean_correlation_coefficient, seconds=0.05)
