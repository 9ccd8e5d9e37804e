"""Covariance of codes, either of posterior means or of samples."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_option, check_shape, numpy_generator
from unbraid.metrics._inputs import read_codes

Posterior = Literal["exact", "sampled"]


def code_covariance(
    caller: str,
    codes: ArrayLike,
    log_variances: ArrayLike | None,
    posterior: Posterior,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the covariance of the latents, and whether each of them varies.

    Args:
        caller: Name of the metric, for messages.
        codes: Latent means, ``(n_rows, n_latents)``.
        log_variances: Logarithms of the posteriors' variances, of the same shape, or
            ``None`` for the covariance of the means.
        posterior: ``"exact"`` adds the mean variance of each latent; ``"sampled"``
            draws one code from the posterior of each row.
        seed: Seed of the drawing.

    Returns:
        Unbiased covariance, ``(n_latents, n_latents)``, and ``(n_latents,)``.
    """
    check_option(f"{caller}: posterior", posterior, Posterior)
    codes = read_codes(caller, codes)
    if log_variances is None:
        varies = (codes != codes[0]).any(axis=0)
        # Constants are subtracted first, because a mean of equal numbers is not exact.
        return np.atleast_2d(np.cov(codes - codes[0], rowvar=False)), varies
    variances = np.exp(read_log_variances(caller, codes, log_variances))
    if posterior == "sampled":
        generator = numpy_generator(seed, "posterior")
        codes = codes + np.sqrt(variances) * generator.standard_normal(codes.shape)
        covariance = np.atleast_2d(np.cov(codes, rowvar=False))
    else:
        covariance = np.atleast_2d(np.cov(codes - codes[0], rowvar=False))
        covariance = covariance + np.diag(variances.mean(axis=0))
    return covariance, np.diag(covariance) > 0


def read_log_variances(
    caller: str, codes: NDArray[np.float64], log_variances: ArrayLike
) -> NDArray[np.float64]:
    """Read and check log-variances, which must be finite and as many as codes."""
    numbers = read_codes(f"{caller}: log_variances", log_variances)
    check_shape(f"{caller}: log_variances", numbers, codes.shape)
    if numbers.max() > 700:
        raise ValueError(
            f"{caller}: log_variances must be at most 700, got {numbers.max():.6g}. "
            "Pass logarithms of variances."
        )
    return numbers
