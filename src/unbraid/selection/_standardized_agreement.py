"""Standardized agreement: UDR relative to that of randomly rotated codes."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_count, check_option

from ._chance import rotated_pairs
from ._comparable import Coded
from ._udr import (
    Similarity,
    median_over_partners,
    unsupervised_disentanglement_ranking,
)


def standardized_agreement(
    representations: Sequence[Coded] | Mapping[str, Coded],
    *,
    groups: Sequence[Hashable] | None = None,
    similarity: Similarity = "spearman",
    kl_threshold: float = 0.01,
    n_rotations: int = 40,
    seed: int = 0,
) -> NDArray[np.float64]:
    r"""Agreement above chance: how unlikely the UDR of each model is under rotations.

    The active codes of all models are rotated at random, which keeps their information
    about the data and removes the meaning of single axes. Over many rotations the UDR
    of model :math:`j` has a mean :math:`m_j` and a standard deviation :math:`s_j`,
    which depend on the number of latents and on how much the models have in common. The
    score is

    .. math:: \frac{\mathrm{UDR}_j - m_j}{s_j}

    Unlike UDR, it does not favor models with few latents, for which agreement by chance
    is high. It grows with the number of partners, because the median over more partners
    varies less: compare models with equally many.

    Args:
        representations: Two models or more on the same rows, as for
            :func:`unsupervised_disentanglement_ranking`.
        groups: Label of each model; only models with equal labels are compared, such as
            seeds of one configuration. By default all models are compared.
        similarity: Similarity of latents, ``"spearman"`` or ``"lasso"``.
        kl_threshold: Nats above which a latent is active.
        n_rotations: Number of random rotations, at least 2.
        seed: Seed of the rotations.

    Returns:
        Standard deviations above chance, ``(n_models,)``, higher is better. 0 where
        rotations change nothing, as with a single or no active latent; NaN for a model
        that is alone in its group.

    Raises:
        ValueError: If codes or options are not as above.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(500, 4))
        >>> copies = [codes, -codes, codes[:, ::-1]]
        >>> bool((standardized_agreement(copies) > 3).all())
        True

    References:
        Duan et al. (2020), https://arxiv.org/abs/1905.12614, section 4, for UDR. The
        standardization is ours; see :func:`chance_agreement` for the rotations.
    """
    caller = "standardized_agreement"
    check_option(f"{caller}: similarity", similarity, Similarity)
    check_count(f"{caller}: n_rotations", n_rotations, least=2)
    agreement = unsupervised_disentanglement_ranking(
        representations,
        similarity=similarity,
        groups=groups,
        kl_threshold=kl_threshold,
    ).scores
    pairs = rotated_pairs(
        representations,
        groups,
        similarity=similarity,
        kl_threshold=kl_threshold,
        n_rotations=n_rotations,
        seed=seed,
    )
    rotated = median_over_partners(pairs)
    spread = rotated.std(axis=0, ddof=1)
    # If rotations change nothing, the spread is a rounding error.
    changes = spread > 1e-9
    above = (agreement - rotated.mean(axis=0)) / np.where(changes, spread, 1.0)
    return np.where(changes | np.isnan(agreement), above, 0.0)
