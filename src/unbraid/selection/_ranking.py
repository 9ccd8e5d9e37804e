"""rank_models: ranking of models and configurations from label-free evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.foundation import check_number

from ._evidence import Evidence, Floats
from ._ranking_records import LabelEffect, Ranked, Ranking
from ._uncertainty import Spread, estimate_spread

WEIGHTS: Mapping[str, float] = {"contrast": 0.5, "reproducible": 0.25, "across": 0.25}
"""Weights of label-free scores, fitted on stored populations (``docs/choosing.md``).
``udr``, ``dynamics``, ``elbo``, ``reconstruction`` and ``active_latents`` may be used,
too."""

_CONFIDENCE = 0.95
# Number of labels that count as much as all label-free scores together: few enough
# that a hundred of them decide, as in Locatello et al. (2020).
_LABELS_OF_EQUAL_WEIGHT = 100
# Reproducible latents below which agreement is meaningless: the best of four pairs of
# untrained networks reaches 0.4.
_LEAST_REPRODUCIBLE = 0.5
# Rounding error of agreements that are equal.
_ROUNDING = 1e-9

_AGREEMENT = ("reproducible", "udr")
"""Scores that compare the seeds of a configuration."""

_COLUMNS = (
    *("contrast", "reproducible", "across", "udr"),
    *("dynamics", "elbo", "reconstruction", "active_latents"),
)
_LOWER_IS_BETTER = ("dynamics", "reconstruction")


def rank_models(
    evidence: Evidence, *, weights: Mapping[str, float] = WEIGHTS
) -> Ranking:
    r"""Rank models and their configurations without labels.

    The score of a model is the weighted mean of its label-free scores, each from 0 to
    1; the score of a configuration is the mean over its models. By default, half of it
    is how many latents of the model change the image independently of each other, a
    quarter how many of them models with other seeds find again, and a quarter the
    agreement with models of other configurations. The first two are shares of the
    largest number of active latents :math:`d`:

    .. math::
        S_m = \frac{\sum_k w_k \, x_k(m)}{\sum_k w_k}, \qquad
        x_\text{contrast} = \frac{d_m e^{-c_m}}{d}, \qquad
        x_\text{reproducible} = \frac{\max(R_m, 0)}{d}

    with :math:`d_m` active latents, the Jacobian contrast :math:`c_m`
    (:func:`jacobian_contrast`) and the number of reproducible latents :math:`R_m`
    (:func:`reproducible_latents`). On request, ELBO and reconstruction count by their
    rank among the models, and training dynamics by its rank among the configurations.
    Models without an active latent have the score 0.

    Nothing is chosen unless the seeds of a configuration agree with one another more
    than codes with randomly rotated axes do, and find at least half a latent again;
    otherwise no model is better than chance, and the ranking says so.

    Intervals (95%) tell how much scores would change with other seeds; see
    :func:`estimate_spread`. A model is in the group of those before it unless the first
    of the group is ahead with a confidence of 95%.

    Args:
        evidence: Label-free scores of the models.
        weights: Weights of ``contrast``, ``reproducible``, ``across``, ``udr``,
            ``dynamics``, ``elbo``, ``reconstruction`` and ``active_latents``; what is
            missing from the evidence does not count.

    Raises:
        ValueError: If weights are unknown, negative or infinite, or if none is of a
            score in the evidence.

    Example:
        >>> pairs = np.array([[np.nan, 0.9, np.nan, np.nan],
        ...                   [0.9, np.nan, np.nan, np.nan],
        ...                   [np.nan, np.nan, np.nan, 0.2],
        ...                   [np.nan, np.nan, 0.2, np.nan]])
        >>> ranking = rank_models(Evidence(
        ...     names=("a1", "a2", "b1", "b2"), specifications=("a", "a", "b", "b"),
        ...     udr_pairs=pairs, active_latents=np.full(4, 3),
        ...     chance={"a": 0.4, "b": 0.4}))
        >>> ranking.specifications[0].name, ranking.chosen
        ('a', 'a1')

    References:
        Duan et al. (2020), Unsupervised Model Selection for Variational Disentangled
        Representation Learning; Gresele et al. (2021), Independent Mechanism Analysis,
        a New Concept?, section 4; Holtz, Mishne and Cloninger (2022), section 3.3. The
        combination, and the comparison with rotated codes, are ours.
    """
    for name, weight in weights.items():
        check_number(f"rank_models: weight of {name}", weight, least=0.0)
    unknown = set(weights) - set(_COLUMNS)
    if unknown or not any(weights.values()):
        raise ValueError(
            f"weights must be of {', '.join(_COLUMNS)}, with at least one positive "
            f"weight, got {dict(weights)}."
        )
    ranking = _rank(replace(evidence, supervised=None, n_labels=0), weights)
    if evidence.supervised is None:
        return ranking
    helped = _rank(evidence, weights)
    effect = LabelEffect(
        n_labels=evidence.n_labels,
        weight=_label_weight(evidence),
        agreement=_rank_correlation(ranking.models, helped.models),
        chosen_without=ranking.chosen,
    )
    return replace(helped, labels=effect)


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of models or of configurations.

    Attributes:
        parts: Contribution of each label-free score, ``(n,)`` each.
        errors: Standard errors of the sums, ``(n,)``.
        spreads: Spread of the configuration that each one belongs to.
        is_better: Whether its seeds agree more than by chance, ``(n,)``.
    """

    parts: Mapping[str, Floats]
    errors: Floats
    spreads: Sequence[Spread]
    is_better: NDArray[np.bool_]

    @cached_property
    def values(self) -> Floats:
        """Scores, ``(n,)``."""
        return np.sum(list(self.parts.values()), axis=0)

    def interval(self, index: int) -> tuple[float, float]:
        """Return the interval of a score, from 0 to 1."""
        value, error = self.values[index], self.errors[index]
        reach = self.spreads[index].reach(error, _CONFIDENCE)
        return float(max(value - reach, 0.0)), float(min(value + reach, 1.0))

    def is_ahead(self, first: int, second: int) -> bool:
        """Whether the first is better than the second with the usual confidence."""
        if self.is_better[first] != self.is_better[second]:
            return bool(self.is_better[first])
        fewer = min(
            (self.spreads[first], self.spreads[second]), key=lambda s: s.degrees
        )
        error = float(np.hypot(self.errors[first], self.errors[second]))
        # One-sided: the reach of an interval of 90% leaves 5% on either side.
        reach = fewer.reach(error, 2 * _CONFIDENCE - 1)
        return bool(self.values[first] - self.values[second] > reach)


