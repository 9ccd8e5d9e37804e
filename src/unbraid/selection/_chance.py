"""Agreement by chance: agreement of codes with randomly rotated axes."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from unbraid.foundation import check_count, numpy_generator

from ._comparable import Coded, read_comparable
from ._udr import Similarity, unsupervised_disentanglement_ranking

_CONFIDENCE = 0.95


class Chance(NamedTuple):
    """Agreement of models whose axes were rotated at random.

    Attributes:
        mean: Mean over rotations.
        level: Agreement that is exceeded by chance with a probability of 5%, for all
            configurations together.
    """

    mean: float
    level: float


def chance_level(
    representations: Sequence[Coded],
    specifications: Sequence[str],
    *,
    similarity: Similarity = "lasso",
    kl_threshold: float = 0.01,
    n_rotations: int = 40,
    seed: int = 0,
) -> dict[str, float]:
    """Return the ``level`` of :func:`chance_agreement` of each configuration.

    Args:
        representations: Codes of the same observations, one per model.
        specifications: Configuration of each model.
        similarity: See :func:`chance_agreement`, as for the following arguments.
        kl_threshold: Nats above which a latent is active.
        n_rotations: Number of random rotations, at least 2.
        seed: Seed of the rotations.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> codes = rng.normal(size=(500, 3))
        >>> copies = [codes, codes[:, ::-1]]
        >>> 0.4 < chance_level(copies, ["a", "a"])["a"] < 0.9
        True
    """
    found = chance_agreement(
        representations,
        specifications,
        similarity=similarity,
        kl_threshold=kl_threshold,
        n_rotations=n_rotations,
        seed=seed,
    )
    return {name: chance.level for name, chance in found.items()}


def chance_agreement(
    representations: Sequence[Coded],
    specifications: Sequence[str],
    *,
    similarity: Similarity = "lasso",
    kl_threshold: float = 0.01,
    n_rotations: int = 40,
    seed: int = 0,
) -> dict[str, Chance]:
    """Measure the UDR of the same codes with randomly rotated axes.

    The active codes of every model are standardized and rotated at random, which keeps
    their information about the data and removes the meaning of single axes. The mean
    UDR of the seeds of a configuration then has a mean and a spread over rotations. The
    level is the mean plus a multiple of the spread, such that all configurations are
    below their levels in 95% of the rotations. With one active latent there is nothing
    to rotate, and both numbers are the measured agreement.

    Args:
        representations: Codes of the same observations, one per model.
        specifications: Configuration of each model.
        similarity: Similarity of latents, see
            :func:`unsupervised_disentanglement_ranking`.
        kl_threshold: Nats above which a latent is active.
        n_rotations: Number of random rotations, at least 2.
        seed: Seed of the rotations.

    Returns:
        Mean and level of each configuration, by its name.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(500, 3))
        >>> chance = chance_agreement([codes, codes[:, ::-1]], ["a", "a"])["a"]
        >>> 0.4 < chance.mean < chance.level < 0.9
        True
    """
    check_count("n_rotations", n_rotations, least=2)
    table = rotated_scores(
        representations,
        specifications,
        similarity=similarity,
        kl_threshold=kl_threshold,
        n_rotations=n_rotations,
        seed=seed,
    )
    owners = np.array(specifications)
    names = list(dict.fromkeys(specifications))
    means = np.stack([table[:, owners == name].mean(axis=1) for name in names], axis=1)
    center, spread = means.mean(axis=0), means.std(axis=0, ddof=1)
    # The largest deviation over all configurations in each draw, relative to its
    # spread. Agreement is skewed, so a normal distribution would not fit.
    distances = (means - center) / np.where(spread > 0, spread, 1.0)
    # A configuration with a single model has no agreement, and no level.
    is_compared = ~np.isnan(center)
    furthest = np.max(distances, axis=1, where=is_compared, initial=-np.inf)
    reach = np.quantile(furthest, _CONFIDENCE, method="higher")
    levels = center + reach * spread
    return {
        name: Chance(float(mean), float(level))
        for name, mean, level in zip(names, center, levels, strict=True)
    }


def rotated_scores(
    representations: Sequence[Coded] | Mapping[str, Coded],
    groups: Sequence[Hashable] | None,
    *,
    similarity: Similarity,
    kl_threshold: float,
    n_rotations: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the UDR of every model after rotations, ``(n_rotations, n_models)``."""
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
            [_rotate(codes, generator) for codes in contents],
            similarity=similarity,
            groups=groups,
        ).scores
        for _ in range(n_rotations)
    ]
    return np.array(drawn)


def _rotate(
    codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    n_latents = codes.shape[1]
    if n_latents < 2:
        return codes
    return codes @ ortho_group.rvs(n_latents, random_state=generator)
