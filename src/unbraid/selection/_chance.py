"""chance_level: how much codes agree whose axes mean nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.stats import ortho_group

from unbraid.randomness import numpy_generator
from unbraid.representation import Representation

from ._udr import active_codes, unsupervised_disentanglement_ranking

# One-sided 95% of a normal distribution.
_DEVIATIONS = 1.645


def chance_level(
    representations: Sequence[Representation],
    specifications: Sequence[str],
    *,
    similarity: Literal["lasso", "spearman"] = "lasso",
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
        n_rotations: Draws.
        seed: Of the rotations.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> codes = rng.normal(size=(500, 3))
        >>> copies = [Representation(codes), Representation(codes[:, ::-1])]
        >>> 0.3 < chance_level(copies, ["a", "a"])["a"] < 0.8
        True
    """
    generator = numpy_generator(seed, "rotations")
    contents = [active_codes(part, kl_threshold) for part in representations]
    drawn = []
    for _ in range(n_rotations):
        rotated = [
            replace(part, codes=_rotated(codes, generator), log_variances=None)
            for part, codes in zip(representations, contents, strict=True)
        ]
        drawn.append(
            unsupervised_disentanglement_ranking(
                rotated, similarity=similarity, groups=specifications, n_workers=1
            ).scores
        )
    table, owners = np.array(drawn), np.array(specifications)
    levels = {}
    for name in dict.fromkeys(specifications):
        means = table[:, owners == name].mean(axis=1)
        levels[name] = float(means.mean() + _DEVIATIONS * means.std(ddof=1))
    return levels


def _rotated(codes: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    n_latents = codes.shape[1]
    if n_latents < 2:
        return codes
    return codes @ ortho_group.rvs(n_latents, random_state=generator)
