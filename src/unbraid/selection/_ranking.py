"""rank_models: ranking of models and configurations from label-free evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.foundation import check_count, html_table, numpy_generator

from ._evidence import Evidence, Floats

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS: Mapping[str, float] = {"reproducible": 1.0, "dynamics": 0.05, "elbo": 0.05}
"""Weights of label-free scores. Dynamics and ELBO decide between configurations with
similar numbers of reproducible latents. ``udr``, ``reconstruction`` and
``active_latents`` may be used, too."""

_CONFIDENCE = 0.95
# Number of labels that count as much as all label-free scores together: few enough
# that a hundred of them decide, as in Locatello et al. (2020).
_LABELS_OF_EQUAL_WEIGHT = 100
# Reproducible latents below which agreement is meaningless: the best of four pairs of
# untrained networks reaches 0.4.
_LEAST_REPRODUCIBLE = 0.5
_MODELS_SHOWN = 20
# Rounding error of agreements that are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Ranked:
    """A model or a configuration in a ranking.

    Attributes:
        name: Name of the model or configuration.
        specification: Configuration of the model, or the configuration itself.
        score: Score from 0 (worst in everything) to 1 (best in everything).
        interval: Interval of the score over random draws of seeds.
        group: 0 for the best and all that are not clearly worse, then 1, and so on.
        better_than_chance: Whether the seeds of the configuration agree more than codes
            with randomly rotated axes.
    """

    name: str
    specification: str
    score: float
    interval: tuple[float, float]
    group: int
    better_than_chance: bool


@dataclass(frozen=True)
class LabelEffect:
    """Effect of labels on a ranking.

    Attributes:
        n_labels: Number of labels.
        weight: Share of the score that depends on labels.
        agreement: Spearman correlation of the rankings with and without labels.
        chosen_without: Model that would have been chosen without labels.
    """

    n_labels: int
    weight: float
    agreement: float
    chosen_without: str | None


@dataclass(frozen=True)
class Ranking:
    """Ranking of models and configurations, the best first.

    Attributes:
        models: All models.
        specifications: All configurations.
        chosen: Name of the best model, or ``None`` if there is no reason to prefer one.
        reason: Reason of the choice, in one or two sentences.
        labels: Effect of labels, if there are any.
    """

    models: tuple[Ranked, ...]
    specifications: tuple[Ranked, ...]
    chosen: str | None
    reason: str
    labels: LabelEffect | None = None

    def __repr__(self) -> str:
        return (
            f"Ranking({len(self.models)} models of {len(self.specifications)} "
            f"configurations, chosen={self.chosen!r})"
        )

    def _repr_html_(self) -> str:
        """The best models and the reason for the choice, for notebooks."""
        columns = ("model", "configuration", "score", "95 % interval", "group")
        rows = [
            (
                model.name,
                model.specification,
                f"{model.score:.3f}",
                "{:.3f} - {:.3f}".format(*model.interval),
                str(model.group),
                "yes" if model.better_than_chance else "no",
            )
            for model in self.models[:_MODELS_SHOWN]
        ]
        n_more = len(self.models) - len(rows)
        notes = [f"{n_more} more models: see to_frame()."] if n_more > 0 else []
        return html_table(
            (*columns, "better than chance"),
            rows,
            title=f"Chosen: {self.chosen or 'no model'}. {self.reason}",
            notes=notes,
        )

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return asdict(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return the models as a table, the best first, with the ends of intervals.

        Example:
            >>> first = Ranked("a1", "a", 0.9, (0.8, 1.0), 0, True)
            >>> ranking = Ranking((first,), (), "a1", "It agrees.")
            >>> ranking.to_frame()[["name", "score", "low", "is_chosen"]]
              name  score  low  is_chosen
            0   a1    0.9  0.8       True
        """
        import pandas as pd

        rows = [
            {
                "name": model.name,
                "configuration": model.specification,
                "score": model.score,
                "low": model.interval[0],
                "high": model.interval[1],
                "group": model.group,
                "better_than_chance": model.better_than_chance,
                "is_chosen": model.name == self.chosen,
            }
            for model in self.models
        ]
        return pd.DataFrame(rows)


