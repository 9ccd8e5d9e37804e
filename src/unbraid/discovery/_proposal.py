"""What to try: specifications, realisations and steps that fit into a given time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.durations import in_words
from unbraid.studies import RunSpec, Study, study_from_plain
from unbraid.studies._estimate import Cost, measure_run
from unbraid.training import TrainingState
from unbraid.training._trace import last_layer_within

Plain = dict[str, Any]

N_LATENTS = 10
FEWEST_STEPS, MOST_STEPS = 1_000, 30_000
GOOD_STEPS = 3_000
"""Below it, fewer specifications are tried for longer."""

STRENGTHS = {
    "beta_vae": "beta",
    "beta_tc_vae": "beta",
    "factor_vae": "gamma",
    "dip_vae": "lambda_off_diagonal",
}
"""What is varied of each objective."""

# Specifications and realisations of each, from much time to little.
_SIZES = ((10, 5), (8, 5), (6, 5), (5, 5), (4, 5), (3, 5), (2, 5), (2, 4), (2, 3))
SHARE = 0.85
"""Of the time that may go to the runs; the rest is for ranking and writing."""

FIXED_SECONDS = 8.0
"""For starting processes, reading data and drawing."""

DEFAULT_SECONDS = (60.0, 1800.0)
_SMALL = 3 * 32 * 32
"""Numbers in an image that is small."""

_TRACED_UNITS = 2_048
_ROWS_SCORED = 5_000
_LABELS_LOOKED_AT = 1_000_000


@dataclass(frozen=True)
class Proposal:
    """What a discovery will do.

    Attributes:
        study: All of its runs.
        seconds: That they will take, about.
        n_specifications: That are tried.
        n_realisations: Of each, which differ in the seed alone.
        steps: Of each run.
    """

    study: Study
    seconds: float
    n_specifications: int
    n_realisations: int
    steps: int


def propose(
    text: str,
    dataset: AbstractDataset,
    *,
    seconds: float | None,
    n_workers: int,
    seed: int = 0,
) -> Proposal:
    """Specifications that fit into the time.

    More time first buys longer runs, then realisations, then specifications, until
    none of these would help.

    Args:
        text: Of the data, as workers open it.
        dataset: The same, opened.
        seconds: Time until the end; when not given, as much as a good choice needs,
            from one minute to thirty.
        n_workers: Runs at once.
        seed: Of the first realisation.

    Raises:
        ValueError: If the time is too short for anything.
    """
    candidates = _candidates(dataset)
    base = base_settings(text, dataset)
    costs = measure_candidates(base, candidates)
    if seconds is None:
        n_specifications, n_realisations = _SIZES[2]
        wanted = _seconds(costs[:n_specifications], n_realisations, GOOD_STEPS)
        low, high = DEFAULT_SECONDS
        at_once = _at_once(_SIZES[2], n_workers)
        seconds = min(max(wanted / at_once / SHARE + FIXED_SECONDS, low), high)
    size, steps = _fit(costs, (seconds - FIXED_SECONDS) * SHARE, n_workers)
    n_specifications, n_realisations = size
    at_once = _at_once(size, n_workers)
    if steps < FEWEST_STEPS:
        needed = _seconds(costs[:n_specifications], n_realisations, FEWEST_STEPS)
        least = needed / at_once / SHARE + FIXED_SECONDS
        raise ValueError(
            f"discover: expected a budget of at least {in_words(least)} for these data "
            f"on {n_workers} cores, got {in_words(seconds)}."
        )
    chosen = candidates[:n_specifications]
    plain = base | {
        "training": base["training"] | {"steps": steps},
        "methods": _methods(chosen),
        "seeds": list(range(seed, seed + n_realisations)),
    }
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=_seconds(costs[:n_specifications], n_realisations, steps) / at_once,
        n_specifications=n_specifications,
        n_realisations=n_realisations,
        steps=steps,
    )


def _candidates(dataset: AbstractDataset) -> list[tuple[str, Plain]]:
    """Objectives and strengths, in the order in which they are worth trying.

    Reconstruction is summed over pixels: images with fewer of them need less of
    everything that stands against it.
    """
    unit = unit_strength(dataset)
    return [
        ("beta_vae", {"beta": 4 * unit}),
        ("dip_vae", {"kind": "ii", "lambda_off_diagonal": 10.0}),
        ("beta_tc_vae", {"beta": 2 * unit}),
        ("factor_vae", {"gamma": 10.0, "discriminator_width": 128}),
        ("beta_vae", {"beta": 2 * unit}),
        ("beta_tc_vae", {"beta": 4 * unit}),
        ("beta_vae", {"beta": unit}),
        ("dip_vae", {"kind": "ii", "lambda_off_diagonal": 20.0}),
        ("factor_vae", {"gamma": 20.0, "discriminator_width": 128}),
        ("beta_vae", {"beta": 8 * unit}),
    ]


def unit_strength(dataset: AbstractDataset) -> float:
    """What 1 is for images of 16x16 pixels."""
    n_pixels = math.prod(dataset.image_shape[-2:])
    return min(max(math.sqrt(n_pixels) / 16, 0.25), 4.0)


def base_settings(text: str, dataset: AbstractDataset) -> Plain:
    """What all runs share."""
    n_numbers = math.prod(dataset.image_shape)
    plain = {
        "name": "discovery",
        "data": text,
        "network": _network(n_numbers),
        "training": {
            "n_latents": N_LATENTS,
            "batch_size": 64,
            "learning_rate": 1e-3 if n_numbers <= _SMALL else 5e-4,
        },
        "evaluation": {
            "metrics": ["mig"] if _has_usable_labels(dataset) else ["active_units"],
            "rows": _ROWS_SCORED,
        },
    }
    spec = RunSpec.read({key: plain[key] for key in plain if key != "name"}, "discover")
    model = TrainingState.create(spec.training_spec(dataset), device="cpu").model
    layer = last_layer_within(model, _TRACED_UNITS)
    traces = {"n_observations": 64, "n_snapshots": 20, "layer": layer}
    return plain | {"traces": traces}


def _has_usable_labels(dataset: AbstractDataset) -> bool:
    """Whether every factor is known and varies; others are no use to show a score."""
    factors = dataset.factors(np.arange(min(len(dataset), _LABELS_LOOKED_AT)))
    if factors is None:
        return False
    known = np.asarray(factors, dtype=np.float64)
    return bool(np.isfinite(known).all() and (np.ptp(known, axis=0) > 0).all())


def _network(n_numbers: int) -> Plain:
    """Dense for small images, ten times as fast there as a convolutional one."""
    if n_numbers > _SMALL:
        return {"name": "auto"}
    width = 128 if n_numbers <= _SMALL // 4 else 256
    return {"name": "dense", "widths": [width, width]}


def measure_candidates(
    base: Plain, candidates: Sequence[tuple[str, Plain]]
) -> list[Cost]:
    """Cost of a run of each candidate; each objective is timed once."""
    shared = {key: value for key, value in base.items() if key != "name"}
    found: dict[str, Cost] = {}
    for name, options in candidates:
        if name not in found:
            objective = {"name": name, **options}
            spec = RunSpec.read({**shared, "objective": objective}, "discover")
            found[name] = measure_run(spec)
    return [found[name] for name, _ in candidates]


def _seconds(costs: Sequence[Cost], n_realisations: int, steps: int) -> float:
    """Of one core, for all runs."""
    return n_realisations * sum(cost.per_step * steps + cost.fixed for cost in costs)


def _at_once(size: tuple[int, int], n_workers: int) -> float:
    """Runs at once on average: no more than there are, and fewer in the last round."""
    n_runs = math.prod(size)
    return n_runs / math.ceil(n_runs / n_workers)


def _fit(
    costs: Sequence[Cost], time: float, n_workers: int
) -> tuple[tuple[int, int], int]:
    """The largest plan whose runs are long enough, and how long they are."""
    plans = [
        (size, _steps(costs, size, time * _at_once(size, n_workers))) for size in _SIZES
    ]
    good = (plan for plan in plans if plan[1] >= GOOD_STEPS)
    size, steps = next(good, plans[-1])
    # Whole hundreds, so that a plan reads well.
    return size, min(steps // 100 * 100, MOST_STEPS)


def _steps(costs: Sequence[Cost], size: tuple[int, int], time: float) -> int:
    """Of each run, so that all of them take this time of one core."""
    n_specifications, n_realisations = size
    own = costs[:n_specifications]
    fixed = _seconds(own, n_realisations, 0)
    per_step = _seconds(own, n_realisations, 1) - fixed
    return int((time - fixed) / per_step)


def _methods(candidates: Sequence[tuple[str, Plain]]) -> Plain:
    """As a study file has them: lists of the values that are swept."""
    methods: dict[str, dict[str, Any]] = {}
    for name, options in candidates:
        known = methods.setdefault(name, {})
        for key, value in options.items():
            if key == STRENGTHS[name]:
                known.setdefault(key, []).append(value)
            else:
                known[key] = value
    return {
        name: {k: sorted(v) if isinstance(v, list) else v for k, v in options.items()}
        for name, options in methods.items()
    }
