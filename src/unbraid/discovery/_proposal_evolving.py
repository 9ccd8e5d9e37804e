"""Populations that fit into a given time, in place of runs on their own."""

import math
from typing import Any, Literal

from unbraid.data import AbstractDataset, DataSpec
from unbraid.evolution import STAGES_OF_A_LEAF
from unbraid.studies import study_from_plain

from ._budget import Limits, training_time
from ._proposal import (
    Plain,
    Proposal,
    base_settings,
    choose_strengths,
    measure_candidate,
)
from ._strength import bearable_strength

Bred = Literal["pbt", "recursive"]

FEWEST_STEPS, GOOD_STEPS, MOST_STEPS = 1_000, 3_000, 30_000
_MODELS, _GENERATIONS, _FINAL_SIZE = 5, 10, 8
# Populations, members, and leaf runs of each, from much time to little.
_SIZES = ((3, 10, 3), (3, 8, 2), (3, 6, 2), (3, 5, 1), (3, 4, 1), (2, 4, 1))
_DEFAULT_SIZE = _SIZES[3]
_WEAKEST = 0.25
"""Weakest strength of the first generation relative to the best one of a race. The
first generation has up to eight times as much: 0.15 to 1.2 times what the data can
bear, which are strengths of races too. No strength changes during a run, because
populations change it themselves."""
_STRETCH_SECONDS = 0.15
"""For a model to be made, read, encoded with and written, once a generation."""


def propose_evolution(
    method: Bred,
    data: DataSpec | str,
    dataset: AbstractDataset,
    limits: Limits,
) -> Proposal:
    """Plan two or three equal populations that fit into the time.

    There are several, because their agreement tells how sure the result is.

    Args:
        method: ``"pbt"``: populations scored by agreement (PBT-U-VAE). ``"recursive"``:
            rPU-VAE.
        data: Name or path and options of the data, as workers open them.
        dataset: The same data, opened.
        limits: Time and machine of the discovery.

    Raises:
        ValueError: If the time is too short for anything.
    """
    base = base_settings(data, dataset, limits.n_latents)
    del base["traces"]
    (unit,) = choose_strengths(_WEAKEST * bearable_strength(dataset), 1)
    objective: Plain = {"name": "beta_tc_vae", "beta": unit}
    per_step = measure_candidate(base, objective, limits).per_step
    seed, n_workers = limits.seed, limits.n_workers
    seconds = limits.choose_seconds(
        _seconds(method, _DEFAULT_SIZE, GOOD_STEPS, per_step, n_workers)
    )
    time = training_time(seconds)
    plans = [(size, _steps(method, size, time, per_step, n_workers)) for size in _SIZES]
    size, steps = next((plan for plan in plans if plan[1] >= GOOD_STEPS), plans[-1])
    if steps < FEWEST_STEPS:
        least = _seconds(method, size, FEWEST_STEPS, per_step, n_workers)
        raise limits.refuse(seconds, least)
    steps = min(steps // 100 * 100, MOST_STEPS)
    rate = base["training"]["learning_rate"]
    plain = base | {
        "objective": objective,
        "evolution": _evolution(method, size, steps, unit=unit, rate=rate),
        "seeds": list(range(seed, seed + size[0])),
    }
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=_seconds(method, size, steps, per_step, n_workers),
    )


def _evolution(
    method: Bred,
    size: tuple[int, int, int],
    steps: int,
    *,
    unit: float,
    rate: float,
) -> Plain:
    _, n_members, leaf_runs = size
    images = 64 * steps // _GENERATIONS
    ranges: dict[str, Any] = {
        "training.batch_size": {
            "values": [32, 64, 128, 256],
            "most": 512,
            "whole": True,
        },
        "training.learning_rate": {
            "values": [rate / 2, rate, 2 * rate],
            "least": rate / 8,
            "most": 8 * rate,
        },
        "objective.beta": {
            "values": [unit, 2 * unit, 4 * unit, 8 * unit],
            "least": unit / 4,
            "most": 32 * unit,
        },
    }
    population = {
        "size": n_members,
        "models": _MODELS,
        "generations": _GENERATIONS,
        "images": images,
        "patience": 4,
        "ranges": ranges,
    }
    if method == "pbt":
        return {"method": "unsupervised", "population": population}
    final = {"size": _FINAL_SIZE, "generations": _GENERATIONS, "images": images}
    # A factor of few values has less than one nat to tell.
    recursion = {"leaf_runs": leaf_runs, "active": 0.5}
    return {
        "method": "recursive",
        "population": population,
        "final": final,
        "recursion": recursion,
    }


def _n_models(method: Bred, size: tuple[int, int, int]) -> int:
    """Trained from beginning to end, by one population with its stages."""
    _, n_members, leaf_runs = size
    if method == "pbt":
        return n_members * _MODELS
    n_stages = 1 + STAGES_OF_A_LEAF * leaf_runs
    return n_stages * n_members * _MODELS + _FINAL_SIZE


def _rounds(size: tuple[int, int, int], n_workers: int) -> int:
    return math.ceil(size[0] / n_workers)


def _seconds(
    method: Bred,
    size: tuple[int, int, int],
    steps: int,
    per_step: float,
    n_workers: int,
) -> float:
    one = steps * per_step + _GENERATIONS * _STRETCH_SECONDS
    return _rounds(size, n_workers) * _n_models(method, size) * one


def _steps(
    method: Bred,
    size: tuple[int, int, int],
    time: float,
    per_step: float,
    n_workers: int,
) -> int:
    """Of each model, so that all of it takes this time."""
    one = time / (_rounds(size, n_workers) * _n_models(method, size))
    return int((one - _GENERATIONS * _STRETCH_SECONDS) / per_step)
