"""UDR: agreement between models, high for those that disentangle."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_number, check_option

from ._comparable import Coded, Comparable, read_comparable
from ._lasso import lasso_coefficients
from ._pair_cache import PairCache

Similarity = Literal["lasso", "spearman"]
Formula = Literal["paper", "dlib"]
Partners = Literal["same", "other"]

_CALLER = "unsupervised_disentanglement_ranking"
_PENALTY = 0.1
# disentanglement_lib sets latents below this to 0, whatever its threshold.
_DLIB_KL = 0.01
# Default of scikit-learn's Lasso, which disentanglement_lib uses.
_DLIB_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class UDRScores:
    """Agreement between models.

    Attributes:
        names: Names of the models, in the order given.
        scores: Median of each model's column of ``pairs``, ``(n_models,)``; NaN for a
            model that is not compared with any other.
        pairs: Agreement of model i (row) with model j (column), ``(n_models,
            n_models)``; NaN where two models are not compared.
        n_active: Number of active latents of each model, ``(n_models,)``.
        variant: Similarity and formula.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    pairs: NDArray[np.float64]
    n_active: NDArray[np.int64]
    variant: str


def unsupervised_disentanglement_ranking(
    representations: Sequence[Coded] | Mapping[str, Coded],
    *,
    similarity: Similarity = "lasso",
    formula: Formula = "paper",
    groups: Sequence[Hashable] | None = None,
    partners: Partners = "same",
    kl_threshold: float = 0.01,
    cache: str | Path | None = None,
) -> UDRScores:
    r"""Agreement of each model with the others, up to order and sign of latents.

    Models that disentangle the same data arrive at the same latents; those that
    entangle it do so each in its own way. With :math:`R(a, b)` the similarity of latent
    :math:`a` of model :math:`i` and latent :math:`b` of model :math:`j`, over the
    :math:`d_i` and :math:`d_j` latents that are active,

    .. math::
        \mathrm{UDR}_{ij} = \frac{1}{d_i + d_j} \Bigl[
        \sum_b \frac{\max_a R(a, b)^2}{\sum_a R(a, b)} +
        \sum_a \frac{\max_b R(a, b)^2}{\sum_b R(a, b)} \Bigr],
        \qquad \mathrm{UDR}_j = \operatorname*{median}_{i \neq j} \mathrm{UDR}_{ij}

    where latents without any similarity, and models without active latents, have 0.

    Args:
        representations: Two models or more on the same rows: representations, codes
            ``(n_rows, n_latents)``, or tuples of codes and log-variances; a mapping
            gives them names. Numbers of latents may differ.
        similarity: ``"lasso"``: size of the weights of a lasso (penalty 0.1) that
            predicts the standardized codes of j from those of i; copies get 0.9, not
            1, and copies bent by a monotone function less, by the correlation that
            the bend costs. ``"spearman"``: size of the rank correlation, which does not
            depend on such functions.
        formula: ``"paper"`` as above. ``"dlib"`` as in disentanglement_lib: the mean of
            the two means, which weighs the models equally, whatever their numbers of
            active latents; latents up to 0.01 nats are never used, even with a lower
            threshold, and the lasso stops at scikit-learn's tolerance of 1e-4.
        groups: One label per model; only models with equal labels are compared, such
            as seeds of one configuration. By default all models are compared.
        partners: ``"same"`` compares models with equal labels, as above. ``"other"``
            compares each model with all models that have another label, such as those
            of other configurations, and needs ``groups``.
        kl_threshold: Nats above which a latent is active, at least 0. Without
            log-variances, all latents that vary are active.
        cache: File in which pairs are kept, created if needed. Pairs of the same
            representations and variant are not computed again.

    Returns:
        Scores from 0, near 1 for models that agree.

    Raises:
        ValueError: For fewer than two models, codes of different rows, NaN, fewer than
            two rows, or an unknown option.

    Example:
        >>> from unbraid.foundation import numpy_generator
        >>> codes = numpy_generator(0, "example").standard_normal((1000, 3))
        >>> models = {"one": codes, "two": -codes[:, ::-1], "dead": 0 * codes}
        >>> udr = unsupervised_disentanglement_ranking(models)
        >>> udr.pairs.round(1)
        array([[nan, 0.9, 0. ],
               [0.9, nan, 0. ],
               [0. , 0. , nan]])
        >>> udr.n_active
        array([3, 3, 0])

    References:
        Duan, Matthey, Saraiva, Watters, Burgess, Lerchner and Higgins (2020),
        Unsupervised Model Selection for Variational Disentangled Representation
        Learning, section 4. https://arxiv.org/abs/1905.12614
    """
    check_option(f"{_CALLER}: similarity", similarity, Similarity)
    check_option(f"{_CALLER}: formula", formula, Formula)
    check_option(f"{_CALLER}: partners", partners, Partners)
    check_number(f"{_CALLER}: kl_threshold", kl_threshold, least=0.0)
    models = read_comparable(
        _CALLER,
        representations,
        ranks=similarity == "spearman",
        threshold=kl_threshold,
        least_used=_DLIB_KL if formula == "dlib" else kl_threshold,
    )
    wanted = _compared(len(models), groups, partners)
    variant = f"{similarity}, {formula}"
    store = PairCache(cache, variant=f"{variant}, {kl_threshold:.17g}")
    keys = [model.key for model in models]
    pairs = np.where(wanted, store.look_up(keys), np.nan)
    missing = wanted & np.isnan(pairs)
    for i in np.flatnonzero(missing.any(axis=1)):
        others = [models[j] for j in np.flatnonzero(missing[i])]
        relation = _relation(models[i], others, similarity, formula)
        pairs[i, missing[i]] = _scores(relation, models[i], others, formula)
    if missing.any():
        store.keep(keys, pairs)
    return UDRScores(
        names=tuple(model.name for model in models),
        scores=median_over_partners(pairs),
        pairs=pairs,
        n_active=np.array([model.n_active for model in models]),
        variant=variant,
    )


