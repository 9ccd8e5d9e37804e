"""Mutual information gap (MIG)."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count, check_option
from unbraid.metrics._information import (
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.metrics._inputs import BINS, Factors, read_inputs, require_two_latents
from unbraid.metrics._score import Score
from unbraid.metrics.unsupervised._covariance import read_log_variances

from ._posterior_information import posterior_information

Estimator = Literal["histogram", "posterior"]


def mutual_information_gap(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    estimator: Estimator = "histogram",
    bins: int = BINS,
    log_variances: ArrayLike | None = None,
    n_rows: int = 10_000,
    seed: int = 0,
) -> Score:
    r"""Mutual information gap (MIG) of a representation.

    For each factor, the difference between the highest and the second-highest mutual
    information with any latent, divided by the factor's entropy, averaged over factors.
    The score is 1 if each factor is encoded by exactly one latent, and 0 if two latents
    always have the same information about it.

    .. math::
        \frac{1}{K} \sum_{k} \frac{1}{H(v_k)}
        \Bigl( I(z_{j(k)}; v_k) - \max_{j \neq j(k)} I(z_j; v_k) \Bigr)

    Estimators of the mutual information:

    - ``"histogram"``: relative frequencies of the latent means in bins, as in
      disentanglement_lib.
    - ``"posterior"``: the definition of the paper, with the density of a latent that is
      drawn from the posteriors. With :math:`q(z_j) = \frac{1}{N} \sum_n q(z_j | x_n)`
      and the same mean :math:`q(z_j | v_k)` over the rows with one value of a factor,

      .. math:: I(z_j; v_k) = \mathbb{E}\, \log \frac{q(z_j | v_k)}{q(z_j)},

      where the expectation is estimated from one draw of :math:`z_j` for each row. If
      posteriors are narrow and a value has few rows, a latent identifies the row, and
      the information is overestimated.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``, at least two latents.
            Binned here. A constant latent has no information; a copy of another latent
            lowers the score.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out.
        estimator: Estimator of the mutual information, see above.
        bins: Equal-width bins per latent, for ``"histogram"``. Scores depend on it:
            report it.
        log_variances: Logarithms of the variances of the posteriors, ``(n_rows,
            n_latents)``. Needed for ``"posterior"``, and not used otherwise.
        n_rows: Largest number of rows for ``"posterior"``, drawn at random. The time
            grows with its square.
        seed: Seed of what ``"posterior"`` draws.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the gaps, ``matrix``
        the mutual information in nats, ``(n_latents, n_factors)``.

    Raises:
        ValueError: If there is one latent only, log-variances are missing, or the input
            is not as above.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> one_latent_each = factors.astype(float)
        >>> mutual_information_gap(one_latent_each, factors, bins=2)
        1.0
        >>> rotated = one_latent_each @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> mutual_information_gap(rotated, factors, bins=2)
        0.0
        >>> score = mutual_information_gap(
        ...     one_latent_each, factors, estimator="posterior",
        ...     log_variances=np.full((4, 2), -10.0),
        ... )
        >>> round(score, 6)
        1.0

    References:
        Chen, Li, Grosse and Duvenaud (2018), Isolating Sources of Disentanglement in
        Variational Autoencoders, Eq. 6, and Eq. 5 for ``"posterior"``.
        https://arxiv.org/abs/1802.04942
    """
    caller = "mutual_information_gap"
    codes, factors = read_inputs(caller, codes, factors)
    check_option(f"{caller}: estimator", estimator, Estimator)
    check_count(f"{caller}: bins", bins)
    check_count(f"{caller}: n_rows", n_rows, least=2)
    require_two_latents(caller, codes)
    if estimator == "histogram":
        information = mutual_information_matrix(bin_codes(codes, bins), factors)
        entropies = factor_entropies(factors)
    elif log_variances is None:
        raise ValueError(
            f"{caller}: the estimator 'posterior' needs log_variances, the logarithms "
            "of the variances of the posteriors."
        )
    else:
        logs = read_log_variances(caller, codes, log_variances)
        information, entropies = posterior_information(
            codes, logs, factors, n_rows=n_rows, seed=seed
        )
    best = np.sort(information, axis=0)
    gaps = (best[-1] - best[-2]) / entropies
    return Score(
        gaps.mean(),
        name="mig",
        variant="" if estimator == "histogram" else estimator,
        per_factor=dict(zip(factors.names, gaps, strict=True)),
        matrix=information,
        seed=None if estimator == "histogram" else seed,
    )
