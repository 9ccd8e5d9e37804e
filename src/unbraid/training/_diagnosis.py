"""What may be wrong with a run, by name, in words, with what to do."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.models import value_at
from unbraid.models.objectives import (
    BetaTCVAE,
    SemiSupervised,
    SemiSupervisedAdversarial,
)

from ._specification import TrainingSpec

# A reconstruction this many times as bad as at the start got there by diverging.
_EXPLODED = 2.0
# Steps before which no latent is expected to say anything yet.
_EARLY = 200
_LOOKED_AT = 10_000

HISTORY_DAMAGED = "history_damaged"
"""Name of what is wrong with a run whose history has lost its end."""


@dataclass(frozen=True)
class Diagnosis:
    """Something wrong with a run that ended.

    Attributes:
        name: Short name, for tables.
        message: What is wrong and what to do, in words.
        step: At which it was seen.
    """

    name: str
    message: str
    step: int

    @property
    def is_sound(self) -> bool:
        """Whether every part has its type, after it was read from a file."""
        words = (self.name, self.message)
        return all(isinstance(word, str) for word in words) and isinstance(
            self.step, int
        )

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def diagnose(
    spec: TrainingSpec, history: list[dict[str, Any]]
) -> tuple[Diagnosis, ...]:
    """What is wrong with a run, from how it went.

    Args:
        spec: Its settings.
        history: Its records, to the end.

    Example:
        >>> record = {"step": 1000, "reconstruction": 9.0, "active_latents": 0}
        >>> [found.name for found in diagnose(TrainingSpec(), [record])]
        ['nothing_learnt']
    """
    if not history:
        return ()
    found = (_find_collapse(spec, history[-1]), _find_explosion(history))
    return tuple(diagnosis for diagnosis in found if diagnosis is not None)


def _find_collapse(spec: TrainingSpec, last: dict[str, Any]) -> Diagnosis | None:
    if last.get("active_latents") != 0 or last["step"] < _EARLY:
        return None
    name, weight = _largest_price(spec, last["step"])
    if weight > 1.0 / _scale(spec):
        return Diagnosis(
            "nothing_learnt",
            f"{name} = {weight:g} is so large that nothing is learnt: no latent says "
            f"anything about the images. Lower {name}, or let it rise from 0 "
            f"({name}=Linear(start=0, end=...)), or train for longer.",
            last["step"],
        )
    return Diagnosis(
        "posterior_collapse",
        "The posterior has collapsed: every latent keeps to the prior, and the decoder "
        "draws the same picture for all. Train for longer, raise the learning rate, or "
        "let the weight of the divergence rise from 0.",
        last["step"],
    )


def _largest_price(spec: TrainingSpec, step: int) -> tuple[str, float]:
    """The weight that most makes it dear for a code to say something, and its name."""
    objective = spec.objective
    if isinstance(objective, SemiSupervised | SemiSupervisedAdversarial):
        objective = objective.base
    is_in_parts = isinstance(objective, BetaTCVAE)
    names = ("alpha", "beta", "gamma") if is_in_parts else ("beta",)
    prices = {name: value_at(getattr(objective, name, 0.0), step) for name in names}
    name = max(prices, key=lambda name: prices[name])
    return name, prices[name]


def _scale(spec: TrainingSpec) -> float:
    """How much more a weight counts than one of sums over pixels and latents."""
    if spec.objective.scale == "sum":
        return 1.0
    return math.prod(spec.image_shape) / spec.n_latents


def _find_explosion(history: list[dict[str, Any]]) -> Diagnosis | None:
    first, last = history[0], history[-1]
    name = "reconstruction" if "reconstruction" in last else "total"
    if not last[name] > _EXPLODED * abs(first[name]) + 1.0:
        return None
    return Diagnosis(
        "exploding_loss",
        f"The loss explodes: {name} went from {first[name]:.4g} at step "
        f"{first['step']} to {last[name]:.4g} at step {last['step']}. Lower the "
        "learning rate.",
        last["step"],
    )


def find_gap(
    spec: TrainingSpec, history: list[dict[str, Any]]
) -> tuple[Diagnosis, ...]:
    """Whether the end is missing from the history of a run that is finished.

    Args:
        spec: Its settings.
        history: What could be read of its records.
    """
    last = history[-1]["step"] if history else 0
    if last == spec.steps:
        return ()
    return (
        Diagnosis(
            HISTORY_DAMAGED,
            f"The history ends at step {last:,} of {spec.steps:,}: history.jsonl is "
            "missing or damaged. The model itself is whole.",
            last,
        ),
    )


def check_range(spec: TrainingSpec, dataset: AbstractDataset) -> None:
    """Refuse a likelihood that does not fit the range of the data.

    Raises:
        ValueError: If the likelihood needs pixels from 0 to 1 and the model sees
            others; says which.
    """
    if not spec.likelihood.needs_unit_range:
        return
    name = type(spec.likelihood).__name__
    if spec.mean or spec.std:
        raise ValueError(
            f"fit: expected a likelihood for standardized data, got {name}, which "
            "needs values from 0 to 1. Use likelihood='gaussian', or do not "
            "standardize."
        )
    rows = np.unique(np.linspace(0, len(dataset) - 1, _LOOKED_AT).astype(np.int64))
    if dataset.images(rows[:1]).dtype.kind != "f":
        return  # bytes become numbers from 0 to 1
    values = dataset.images(rows)
    if values.min() < 0.0 or values.max() > 1.0:
        raise ValueError(
            f"fit: expected values from 0 to 1 for the likelihood {name}, got values "
            f"from {values.min():g} to {values.max():g}. Use likelihood='gaussian', or "
            "scale the data."
        )
