"""rank_models: an order of models and specifications from label-free evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.foundation import html_table, numpy_generator

from ._evidence import Evidence, Floats

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS: Mapping[str, float] = {"reproducible": 1.0, "dynamics": 0.05, "elbo": 0.05}
"""Weight of each label-free score: dynamics and ELBO decide between configurations that
find about as many latents again. Others may be named: ``udr``, ``reconstruction``,
``active_latents``."""

_CONFIDENCE = 0.95
# Labels that count as much as all label-free scores together: few enough that a
# hundred of them decide, as they do in Locatello et al. (2020).
_LABELS_OF_EQUAL_WEIGHT = 100
# Reproducible latents below which agreement means nothing: untrained networks, the best
# of four pairs of them, reach 0.4.
_LEAST_REPRODUCIBLE = 0.5
_MODELS_SHOWN = 20
# What rounding makes of agreements that are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Ranked:
    """A model or a specification in its place.

    Attributes:
        name: What it is called.
        specification: What it is a realisation of, or itself.
        score: From 0, worse than all others in everything, to 1.
        interval: Of the score, when realisations are drawn anew.
        group: 0 for the best and all that cannot be told from it, then 1, and so on.
        better_than_chance: Whether its specification agrees with itself more than
            codes do whose axes mean nothing.
    """

    name: str
    specification: str
    score: float
    interval: tuple[float, float]
    group: int
    better_than_chance: bool


@dataclass(frozen=True)
class LabelEffect:
    """What the given labels changed.

    Attributes:
        n_labels: How many there were.
        weight: Share of the score that they decided.
        agreement: Spearman correlation of the order of models without and with them.
        chosen_without: What would have been chosen without.
    """

    n_labels: int
    weight: float
    agreement: float
    chosen_without: str | None


@dataclass(frozen=True)
class Ranking:
    """Models and specifications in order, the best first.

    Attributes:
        models: All models.
        specifications: All specifications.
        chosen: Name of the best model, or ``None`` if there is no reason to prefer one.
        reason: Why, in one or two sentences.
        labels: What labels changed, if some were given.
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
        """As JSON can hold it."""
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
    r"""Order models and their specifications without labels.

    Every label-free score orders the configurations; the score of a configuration is
    the weighted mean of its places, each from 0 (last) to 1 (first). Reproducible
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

    Intervals come from drawing the realisations of every specification with
    replacement. Two neighbours are in one group unless the first of the group is ahead
    in 95% of the draws.

    Args:
        evidence: What is known of the models.
        weights: Weights of ``udr``, ``reproducible`` (see
            :func:`reproducible_latents`), ``dynamics``, ``elbo``, ``reconstruction``
            and ``active_latents``; what is missing from the evidence does not count.
        n_draws: Draws of realisations, from 1.
        seed: Of the draws.

    Raises:
        ValueError: For weights that are unknown, or of nothing that the evidence has.

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
        mean of places, and the comparison with rotated codes, are ours.
    """
    unknown = set(weights) - set(_COLUMNS)
    if unknown or not any(weight > 0 for weight in weights.values()):
        raise ValueError(
            f"rank_models: expected weights of {', '.join(_COLUMNS)}, some of them "
            f"above 0, got {dict(weights)}."
        )
    if n_draws < 1:
        raise ValueError(f"rank_models: expected n_draws from 1, got {n_draws}.")
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
    """Scores of models and of specifications, for one draw of realisations."""
    rows = [evidence.members[name][places] for name, places in drawn.items()]
    place_of = {name: place for place, name in enumerate(evidence.members)}
    owner = np.array([place_of[name] for name in evidence.specifications])
    own, shared = _columns(evidence, np.concatenate(rows), drawn)
    means = {name: np.array([_known_mean(own[name][r]) for r in rows]) for name in own}
    means |= shared
    total = _weights_of(evidence, weights, means)
    spec_scores = _mean_place(means, total)
    per_model = own | {name: column[owner] for name, column in shared.items()}
    model_scores = 0.5 * spec_scores[owner] + 0.5 * _mean_place(per_model, total)
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
    """Scores that models have of their own, and those of whole specifications."""
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
            f"rank_models: expected weights of what the evidence has "
            f"({', '.join(known)}), got {dict(weights)}."
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


def _mean_place(columns: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Weighted mean of places from 0 (last) to 1; what is unknown comes last."""
    places = []
    for name, weight in weights.items():
        column = columns[name]
        signed = -column if name in _LOWER_IS_BETTER else column
        known = np.where(np.isnan(signed), -np.inf, signed)
        if name == "reproducible" and len(known) > 1 and known.max() > 0:
            places.append(weight * np.maximum(known, 0.0) / known.max())
            continue
        # Equals share a place, and one alone is in the middle, as all equals are.
        n_others = len(known) - 1
        place = (rankdata(known) - 1) / n_others if n_others else np.array([0.5])
        places.append(weight * place)
    return np.sum(places, axis=0) / sum(weights.values())


def _known_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _beats_chance(evidence: Evidence) -> list[bool]:
    """Which configurations agree with themselves more than chance does.

    The best of several configurations exceeds its level more often than in 5% of the
    cases, because it was picked for its agreement. So it must also find a latent again.
    """
    is_better, udr, again = [], evidence.udr(), evidence.reproducible()
    for name, rows in evidence.members.items():
        own = np.where(evidence.is_alive[rows], udr[rows], 0.0)
        # NaN, of a single model without others to agree with, is above nothing.
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
    # What is no better than chance comes after all that is, whatever its score.
    is_better = np.array([beats_chance[name] for name in specifications])
    order = np.lexsort((-scores, ~is_better))
    ranked, group, leader = [], 0, int(order[0])
    for place in map(int, order):
        is_behind = is_better[leader] and not is_better[place]
        if is_behind or np.mean(draws[:, leader] > draws[:, place]) >= _CONFIDENCE:
            group, leader = group + 1, place
        low, high = np.quantile(draws[:, place], (0.025, 0.975))
        ranked.append(
            Ranked(
                name=names[place],
                specification=specifications[place],
                score=float(scores[place]),
                interval=(float(low), float(high)),
                group=group,
                better_than_chance=bool(is_better[place]),
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
            "No model is better than chance: no latent of any of them says anything "
            "about the data."
        )
    if chosen is None:
        return (
            "No model is better than chance: runs with other seeds agree with one "
            "another hardly more than codes with randomly rotated axes do."
        )
    best = next(model for model in models if model.name == chosen)
    level = evidence.chance.get(best.specification)
    udr = evidence.udr()[evidence.names.index(chosen)]
    above = "" if level is None else f" (chance: {level:.2f})"
    groups = {spec.name: spec.group for spec in specifications}
    equals = list(groups.values()).count(groups[best.specification])
    again = evidence.reproducible()[evidence.names.index(chosen)]
    n_active = evidence.active_latents[evidence.names.index(chosen)]
    told_apart = ""
    if len(groups) > 1:
        told_apart = (
            " Its configuration can be told from all others."
            if equals == 1
            else f" Its configuration is one of {equals} that cannot be told apart."
        )
    return (
        f"Runs with other seeds find {again:.1f} of its {n_active} active latents "
        f"again, with an agreement of {udr:.2f}{above}.{told_apart}"
    )


def _agreement(before: Sequence[Ranked], after: Sequence[Ranked]) -> float:
    places = {model.name: place for place, model in enumerate(after)}
    moved = [places[model.name] for model in before]
    # Both are places already, so that their correlation is Spearman's.
    return float(np.corrcoef(np.arange(len(moved)), moved)[0, 1])