def rank_models(
    evidence: Evidence,
    *,
    weights: Mapping[str, float] = WEIGHTS,
    n_draws: int = 200,
    seed: int = 0,
) -> Ranking:
    r"""Rank models and their configurations without labels.

    Every label-free score ranks the configurations; the score of a configuration is
    the weighted mean of its ranks, each from 0 (last) to 1 (first). Reproducible
    latents count by their number, as a share of the largest, so that small differences
    stay small. A model's score is half that of its configuration and half the same mean
    over its own scores. Models
    without an active latent are last. Nothing is chosen unless the seeds of a
    configuration agree with one another more than codes with randomly rotated axes do,
    and find at least half a latent again (:func:`reproducible_latents`); otherwise no
    model is better than chance, and the ranking says so.

    .. math::
        S_s = \frac{\sum_k w_k \, r_k(s)}{\sum_k w_k}, \qquad
        S_m = \tfrac12 S_{s(m)} + \tfrac12 \frac{\sum_k w_k \, r_k(m)}{\sum_k w_k}

    Intervals come from drawing the seeds of every configuration with replacement. A
    model is in the group of those before it unless the first of the group is ahead in
    95% of the draws.

    Args:
        evidence: Label-free scores of the models.
        weights: Weights of ``udr``, ``reproducible`` (see
            :func:`reproducible_latents`), ``dynamics``, ``elbo``, ``reconstruction``
            and ``active_latents``; what is missing from the evidence does not count.
        n_draws: Number of random draws of seeds, at least 1.
        seed: Seed of the draws.

    Raises:
        ValueError: If weights are unknown, or not of scores in the evidence.

    Example:
        >>> pairs = np.array([[np.nan, 0.9, np.nan, np.nan],
        ...                   [0.9, np.nan, np.nan, np.nan],
        ...                   [np.nan, np.nan, np.nan, 0.2],
        ...                   [np.nan, np.nan, 0.2, np.nan]])
        >>> found = rank_models(Evidence(
        ...     names=("a1", "a2", "b1", "b2"), specifications=("a", "a", "b", "b"),
        ...     udr_pairs=pairs, active_latents=np.full(4, 3),
        ...     chance={"a": 0.4, "b": 0.4}))
        >>> found.specifications[0].name, found.chosen
        ('a', 'a1')

    References:
        Duan et al. (2020), Unsupervised Model Selection for Variational Disentangled
        Representation Learning; Holtz, Mishne and Cloninger (2022), section 3.3. The
        mean of ranks, and the comparison with rotated codes, are ours.
    """
    unknown = set(weights) - set(_COLUMNS)
    if unknown or not any(weight > 0 for weight in weights.values()):
        raise ValueError(
            f"weights must be of {', '.join(_COLUMNS)}, with at least one positive "
            f"weight, got {dict(weights)}."
        )
    check_count("n_draws", n_draws)
    label_free = replace(evidence, supervised=None, n_labels=0)
    ranking = _rank(label_free, weights, n_draws, seed)
    if evidence.supervised is None:
        return ranking
    helped = _rank(evidence, weights, n_draws, seed)
    effect = LabelEffect(
        n_labels=evidence.n_labels,
        weight=_label_weight(evidence),
        agreement=_agreement(ranking.models, helped.models),
        chosen_without=ranking.chosen,
    )
    return replace(helped, labels=effect)


_COLUMNS = (
    "udr",
    "reproducible",
    "dynamics",
    "elbo",
    "reconstruction",
    "active_latents",
)
_LOWER_IS_BETTER = ("dynamics", "reconstruction")


def _rank(
    evidence: Evidence, weights: Mapping[str, float], n_draws: int, seed: int
) -> Ranking:
    generator = numpy_generator(seed, "ranking")
    sizes = {name: len(rows) for name, rows in evidence.members.items()}
    everyone = {name: np.arange(size) for name, size in sizes.items()}
    model_scores, scores = _scores(evidence, weights, everyone)
    draws = [
        _scores(
            evidence,
            weights,
            {name: generator.integers(size, size=size) for name, size in sizes.items()},
        )
        for _ in range(n_draws)
    ]
    model_draws = np.array([draw[0] for draw in draws]).reshape(n_draws, -1)
    spec_draws = np.array([draw[1] for draw in draws]).reshape(n_draws, -1)
    names = tuple(evidence.members)
    beats_chance = dict(zip(names, _beats_chance(evidence), strict=True))
    models = _in_order(
        evidence.names, evidence.specifications, model_scores, model_draws, beats_chance
    )
    specifications = _in_order(names, names, scores, spec_draws, beats_chance)
    chosen = next((model.name for model in models if model.better_than_chance), None)
    reason = _reason(evidence, models, specifications, chosen)
    return Ranking(models, specifications, chosen, reason)


def _scores(
    evidence: Evidence,
    weights: Mapping[str, float],
    drawn: Mapping[str, NDArray[np.int64]],
) -> tuple[Floats, Floats]:
    """Return the scores of models and of configurations, for one draw of seeds."""
    rows = [evidence.members[name][indices] for name, indices in drawn.items()]
    numbers = {name: number for number, name in enumerate(evidence.members)}
    owner = np.array([numbers[name] for name in evidence.specifications])
    own, shared = _columns(evidence, np.concatenate(rows), drawn)
    means = {name: np.array([_known_mean(own[name][r]) for r in rows]) for name in own}
    means |= shared
    total = _weights_of(evidence, weights, means)
    spec_scores = _mean_rank(means, total)
    per_model = own | {name: column[owner] for name, column in shared.items()}
    model_scores = 0.5 * spec_scores[owner] + 0.5 * _mean_rank(per_model, total)
    is_dead = ~np.array([evidence.is_alive[r].any() for r in rows])
    return (
        np.where(evidence.is_alive, model_scores, 0.0),
        np.where(is_dead, 0.0, spec_scores),
    )


