"""Agreement by chance: agreement of codes with randomly rotated axes."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from unbraid.foundation import check_count, check_number, numpy_generator

from ._comparable import Coded, read_comparable
from ._udr import (
    Similarity,
    median_over_partners,
    unsupervised_disentanglement_ranking,
)

_PROBABILITY = 0.05


class Chance(NamedTuple):
    """Agreement of models whose axes were rotated at random.

    Attributes:
        mean: Mean over rotations.
        level: Agreement that some configuration exceeds by chance with the stated
            probability, usually 5%.
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
    probability: float = _PROBABILITY,
    seed: int = 0,
) -> dict[str, Chance]:
    """Measure the UDR of the same codes with randomly rotated axes.

    The active codes of every model are rotated at random, which keeps their information
    about the data and removes the meaning of single axes. The prior of a VAE is the
    same in all directions, so that a decoder for the rotated codes would be as good.
    Codes are not standardized before, because latents of different variances would stay
    different, and agree by their variances alone. The mean UDR of the seeds of a
    configuration then has a distribution over rotations.

    Deviations from the mean, in units of the standard deviation, have a largest value
    over all configurations in each rotation. Levels are such that it exceeds them with
    the stated probability: that is the probability that any configuration without
    meaningful axes passes. With one active latent there is nothing to rotate, and both
    numbers are the measured agreement.

    Args:
        representations: Codes of the same observations, one per model.
        specifications: Configuration of each model.
        similarity: Similarity of latents, see
            :func:`unsupervised_disentanglement_ranking`.
        kl_threshold: Nats above which a latent is active.
        n_rotations: Number of random rotations, at least 2. With fewer than
            ``1 / probability - 1`` of them, the level is the largest value.
        probability: Probability of exceeding the levels by chance, between 0 and 1.
        seed: Seed of the rotations.

    Returns:
        Mean and level of each configuration, by its name.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(500, 3))
        >>> chance = chance_agreement([codes, codes[:, ::-1]], ["a", "a"])["a"]
        >>> 0.4 < chance.mean < chance.level < 0.9
        True

    References:
        Westfall and Young (1993), Resampling-Based Multiple Testing, chapter 2, for the
        largest of several statistics.
    """
    pairs = rotated_pairs(
        representations,
        specifications,
        similarity=similarity,
        kl_threshold=kl_threshold,
        n_rotations=n_rotations,
        seed=seed,
    )
    return levels_of_chance(
        median_over_partners(pairs), specifications, probability=probability
    )


def levels_of_chance(
    scores: NDArray[np.float64],
    specifications: Sequence[str],
    *,
    probability: float = _PROBABILITY,
) -> dict[str, Chance]:
    """Return the level of chance of each configuration from scores after rotations.

    Args:
        scores: UDR of every model after each rotation, ``(n_rotations, n_models)``.
        specifications: Configuration of each model.
        probability: See :func:`chance_agreement`.

    Raises:
        ValueError: If there are fewer than two rotations, or if scores and
            specifications do not fit.

    Example:
        >>> scores = np.array([[0.4, 0.4], [0.5, 0.5], [0.6, 0.6]])
        >>> levels_of_chance(scores, ["a", "a"])
        {'a': Chance(mean=0.5, level=0.6)}
    """
    check_number("probability", probability, above=0.0, below=1.0)
    if scores.ndim != 2 or len(scores) < 2 or scores.shape[1] != len(specifications):
        raise ValueError(
            "levels_of_chance: scores must have a row for each of at least two "
            f"rotations and a column for each of {len(specifications)} models, got "
            f"shape {scores.shape}."
        )
    owners = np.array(specifications)
    names = list(dict.fromkeys(specifications))
    means = np.stack([scores[:, owners == name].mean(axis=1) for name in names], axis=1)
    center, spread = means.mean(axis=0), means.std(axis=0, ddof=1)
    # Agreement is skewed, so a normal distribution would not fit.
    distances = (means - center) / np.where(spread > 0, spread, 1.0)
    # A configuration with a single model has no agreement, and no level.
    is_compared = ~np.isnan(center)
    furthest = np.max(distances, axis=1, where=is_compared, initial=-np.inf)
    # The measured value counts as one more draw: with k draws that are as large, its
    # probability is (k + 1) / (n_rotations + 1).
    n_larger = int(probability * (len(scores) + 1) + 1e-9) - 1
    reach = np.sort(furthest)[::-1][max(n_larger, 0)]
    levels = center + reach * spread
    return {
        name: Chance(float(mean), float(level))
        for name, mean, level in zip(names, center, levels, strict=True)
    }


def rotated_pairs(
    representations: Sequence[Coded] | Mapping[str, Coded],
    groups: Sequence[Hashable] | None,
    *,
    similarity: Similarity,
    kl_threshold: float = 0.01,
    n_rotations: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the agreement of all pairs of models after random rotations.

    Args:
        representations: Codes of the same observations, one per model.
        groups: Label of each model; only models with equal labels are compared.
        similarity: See :func:`chance_agreement`, as for the following arguments.
        kl_threshold: Nats above which a latent is active.
        n_rotations: Number of random rotations, at least 2.
        seed: Seed of the rotations.

    Returns:
        Agreement of model i with model j after each rotation, ``(n_rotations, n_models,
        n_models)``; NaN for models that are not compared.
    """
    check_count("n_rotations", n_rotations, least=2)
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
        model.centered[:, model.active] if model.n_active else model.standard[:, :1]
        for model in models
    ]
    drawn = [
        unsupervised_disentanglement_ranking(
            [_rotate(codes, generator) for codes in contents],
            similarity=similarity,
            groups=groups,
        ).pairs
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
