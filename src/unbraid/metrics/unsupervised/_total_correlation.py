"""Total correlation of the codes, if they were Gaussian."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.metrics._score import Score

from ._covariance import Posterior, code_covariance


def gaussian_total_correlation(
    codes: ArrayLike,
    *,
    log_variances: ArrayLike | None = None,
    posterior: Posterior = "exact",
    seed: int = 0,
) -> Score:
    r"""Total correlation of a Gaussian with the covariance of the codes, in nats.

    It is the Kullback-Leibler divergence from the Gaussian to the product of its
    marginals: zero if the latents are uncorrelated, infinite if one is a linear
    function of the others. Dependence that is not linear goes unseen.

    .. math::
        \frac12 \Bigl(\sum_j \log \Sigma_{jj} - \log\det\Sigma\Bigr)

    Latents that are constant depend on nothing and are left out, which ``note`` says.
    Where the total correlation is infinite there is no score, but an error: if a latent
    is a linear function of others, such as a duplicate, or if there are no more rows
    than latents.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``.
        log_variances: Logarithms of the posteriors' variances, same shape, to score
            codes drawn from the posteriors; the means are scored without.
        posterior: With ``log_variances``: ``"exact"`` adds their mean to the covariance
            of the means, ``"sampled"`` draws one code per row.
        seed: Seed of the drawing.

    Returns:
        Nats from 0, lower is more independent. ``details`` has ``n_latents``, the
        number of latents that are not left out.

    Raises:
        ValueError: If the total correlation is infinite, or the input is not as above.

    Example:
        >>> codes = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
        >>> round(gaussian_total_correlation(codes), 6)
        0.111572

    References:
        Watanabe (1960) for the quantity; Locatello et al. (2019), Challenging Common
        Assumptions in the Unsupervised Learning of Disentangled Representations, for
        its use on means and on samples. https://arxiv.org/abs/1811.12359
    """
    covariance, varies = code_covariance(
        "gaussian_total_correlation", codes, log_variances, posterior, seed
    )
    kept = covariance[np.ix_(varies, varies)]
    eigenvalues = (
        np.linalg.eigvalsh(_correlations(kept)) if varies.any() else np.ones(0)
    )
    # Below this an eigenvalue is rounding of zero.
    positive = eigenvalues > len(eigenvalues) * np.finfo(float).eps * eigenvalues.max(
        initial=0.0
    )
    if not positive.all():
        raise ValueError(_infinite(len(np.asarray(codes)), int(varies.sum()), positive))
    constant = np.flatnonzero(~varies).tolist()
    return Score(
        max(0.0, -0.5 * float(np.log(eigenvalues).sum())),
        name="gaussian_total_correlation",
        variant="means" if log_variances is None else posterior,
        details={"n_latents": varies.sum()},
        seed=seed if log_variances is not None and posterior == "sampled" else None,
        note=f"left out, constant: latents {constant}" if constant else "",
    )


def _infinite(n_rows: int, n_latents: int, positive: NDArray[np.bool_]) -> str:
    """Return the message for an infinite total correlation."""
    reason = (
        f"{n_rows} rows are too few for {n_latents} latents. Score more rows."
        if n_rows <= n_latents
        else f"only {int(positive.sum())} of the {n_latents} latents that vary are "
        "linearly independent. Drop latents that duplicate or combine others."
    )
    return f"gaussian_total_correlation: the total correlation is infinite: {reason}"


def _correlations(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    np.fill_diagonal(correlations, 1.0)
    return correlations
