"""Divergence of the posteriors from the prior, latent by latent."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_number
from unbraid.metrics._inputs import read_codes
from unbraid.metrics._score import Score

from ._covariance import read_log_variances


def kl_per_latent(
    codes: ArrayLike, log_variances: ArrayLike, *, threshold: float = 0.01
) -> Score:
    r"""Mean divergence of each latent's posterior from the standard normal, in nats.

    The divergence says how many nats of each observation a latent carries. A latent
    with almost none has been switched off by training.

    .. math::
        \mathrm{KL}_j = \mathbb{E}_x \tfrac12
        \bigl(\mu_j^2 + \sigma_j^2 - \log \sigma_j^2 - 1\bigr)

    Args:
        codes: Posterior means :math:`\mu`, ``(n_rows, n_latents)``; constant and
            duplicate latents need no special treatment.
        log_variances: Log-variances :math:`\log \sigma^2`, ``(n_rows, n_latents)``.
        threshold: Divergence in nats above which a latent is active, at least 0.

    Returns:
        The sum over latents, from 0. ``details`` has each latent as ``latent_0``, ...
        and ``n_active``.

    Example:
        >>> score = kl_per_latent([[1.0, 0.0], [-1.0, 0.0]], np.zeros((2, 2)))
        >>> float(score), score.details["latent_0"], score.details["n_active"]
        (0.5, 0.5, 1.0)

    References:
        Kingma and Welling (2014), Auto-Encoding Variational Bayes, appendix B.
        https://arxiv.org/abs/1312.6114
    """
    codes = read_codes("kl_per_latent", codes)
    logs = read_log_variances("kl_per_latent", codes, log_variances)
    check_number("kl_per_latent: threshold", threshold, least=0.0)
    # expm1 is precise where posterior and prior almost agree.
    per_latent = 0.5 * (codes**2 + np.expm1(logs) - logs).mean(axis=0)
    details = {f"latent_{j}": nats for j, nats in enumerate(per_latent)}
    return Score(
        per_latent.sum(),
        name="kl",
        variant=f"active above {threshold:g}",
        details={**details, "n_active": (per_latent > threshold).sum()},
    )
