"""chance_level: how much codes agree whose axes mean nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from unbraid.randomness import numpy_generator

from ._comparable import Coded, read_comparable
from ._udr import Similarity, unsupervised_disentanglement_ranking

_CONFIDENCE = 0.95


def chance_level(
    representations: Sequence[Coded],
    specifications: Sequence[str],
    *,
    similarity: Similarity = "lasso",
    kl_threshold: float = 0.01,
    n_rotations: int = 40,
    seed: int = 0,
) -> dict[str, float]:
    """UDR that the same content would reach in random directions, per specification.

    Every model's active codes are standardised and rotated at random: what they tell
    about the data stays, what a single axis means is lost. The mean UDR of the
    realisations of a specification after that, over several draws, has a mean and a
    spread; the level is so many spreads above the mean that all specifications together
    stay below theirs in 95% of the draws. With one active latent there is nothing to
    rotate, and the level is what was measured.

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
        >>> 0.4 < chance_level(copies, ["a", "a"])["a"] < 0.9
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
    names = list(dict.fromkeys(specifications))
    means = np.stack([table[:, owners == name].mean(axis=1) for name in names], axis=1)
    centre, spread = means.mean(axis=0), means.std(axis=0, ddof=1)
    # The furthest of all specifications in each draw, in its own spread: agreement is
    # skewed, so that no normal distribution would do.
    furthest = np.max((means - centre) / np.where(spread > 0, spread, 1.0), axis=1)
    reach = np.quantile(furthest, _CONFIDENCE, method="higher")
    return dict(zip(names, (centre + reach * spread).tolist(), strict=True))


def _rotated(
    codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    n_latents = codes.shape[1]
    if n_latents < 2:
        return codes
    return codes @ ortho_group.rvs(n_latents, random_state=generator)
