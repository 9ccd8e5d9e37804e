"""chance_level: how much codes agree whose axes mean nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from unbraid.randomness import numpy_generator

from ._comparable import Coded, read_comparable
from ._udr import Similarity, unsupervised_disentanglement_ranking

# One-sided 95% of a normal distribution.
_DEVIATIONS = 1.645


def chance_level(
    representations: Sequence[Coded],
    specifications: Sequence[str],
    *,
    similarity: Similarity = "lasso",
    kl_threshold: float = 0.01,
    n_rotations: int = 10,
    seed: int = 0,
) -> dict[str, float]:
    """UDR that the same content would reach in random directions, per specification.

    Every model's active codes are standardised and rotated at random: what they tell
    about the data stays, what a single axis means is lost. The mean UDR of the
    realisations of a specification after that, over several draws, has a mean and a
    spread; the level is what it stays below in 95% of draws. With one active latent
    there is nothing to rotate, and the level is what was measured.

    Args:
        representations: Of the same observations, one per model.
        specifications: What each model is a realisation of.
        similarity: As for :func:`unsupervised_disentanglement_ranking`.
        kl_threshold: Likewise.
        n_rotations: Draws, from 2.
        seed: Of the rotations.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> codes = rng.normal(size=(500, 3))
        >>> copies = [codes, codes[:, ::-1]]
        >>> 0.3 < chance_level(copies, ["a", "a"])["a"] < 0.8
        True
    """
    if n_rotations < 2:
        raise ValueError(
            f"chance_level: expected n_rotations from 2, got {n_rotations}."
        )
    generator = numpy_generator(seed, "rotations")
    models = read_comparable(
        "chance_level",
        representations,
        ranks=False,
        threshold=kl_threshold,
        least_used=kl_threshold,
    )
    # A model without active latents keeps one column of zeros, which scores 0.
    contents = [
        model.standard[:, model.active] if model.n_active else model.standard[:, :1]
        for model in models
    ]
    drawn = [
        unsupervised_disentanglement_ranking(
            [_rotated(codes, generator) for codes in contents],
            similarity=similarity,
            groups=specifications,
        ).scores
        for _ in range(n_rotations)
    ]
    table, owners = np.array(drawn), np.array(specifications)
    levels = {}
    for name in dict.fromkeys(specifications):
        means = table[:, owners == name].mean(axis=1)
        levels[name] = float(means.mean() + _DEVIATIONS * means.std(ddof=1))
    return levels


def _rotated(
    codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    n_latents = codes.shape[1]
    if n_latents < 2:
        return codes
    return codes @ ortho_group.rvs(n_latents, random_state=generator)
