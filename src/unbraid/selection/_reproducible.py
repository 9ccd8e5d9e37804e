"""Reproducible latents: how many latents other seeds find again."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def reproducible_latents(
    agreement: ArrayLike, n_active: ArrayLike, chance: ArrayLike
) -> NDArray[np.float64]:
    r"""Number of latents of a model that models with other seeds find again.

    The share of its active latents on which a model agrees with others, corrected for
    chance as in Cohen's kappa, times their number:

    .. math:: d_j \, \frac{\mathrm{UDR}_j - c}{1 - c}

    UDR alone prefers models that collapsed to a few latents, on which it is easy to
    agree, and its chance level depends on the number of latents. This number is largest
    for the model that finds the most while its seeds still agree.

    Args:
        agreement: UDR of each model, shape ``(n_models,)``, from 0 to 1; see
            :func:`unsupervised_disentanglement_ranking`.
        n_active: Active latents of each model, shape ``(n_models,)``.
        chance: Mean agreement of the same codes with randomly rotated axes, below 1,
            one for all models or one for each; see :func:`chance_agreement`.

    Returns:
        A number per model, shape ``(n_models,)``: near ``n_active`` if all latents are
        found again, near 0 at the level of chance. Disagreement counts at most -1 per
        latent.

    Example:
        >>> reproducible_latents([0.9, 0.95], [5, 2], [0.5, 0.9])
        array([4., 1.])

    References:
        Duan et al. (2020), https://arxiv.org/abs/1905.12614, for UDR. The correction
        for chance and the count are ours.
    """
    agreement, chance = np.asarray(agreement, float), np.asarray(chance, float)
    # At a chance of 1, with a single latent, agreement is always by chance.
    room = np.maximum(1.0 - chance, 1e-9)
    share = np.where(chance < 1.0 - 1e-9, (agreement - chance) / room, 0.0)
    return np.asarray(n_active) * np.maximum(share, -1.0)