def _compared(
    n_models: int, groups: Sequence[Hashable] | None, partners: Partners
) -> NDArray[np.bool_]:
    """Return whether each ordered pair is compared, ``(n_models, n_models)``."""
    if groups is None and partners == "other":
        raise ValueError(f"{_CALLER}: partners='other' needs groups, got none.")
    labels = [0] * n_models if groups is None else list(groups)
    if len(labels) != n_models:
        raise ValueError(
            f"{_CALLER}: groups must have a label for each of {n_models} models, got "
            f"{len(labels)}."
        )
    numbers = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    group = np.array([numbers[label] for label in labels])
    is_same = group[:, None] == group
    return ~is_same if partners == "other" else is_same & ~np.eye(n_models, dtype=bool)


def _relation(
    model: Comparable,
    others: list[Comparable],
    similarity: Similarity,
    formula: Formula,
) -> NDArray[np.float64]:
    """Return similarities with latents of others, ``(n_latents, n_theirs)``."""
    own = model.standard
    products = [own.T @ other.standard / len(own) for other in others]
    correlations = np.concatenate(products, axis=1)
    if similarity == "spearman":
        return np.abs(correlations)
    weights = lasso_coefficients(
        own.T @ own / len(own),
        correlations,
        penalty=_PENALTY,
        tolerance=_DLIB_TOLERANCE if formula == "dlib" else None,
    )
    return np.abs(weights)


def _scores(
    relation: NDArray[np.float64],
    model: Comparable,
    others: list[Comparable],
    formula: Formula,
) -> NDArray[np.float64]:
    """Return the agreement of one model with each of others, ``(n_others,)``."""
    sizes = [len(other.active) for other in others]
    starts = np.cumsum([0, *sizes[:-1]])
    their_active = np.concatenate([other.active for other in others])
    relation = relation * model.active[:, None] * their_active
    by_column = _relative_strength(relation.max(axis=0), relation.sum(axis=0))
    by_row = _relative_strength(
        np.maximum.reduceat(relation, starts, axis=1),
        np.add.reduceat(relation, starts, axis=1),
    )
    theirs, ours = np.add.reduceat(by_column, starts), by_row.sum(axis=0)
    n_theirs, n_ours = np.add.reduceat(their_active, starts, dtype=int), model.n_active
    # Without active latents the sums are 0, and so are the scores.
    if formula == "paper":
        return (theirs + ours) / np.maximum(n_theirs + n_ours, 1)
    return (theirs / np.maximum(n_theirs, 1) + ours / max(n_ours, 1)) / 2


def _relative_strength(
    largest: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.divide(largest**2, total, out=np.zeros_like(total), where=total > 0)


def median_over_partners(pairs: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the median of each column of agreements, NaN for one without partners.

    Args:
        pairs: Agreement of model i (row) with model j (column), ``(..., n_models,
            n_models)``; NaN where two models are not compared. The diagonal does not
            count.
    """
    values = np.array(pairs, dtype=np.float64)
    values[..., np.eye(values.shape[-1], dtype=bool)] = np.nan
    ordered = np.sort(values, axis=-2)  # NaN comes last
    count = np.sum(~np.isnan(ordered), axis=-2)[..., None, :]
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(pairs.T) - 1)
    middle = np.take_along_axis(ordered, low, -2) + np.take_along_axis(
        ordered, high, -2
    )
    return np.where(count > 0, middle / 2, np.nan)[..., 0, :]
