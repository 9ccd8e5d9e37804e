"""Diagnoses of runs: what went wrong, and what to do."""

import math
from collections.abc import Mapping
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

# Ratio to the first reconstruction loss above which a run has diverged.
_EXPLODED = 2.0
# Steps before which no latent is expected to be active yet.
_EARLY = 200
_MAX_ROWS = 10_000

HISTORY_DAMAGED = "history_damaged"
"""Name of the diagnosis of a run whose history has lost its end."""

NO_SCORE = "no_score"
"""Name of the diagnosis of a run that some metrics could not score."""


@dataclass(frozen=True)
class Diagnosis:
    """A problem of a run that has ended.

    Attributes:
        name: Short name, for tables.
        message: Explanation of the problem, and what to do.
        step: Step at which it was found.
    """

    name: str
    message: str
    step: int

    @property
    def is_sound(self) -> bool:
        """Whether every field has its type, after it was read from a file."""
        texts = (self.name, self.message)
        return all(isinstance(text, str) for text in texts) and isinstance(
            self.step, int
        )

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return asdict(self)


def diagnose(
    spec: TrainingSpec, history: list[dict[str, Any]]
) -> tuple[Diagnosis, ...]:
    """Return the problems of a run, from its history.

    Args:
        spec: Settings of the run.
        history: All records of the run.

    Example:
        >>> record = {"step": 1000, "reconstruction": 9.0, "active_latents": 0}
        >>> [found.name for found in diagnose(TrainingSpec(), [record])]
        ['nothing_learnt']
    """
    if not history:
        return ()
    found = (_find_collapse(spec, history[-1]), _find_explosion(history))
    return tuple(diagnosis for diagnosis in found if diagnosis is not None)


def diagnose_scores(failures: Mapping[str, str], step: int) -> tuple[Diagnosis, ...]:
    """Return a diagnosis if metrics had no score during training.

    Args:
        failures: Reasons by name of the metric.
        step: Last step of the run.
    """
    if not failures:
        return ()
    reasons = " ".join(f"{name}: {why}" for name, why in failures.items())
    message = f"The model was trained, but has no score of some metrics. {reasons}"
    return (Diagnosis(NO_SCORE, message, step),)


def _find_collapse(spec: TrainingSpec, last: dict[str, Any]) -> Diagnosis | None:
    if last.get("active_latents") != 0 or last["step"] < _EARLY:
        return None
    name, weight = _largest_weight(spec, last["step"])
    if weight > 1.0 / _scale(spec):
        return Diagnosis(
            "nothing_learnt",
            f"{name} = {weight:g} is so large that nothing is learned: no latent "
            f"depends on the images. Lower {name}, or let it rise from 0 "
            f"({name}=Linear(start=0, end=...)), or train for longer.",
            last["step"],
        )
    return Diagnosis(
        "posterior_collapse",
        "The posterior has collapsed: every latent follows the prior, and all "
        "reconstructions are the same. Train for longer, raise the learning rate, or "
        "let the weight of the divergence rise from 0.",
        last["step"],
    )


def _largest_weight(spec: TrainingSpec, step: int) -> tuple[str, float]:
    """Return name and value of the largest weight that penalizes information."""
    objective = spec.objective
    if isinstance(objective, SemiSupervised | SemiSupervisedAdversarial):
        objective = objective.base
    is_in_parts = isinstance(objective, BetaTCVAE)
    names = ("alpha", "beta", "gamma") if is_in_parts else ("beta",)
    weights = {name: value_at(getattr(objective, name, 0.0), step) for name in names}
    name = max(weights, key=lambda name: weights[name])
    return name, weights[name]


def _scale(spec: TrainingSpec) -> float:
    """Return how much more a weight counts than if losses were sums."""
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
        f"The loss explodes: {name} rose from {first[name]:.4g} at step "
        f"{first['step']} to {last[name]:.4g} at step {last['step']}. Lower the "
        "learning rate.",
        last["step"],
    )


def find_gap(
    spec: TrainingSpec, history: list[dict[str, Any]]
) -> tuple[Diagnosis, ...]:
    """Return a diagnosis if the history of a finished run lacks its end.

    Args:
        spec: Settings of the run.
        history: The records that could be read.
    """
    last = history[-1]["step"] if history else 0
    if last == spec.steps:
        return ()
    return (
        Diagnosis(
            HISTORY_DAMAGED,
            f"The history ends at step {last:,} of {spec.steps:,}: history.jsonl is "
            "missing or damaged. The model itself is complete.",
            last,
        ),
    )


def check_range(spec: TrainingSpec, dataset: AbstractDataset) -> None:
    """Require a likelihood that fits the range of the data.

    Raises:
        ValueError: If the likelihood needs pixels from 0 to 1, and others occur.
    """
    if not spec.likelihood.needs_unit_range:
        return
    name = type(spec.likelihood).__name__
    if spec.mean or spec.std:
        raise ValueError(
            f"{name} is not a likelihood for standardized data, because it needs "
            "values from 0 to 1. Use likelihood='gaussian', or do not standardize."
        )
    rows = np.unique(np.linspace(0, len(dataset) - 1, _MAX_ROWS).astype(np.int64))
    if dataset.images(rows[:1]).dtype.kind != "f":
        return  # bytes become numbers from 0 to 1
    values = dataset.images(rows)
    if values.min() < 0.0 or values.max() > 1.0:
        raise ValueError(
            f"The likelihood {name} needs values from 0 to 1, but those of the data "
            f"are from {values.min():g} to {values.max():g}. Use "
            "likelihood='gaussian', or scale the data."
        )