def _columns(
    evidence: Evidence,
    partners: NDArray[np.int64],
    drawn: Mapping[str, NDArray[np.int64]],
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the scores of single models, and those of whole configurations."""
    own = {
        "udr": np.where(evidence.is_alive, evidence.udr(partners), 0.0),
        "reproducible": np.where(
            evidence.is_alive, evidence.reproducible(partners), 0.0
        ),
        "active_latents": np.asarray(evidence.active_latents, dtype=np.float64),
    }
    for name in ("elbo", "reconstruction", "supervised"):
        column = getattr(evidence, name)
        if column is not None:
            own[name] = np.asarray(column, dtype=np.float64)
    if not evidence.dynamics_pairs:
        return own, {}
    return own, {"dynamics": evidence.dynamics(drawn)}


def _weights_of(
    evidence: Evidence, weights: Mapping[str, float], columns: Mapping[str, Floats]
) -> dict[str, float]:
    known = {name: weights.get(name, 0.0) for name in columns if name in _COLUMNS}
    if not sum(known.values()) > 0:
        raise ValueError(
            f"weights must include a score of the evidence ({', '.join(known)}), got "
            f"{dict(weights)}."
        )
    share = _label_weight(evidence)
    if share:
        known = {name: weight * (1 - share) for name, weight in known.items()}
        known["supervised"] = sum(weights.get(name, 0.0) for name in known) * share
    return known


def _label_weight(evidence: Evidence) -> float:
    if evidence.supervised is None:
        return 0.0
    return evidence.n_labels / (evidence.n_labels + _LABELS_OF_EQUAL_WEIGHT)


def _mean_rank(columns: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return the weighted mean of ranks from 0 (last, or unknown) to 1."""
    ranks = []
    for name, weight in weights.items():
        column = columns[name]
        signed = -column if name in _LOWER_IS_BETTER else column
        known = np.where(np.isnan(signed), -np.inf, signed)
        if name == "reproducible" and len(known) > 1 and known.max() > 0:
            ranks.append(weight * np.maximum(known, 0.0) / known.max())
            continue
        # Ties share their mean rank, and a single one is in the middle.
        n_others = len(known) - 1
        rank = (rankdata(known) - 1) / n_others if n_others else np.array([0.5])
        ranks.append(weight * rank)
    return np.sum(ranks, axis=0) / sum(weights.values())


def _known_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


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
    names: Sequence[str],
    specifications: Sequence[str],
    scores: Floats,
    draws: Floats,
    beats_chance: Mapping[str, bool],
) -> tuple[Ranked, ...]:
    # Those no better than chance come last, whatever their scores.
    is_better = np.array([beats_chance[name] for name in specifications])
    order = np.lexsort((-scores, ~is_better))
    ranked, group, leader = [], 0, int(order[0])
    for index in map(int, order):
        is_behind = is_better[leader] and not is_better[index]
        if is_behind or np.mean(draws[:, leader] > draws[:, index]) >= _CONFIDENCE:
            group, leader = group + 1, index
        low, high = np.quantile(draws[:, index], (0.025, 0.975))
        ranked.append(
            Ranked(
                name=names[index],
                specification=specifications[index],
                score=float(scores[index]),
                interval=(float(low), float(high)),
                group=group,
                better_than_chance=bool(is_better[index]),
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
    udr = evidence.udr()[evidence.names.index(chosen)]
    above = "" if level is None else f" (chance: {level:.2f})"
    groups = {spec.name: spec.group for spec in specifications}
    equals = list(groups.values()).count(groups[best.specification])
    again = evidence.reproducible()[evidence.names.index(chosen)]
    n_active = evidence.active_latents[evidence.names.index(chosen)]
    comparison = ""
    if len(groups) > 1:
        comparison = (
            " Its configuration is clearly better than all others."
            if equals == 1
            else f" Its configuration is one of {equals} that do not differ clearly."
        )
    return (
        f"Runs with other seeds find {again:.1f} of its {n_active} active latents "
        f"again, with an agreement of {udr:.2f}{above}.{comparison}"
    )


def _agreement(before: Sequence[Ranked], after: Sequence[Ranked]) -> float:
    ranks = {model.name: rank for rank, model in enumerate(after)}
    moved = [ranks[model.name] for model in before]
    # Both are ranks already, so that their correlation is Spearman's.
    return float(np.corrcoef(np.arange(len(moved)), moved)[0, 1])
