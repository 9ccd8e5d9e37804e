"""Self-MIG: how much of each latent is independent of other latents."""

import numpy as np

from unbraid.metrics import BINS, Score, pairwise_mutual_information

from ._comparable import Coded
from ._model_access import read_active


def self_mig(codes: Coded, *, bins: int = BINS, kl_threshold: float = 0.01) -> Score:
    r"""Mutual information gap of a model with its own latents as the factors.

    The latent with most information about latent :math:`i` is :math:`i` itself, with
    its entropy :math:`H(z_i)`. The gap to the next best latent, as a share of the
    entropy, is averaged over the :math:`d` active latents:

    .. math::
        \frac{1}{d} \sum_i \frac{H(z_i) - \max_{j \neq i} I(z_i; z_j)}{H(z_i)}

    It is 1 if every two latents are independent and 0 if every latent has a duplicate.
    It says nothing about what the latents mean: a rotation of independent normal
    latents keeps a score of 1. Information is measured in bins and overestimated by
    about ``(bins - 1)**2 / (2 * n_rows)`` nats, so that independent latents score
    about 0.96 on 2,000 rows.

    Args:
        codes: Codes of one model, ``(n_rows, n_latents)``, a tuple of codes and
            log-variances, or a :class:`~unbraid.representation.Representation`.
        bins: Equal-width bins per latent.
        kl_threshold: Nats above which a latent is active. Without log-variances, all
            latents that vary are active.

    Returns:
        Score from 0 to 1, higher is better; 1 with one active latent and NaN with none.
        ``details`` has the gap of each active latent as ``latent_0``, ... and
        ``n_active``.

    Raises:
        ValueError: If codes are not finite numbers, or there are fewer than two rows.

    Example:
        >>> grid = np.stack(np.divmod(np.arange(100), 10), axis=1)
        >>> round(self_mig(grid), 6)
        1.0
        >>> round(self_mig(np.hstack([grid, grid[:, :1]])), 6)
        0.333333

    References:
        Chen, Li, Grosse and Duvenaud (2018), Isolating Sources of Disentanglement in
        Variational Autoencoders, Eq. 6, with latents in place of the factors.
        https://arxiv.org/abs/1802.04942
    """
    found = read_active("self_mig", codes, kl_threshold=kl_threshold)
    gaps = np.ones(found.n_active)
    if found.n_active > 1:
        matrix = pairwise_mutual_information(
            found.codes[:, found.active], bins=bins
        ).matrix
        assert matrix is not None
        entropies = np.diag(matrix)
        others = np.where(np.eye(found.n_active, dtype=bool), -np.inf, matrix)
        gaps = (entropies - others.max(axis=1)) / entropies
    details = {f"latent_{k}": gap for k, gap in zip(found.active, gaps, strict=True)}
    return Score(
        gaps.mean() if found.n_active else np.nan,
        name="self_mig",
        variant=f"{bins} bins",
        details={**details, "n_active": found.n_active},
        note="" if found.n_active else "no active latent",
    )
