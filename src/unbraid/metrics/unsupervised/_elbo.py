"""Evidence lower bound: how well a model fits the data."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_finite
from unbraid.metrics._score import Score


def evidence_lower_bound(reconstruction: ArrayLike, divergence: ArrayLike) -> Score:
    r"""Evidence lower bound (ELBO) of a model, in nats per observation.

    A lower bound of the mean log-probability of the observations: the reconstruction
    term minus the divergence of the code from the prior.

    .. math::
        \mathbb{E}_x \bigl[\log p(x \mid z) - \mathrm{KL}(q(z \mid x) \| p(z))\bigr]

    Args:
        reconstruction: Loss :math:`-\log p(x \mid z)` of each observation, ``(n,)``,
            summed over pixels, such as ``reconstruction`` losses in nats per image.
        divergence: Kullback-Leibler divergence of each observation, ``(n,)``, or of
            each of its latents, ``(n, n_latents)``; non-negative.

    Returns:
        Nats, any real number, higher is better. ``details`` has the means
        ``reconstruction`` and ``kl``, and the ``standard_error`` of the bound.

    Raises:
        ValueError: If the two are not of the same observations, or not finite.

    Example:
        >>> evidence_lower_bound([10.0, 12.0], [[1.0, 1.0], [2.0, 0.0]])
        -13.0

    References:
        Kingma and Welling (2014), Auto-Encoding Variational Bayes, Eq. 3.
        https://arxiv.org/abs/1312.6114
    """
    caller = "evidence_lower_bound"
    nats = np.asarray(reconstruction, dtype=np.float64)
    cost = np.asarray(divergence, dtype=np.float64)
    cost = cost.sum(axis=1) if cost.ndim == 2 else cost
    if nats.ndim != 1 or not len(nats) or nats.shape != cost.shape:
        raise ValueError(
            f"{caller} needs one reconstruction and one divergence per observation, "
            f"got shapes {nats.shape} and {cost.shape}."
        )
    check_finite(f"{caller}: reconstruction", nats)
    check_finite(f"{caller}: divergence", cost)
    bound = -(nats + cost)
    return Score(
        bound.mean(),
        name="elbo",
        details={
            "reconstruction": nats.mean(),
            "kl": cost.mean(),
            "standard_error": bound.std() / np.sqrt(len(bound)),
        },
    )