def _rank(evidence: Evidence, weights: Mapping[str, float]) -> Ranking:
    columns = _columns(evidence)
    shares = _shares(evidence, weights, columns)
    owners = {name: number for number, name in enumerate(evidence.members)}
    owner = np.array([owners[name] for name in evidence.specifications])
    # What is unknown about a model counts as 0, and not at all for its configuration.
    parts = {name: w * np.nan_to_num(columns[name]) for name, w in shares.items()}
    means = {
        name: w
        * np.array([_known_mean(columns[name][k]) for k in evidence.members.values()])
        for name, w in shares.items()
    }
    agreement = np.sum(
        [parts.get(name, np.zeros(len(owner))) for name in _AGREEMENT], axis=0
    )
    others = np.sum(list(parts.values()), axis=0) - agreement
    spreads = [
        estimate_spread(agreement[rows], others[rows])
        for rows in evidence.members.values()
    ]
    is_better = np.array(_beats_chance(evidence))
    models = _Scores(
        parts,
        np.array([spreads[k].of_model for k in owner]),
        [spreads[k] for k in owner],
        is_better[owner],
    )
    specifications = _Scores(
        means, np.array([spread.of_mean for spread in spreads]), spreads, is_better
    )
    ranked = _in_order(evidence.names, evidence.specifications, models)
    names = tuple(evidence.members)
    ranked_specifications = _in_order(names, names, specifications)
    chosen = next((model.name for model in ranked if model.better_than_chance), None)
    return Ranking(
        ranked,
        ranked_specifications,
        chosen,
        _reason(evidence, ranked, ranked_specifications, chosen),
        alone=_choose_alone(evidence, columns, ranked),
    )


def _choose_alone(
    evidence: Evidence, columns: Mapping[str, Floats], ranked: Sequence[Ranked]
) -> dict[str, str]:
    """Return the model that each score alone would choose; ties go to the ranking."""
    order = [evidence.names.index(model.name) for model in ranked]
    chosen = {}
    for name, column in columns.items():
        values = np.nan_to_num(column[order], nan=-1.0)
        chosen[name] = ranked[int(values.argmax())].name
    return chosen


def _columns(evidence: Evidence) -> dict[str, Floats]:
    """Return the scores of each model from 0 (worst) to 1 (best), NaN if unknown."""
    alive, n_active = evidence.is_alive, np.asarray(evidence.active_latents, float)
    most = max(n_active.max(), 1.0)
    columns = {
        "udr": np.clip(evidence.udr(), 0.0, 1.0),
        "reproducible": np.maximum(evidence.reproducible(), 0.0) / most,
        "active_latents": n_active / most,
    }
    if evidence.across is not None:
        columns["across"] = np.clip(evidence.across, 0.0, 1.0)
    if evidence.contrast is not None:
        columns["contrast"] = n_active * np.exp(-np.asarray(evidence.contrast)) / most
    for name in ("elbo", "reconstruction", "supervised"):
        column = getattr(evidence, name)
        if column is not None:
            columns[name] = _to_ranks(name, np.asarray(column, dtype=np.float64))
    if evidence.dynamics_pairs:
        ranks = _to_ranks("dynamics", evidence.dynamics())
        by_name = dict(zip(evidence.members, ranks, strict=True))
        columns["dynamics"] = np.array(
            [by_name[name] for name in evidence.specifications]
        )
    return {name: np.where(alive, column, 0.0) for name, column in columns.items()}


