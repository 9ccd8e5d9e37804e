"""Mutual information of factors with latents that are drawn from posteriors."""

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator
from unbraid.metrics._information import factor_entropies
from unbraid.metrics._inputs import Factors

_VALUES_PER_BATCH = 2**20

_NARROWEST = -500.0
"""Smallest log-variance; the precision of narrower posteriors would overflow."""


def posterior_information(
    codes: NDArray[np.float64],
    log_variances: NDArray[np.float64],
    factors: Factors,
    *,
    n_rows: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return the information of every latent about every factor, and entropies.

    .. math::
        I(z_j; v_k) = \frac{1}{N} \sum_n \log \frac{q(z_{nj} | v_{nk})}{q(z_{nj})},
        \qquad z_{nj} \sim q(z_j | x_n)

    The densities are means of the normal densities :math:`q(z_j | x_n)` over all rows,
    and over the rows with the same value of the factor.

    Args:
        codes: Means of the posteriors, ``(n_rows, n_latents)``.
        log_variances: Logarithms of their variances, of the same shape.
        factors: Factors of the same rows; for each factor, rows where it is missing
            are left out.
        n_rows: Largest number of rows, drawn at random.
        seed: Seed of the rows and of the latents.

    Returns:
        Mutual information in nats, ``(n_latents, n_factors)``, at least 0, and the
        entropy of each factor in the same rows, ``(n_factors,)``.

    Raises:
        ValueError: If a factor has a single value in the rows that are drawn.
    """
    generator = numpy_generator(seed, "posterior information")
    if len(codes) > n_rows:
        rows = generator.choice(len(codes), n_rows, replace=False)
        codes, log_variances = codes[rows], log_variances[rows]
        factors = factors.at(rows)
    entropies = _entropies(factors)
    log_variances = np.maximum(log_variances, _NARROWEST)
    noise = generator.standard_normal(codes.shape)
    drawn = codes + np.exp(0.5 * log_variances) * noise
    information = np.empty((codes.shape[1], factors.n_factors))
    for j in range(codes.shape[1]):
        latent = drawn[:, j], codes[:, j], log_variances[:, j]
        of_all = _log_densities(*latent)
        for k, labels in enumerate(factors.labels.T):
            known = labels >= 0
            if known.all():
                overall = of_all
            else:
                overall = _log_densities(*(values[known] for values in latent))
            within = _log_densities_by_class(*latent, labels)
            information[j, k] = (within[known] - overall).mean()
    # The noise of the draws can make the information of a latent negative.
    return np.maximum(information, 0.0), entropies


def _entropies(factors: Factors) -> NDArray[np.float64]:
    for name, labels in zip(factors.names, factors.labels.T, strict=True):
        if len(np.unique(labels[labels >= 0])) < 2:
            raise ValueError(
                f"The factor {name!r} has fewer than two values in the "
                f"{len(labels)} rows that were drawn. Use more rows."
            )
    return factor_entropies(factors)


def _log_densities_by_class(
    drawn: NDArray[np.float64],
    means: NDArray[np.float64],
    log_variances: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the log-density of each draw among the rows of its class."""
    densities = np.empty(len(drawn))
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        densities[rows] = _log_densities(drawn[rows], means[rows], log_variances[rows])
    return densities


def _log_densities(
    drawn: NDArray[np.float64],
    means: NDArray[np.float64],
    log_variances: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the logarithm of the mean normal density at each draw.

    The factor of the normal density that does not depend on the row is left out, since
    it cancels.
    """
    precisions = np.exp(-log_variances)
    densities = np.empty(len(drawn))
    step = max(1, _VALUES_PER_BATCH // len(means))
    for start in range(0, len(drawn), step):
        part = slice(start, start + step)
        powers = drawn[part, None] - means
        with np.errstate(over="ignore"):  # to zero density
            powers *= powers
            powers *= -0.5 * precisions
        powers -= 0.5 * log_variances
        largest = powers.max(axis=1, keepdims=True)
        powers -= largest
        total = np.exp(powers, out=powers).sum(axis=1)
        densities[part] = np.log(total / len(means)) + largest[:, 0]
    return densities
