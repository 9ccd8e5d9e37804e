"""Covariance of codes, of their means or of samples of their posteriors."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import numpy_generator
from unbraid.metrics._inputs import read_codes
from unbraid.metrics._options import check_option

Posterior = Literal["exact", "sampled"]


def code_covariance(
    who: str,
    codes: ArrayLike,
    log_variances: ArrayLike | None,
    posterior: Posterior,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Covariance of the latents, and which of them vary at all.

    Args:
        who: Name of the metric, for messages.
        codes: Means, ``(n_rows, n_latents)``.
        log_variances: Logarithms of the posteriors' variances, of the same shape, or
            ``None`` for the covariance of the means.
        posterior: ``"exact"`` adds the mean variance of each latent; ``"sampled"``
            draws one code from the posterior of each row.
        seed: Seed of the drawing.

    Returns:
        Unbiased covariance, ``(n_latents, n_latents)``, and ``(n_latents,)``.
    """
    check_option(who, "posterior", posterior, Posterior)
    codes = read_codes(who, codes)
    if log_variances is None:
        varies = (codes != codes[0]).any(axis=0)
        # Constants are taken off first: a mean of equal numbers is not exact.
        return np.atleast_2d(np.cov(codes - codes[0], rowvar=False)), varies
    variances = np.exp(read_log_variances(who, codes, log_variances))
    if posterior == "sampled":
        generator = numpy_generator(seed, "posterior")
        codes = codes + np.sqrt(variances) * generator.standard_normal(codes.shape)
        covariance = np.atleast_2d(np.cov(codes, rowvar=False))
    else:
        covariance = np.atleast_2d(np.cov(codes - codes[0], rowvar=False))
        covariance = covariance + np.diag(variances.mean(axis=0))
    return covariance, np.diag(covariance) > 0


def read_log_variances(
    who: str, codes: NDArray[np.float64], log_variances: ArrayLike
) -> NDArray[np.float64]:
    """Log-variances as float64 of the shape of the codes, finite, or a clear error."""
    numbers = read_codes(f"{who}: log_variances", log_variances)
    if numbers.shape != codes.shape:
        raise ValueError(
            f"{who}: expected log_variances of the shape of the codes {codes.shape}, "
            f"got {numbers.shape}."
        )
    if numbers.max() > 700:
        raise ValueError(
            f"{who}: expected log_variances whose exponential is finite, got "
            f"{numbers.max():.6g}. Pass logarithms of variances."
        )
    return numbers