def _to_ranks(name: str, values: Floats) -> Floats:
    """Ranks from 0 (last) to 1 (first); ties share theirs, NaN stays."""
    known = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    signed = -values[known] if name in _LOWER_IS_BETTER else values[known]
    n_others = len(signed) - 1
    ranks[known] = (rankdata(signed) - 1) / n_others if n_others > 0 else 0.5
    return ranks


def _shares(
    evidence: Evidence, weights: Mapping[str, float], columns: Mapping[str, Floats]
) -> dict[str, float]:
    """Return the weights of the scores in the evidence, which sum to 1."""
    known = {
        name: weight
        for name, weight in weights.items()
        if name in columns and weight > 0
    }
    total = sum(known.values())
    if not total:
        names = ", ".join(name for name in _COLUMNS if name in columns)
        raise ValueError(
            f"weights must include a score of the evidence ({names}), got "
            f"{dict(weights)}."
        )
    labels = _label_weight(evidence)
    shares = {name: (1 - labels) * weight / total for name, weight in known.items()}
    return shares | ({"supervised": labels} if labels else {})


def _label_weight(evidence: Evidence) -> float:
    if evidence.supervised is None:
        return 0.0
    return evidence.n_labels / (evidence.n_labels + _LABELS_OF_EQUAL_WEIGHT)


def _known_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 0.0


def _beats_chance(evidence: Evidence) -> list[bool]:
    """Return whether the seeds of each configuration agree more than by chance.

    The best of several configurations exceeds its level in more than 5% of the cases,
    because it is selected for its agreement. So it must also find a latent again.
    """
    is_better, udr, again = [], evidence.udr(), evidence.reproducible()
    for name, rows in evidence.members.items():
        own = np.where(evidence.is_alive[rows], udr[rows], 0.0)
        # NaN, for a single model without partners, is not above any level.
        is_above = own.mean() > evidence.chance.get(name, 0.0) + _ROUNDING
        is_better.append(bool(is_above and again[rows].mean() >= _LEAST_REPRODUCIBLE))
    return is_better


def _in_order(
    names: Sequence[str], specifications: Sequence[str], scores: _Scores
) -> tuple[Ranked, ...]:
    # Those no better than chance come last, whatever their scores.
    order = [int(k) for k in np.lexsort((-scores.values, ~scores.is_better))]
    ranked, group, leader = [], 0, order[0]
    for index in order:
        if scores.is_ahead(leader, index):
            group, leader = group + 1, index
        ranked.append(
            Ranked(
                name=names[index],
                specification=specifications[index],
                score=float(scores.values[index]),
                interval=scores.interval(index),
                group=group,
                better_than_chance=bool(scores.is_better[index]),
                parts={name: float(part[index]) for name, part in scores.parts.items()},
            )
        )
    return tuple(ranked)


def _reason(
    evidence: Evidence,
    models: Sequence[Ranked],
    specifications: Sequence[Ranked],
    chosen: str | None,
) -> str:
    if not evidence.is_alive.any():
        return (
            "No model is better than chance: none of them has a latent that depends "
            "on the data."
        )
    if chosen is None:
        return (
            "No model is better than chance: runs with other seeds agree hardly more "
            "than codes with randomly rotated axes."
        )
    best = next(model for model in models if model.name == chosen)
    level = evidence.chance.get(best.specification)
    index = evidence.names.index(chosen)
    udr, again = evidence.udr()[index], evidence.reproducible()[index]
    above = "" if level is None else f" (chance: {level:.2f})"
    groups = {spec.name: spec.group for spec in specifications}
    equals = list(groups.values()).count(groups[best.specification])
    n_active = evidence.active_latents[index]
    independent = ""
    if evidence.contrast is not None:
        independent = (
            f" The effects of its latents on the image are as independent as those of "
            f"{n_active * np.exp(-evidence.contrast[index]):.1f} latents at right "
            "angles."
        )
    comparison = ""
    if len(groups) > 1:
        comparison = (
            " Its configuration is clearly better than all others."
            if equals == 1
            else f" Its configuration is one of {equals} that do not differ clearly."
        )
    return (
        f"Runs with other seeds find {again:.1f} of its {n_active} active latents "
        f"again, with an agreement of {udr:.2f}{above}.{independent}{comparison}"
    )


def _rank_correlation(before: Sequence[Ranked], after: Sequence[Ranked]) -> float:
    ranks = {model.name: rank for rank, model in enumerate(after)}
    moved = [ranks[model.name] for model in before]
    # Both are ranks already, so that their correlation is Spearman's.
    return float(np.corrcoef(np.arange(len(moved)), moved)[0, 1])
