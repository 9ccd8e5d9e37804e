"""Wasserstein distance of the codes from independence, if they were Gaussian."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._score import Score

from ._covariance import Posterior, code_covariance


def gaussian_wasserstein_correlation(
    codes: ArrayLike,
    *,
    normalized: bool = False,
    log_variances: ArrayLike | None = None,
    posterior: Posterior = "exact",
    seed: int = 0,
) -> Score:
    r"""Squared 2-Wasserstein distance of a Gaussian to the product of its marginals.

    The Gaussian has the covariance of the codes. Unlike the total correlation this is
    finite for duplicate latents, does not mind constant ones, and grows with the scale
    of the codes unless it is normalized by their variance.

    .. math::
        2 \operatorname{tr} \Sigma - 2 \operatorname{tr}
        \bigl(D^{1/2} \Sigma D^{1/2}\bigr)^{1/2},
        \qquad D = \operatorname{diag} \Sigma

    Args:
        codes: Latent means, ``(n_rows, n_latents)``.
        normalized: Divide by :math:`\operatorname{tr}\Sigma`. If no latent varies the
            result is 0, which ``note`` says.
        log_variances: Logarithms of the posteriors' variances, same shape, to score
            codes drawn from the posteriors; the means are scored without.
        posterior: With ``log_variances``: ``"exact"`` adds their mean to the covariance
            of the means, ``"sampled"`` draws one code per row.
        seed: Seed of the drawing.

    Returns:
        A number from 0, below 2 if normalized; lower is more independent. ``details``
        has both as ``distance`` and ``normalized``.

    Example:
        >>> codes = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
        >>> round(gaussian_wasserstein_correlation(codes), 6)
        0.059088
        >>> round(gaussian_wasserstein_correlation(codes, normalized=True), 6)
        0.029544

    References:
        Olkin and Pukelsheim (1982) for the distance of two Gaussians; Locatello et al.
        (2020), A Sober Look at the Unsupervised Learning of Disentangled
        Representations and their Evaluation, for its use.
        https://arxiv.org/abs/2010.14766
    """
    covariance, varies = code_covariance(
        "gaussian_wasserstein_correlation", codes, log_variances, posterior, seed
    )
    deviations = np.sqrt(np.diag(covariance))
    # The root of a matrix that is similar to the product, but symmetric.
    product = covariance * np.outer(deviations, deviations)
    roots = np.sqrt(np.clip(np.linalg.eigvalsh(product), 0.0, None))
    whole = float(np.trace(covariance))
    distance = max(0.0, 2.0 * whole - 2.0 * float(roots.sum()))
    share = distance / whole if varies.any() else 0.0
    source = "means" if log_variances is None else posterior
    return Score(
        share if normalized else distance,
        name="gaussian_wasserstein",
        variant=f"{source}, normalized" if normalized else source,
        details={"distance": distance, "normalized": share},
        seed=seed if log_variances is not None and posterior == "sampled" else None,
        note="" if varies.any() else "0 because no latent varies",
    )
