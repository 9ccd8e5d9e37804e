"""Studies that claims are measured on: published sweeps at three sizes.

``mini`` is the small version of a sweep, with as many seeds as a laptop trains within
an hour. ``smoke`` trains only the first and last values for a few steps, to test the
code, on two datasets if the published sweep has several. ``paper`` is the sweep as
published.
"""

import json
from collections.abc import Callable
from typing import Any

from unbraid.studies import PRESETS as SWEEPS
from unbraid.studies import preset as sweep

from ._claim import Preset, require_preset
from ._michlo_studies import MICHLO_STUDIES, QUICK_METRICS
from ._training_studies import OWN_STUDIES

Plain = dict[str, Any]

# Number of seeds of the size "mini", where it differs from the sweep.
_MINI_SEEDS = {
    "estermann-2020-fig4-plain": 2,
    "holtz-2022": 10,
    "michlo-2022-a3-1": 2,
    "michlo-2022-a3-2": 3,
    "michlo-2022-a4": 2,
    "michlo-2022-a5-1": 2,
    "michlo-2022-a5-2": 2,
    "michlo-2022-a5-3": 3,
    "michlo-2022-a7-1": 3,
    "michlo-2022-a7-2": 3,
}

# Betas of the size "mini", where fewer than those of the sweep are enough.
_MINI_BETAS = {
    "michlo-2022-a3-2": [0.00316],
    "michlo-2022-a4": [0.0001, 0.01, 1.0],
    "michlo-2022-a7-1": [0.001, 0.01],
}

_SMALL_ROOM = (
    "room3d:image_size=16,n_floor_hues=3,n_wall_hues=3,n_object_hues=3,n_scales=3,"
    "n_orientations=2"
)

# Second datasets of the smallest studies, as claims must not mix data. No two studies
# that a claim joins have one in common.
_SMOKE_SECOND_DATA = {
    "dlib-2019": "sprites2d:image_size=16,n_scales=2,n_orientations=2,n_positions=3",
    "estermann-2020-fig4": _SMALL_ROOM,
    "estermann-2020-fig4-plain": _SMALL_ROOM,
    "estermann-2020-fig5": _SMALL_ROOM,
    "estermann-2020-fig6": _SMALL_ROOM,
}

_SMOKE_STEPS, _SMOKE_ROWS = 20, 150


def _published(name: str) -> Callable[[Preset], Plain]:
    def make(preset: Preset) -> Plain:
        if preset == "paper":
            return sweep(name, "paper")
        plain = sweep(name, "mini")
        plain["seeds"] = _MINI_SEEDS.get(name, plain.get("seeds", 1))
        if name in _MINI_BETAS:
            for options in plain["methods"].values():
                options["beta"] = _MINI_BETAS[name]
        if preset == "smoke" and name in _SMOKE_SECOND_DATA:
            plain["grid"]["data"] = [*plain["grid"]["data"], _SMOKE_SECOND_DATA[name]]
        if preset == "smoke" and name.startswith("michlo"):
            plain["evaluation"]["metrics"] = list(QUICK_METRICS)
        return plain

    return make


STUDIES: dict[str, Callable[[Preset], Plain]] = {
    **{name: _published(name) for name in SWEEPS},
    **OWN_STUDIES,
    **MICHLO_STUDIES,
}
"""Studies by name, as functions from the preset to the data of a study file."""


def study_of(name: str, preset: Preset) -> Plain:
    """Return a study at the size of a preset, as the data of a study file.

    Args:
        name: Name of the study, a key of ``STUDIES``.
        preset: Size of the study: ``"smoke"``, ``"mini"`` or ``"paper"``.

    Example:
        >>> study_of("holtz-2022", "smoke")["training"]["steps"]
        20
    """
    require_preset(preset)
    plain = STUDIES[name](preset)
    if preset == "smoke":
        plain = _shrink(plain)
    return {**plain, "name": f"{name}-{preset}"}


def _shrink(plain: Plain) -> Plain:
    """Return the same study with few and short runs, to test the code."""
    small = json.loads(json.dumps(plain))
    small["seeds"] = 2
    small["training"]["steps"] = _SMOKE_STEPS
    small["evaluation"]["rows"] = _SMOKE_ROWS
    # Wider than the codes, because otherwise latents would be linearly dependent.
    small["network"] = {"name": "dense", "widths": [24]}
    methods = small.get("methods", {})
    for name in list(methods)[1:-1]:
        del methods[name]
    for options in methods.values():
        options.update({name: _ends(value) for name, value in options.items()})
        if "discriminator_width" in options:
            options["discriminator_width"] = 8
    grid = small.get("grid", {})
    grid.update({path: _ends(values) for path, values in grid.items()})
    if "training.steps" in grid:
        grid["training.steps"] = [_SMOKE_STEPS // 2, _SMOKE_STEPS]
    for group in small.get("zip", []):
        group.update({path: _ends(values) for path, values in group.items()})
    for evolution in [small.get("evolution", {}), *grid.get("evolution", [])]:
        for part in ("population", "final"):
            if part in evolution:
                _shrink_population(evolution[part])
    if "recursion" in small.get("evolution", {}):
        # Continue the recursion even if next to nothing was learned.
        anything = {"active": 1e-6, "least_agreement": 0.0, "most_stages": 1}
        small["evolution"]["recursion"] |= anything
    if "traces" in small:
        small["traces"].update(n_observations=16, n_snapshots=4)
    return small


def _shrink_population(population: Plain) -> None:
    least = {"size": 2, "generations": 2, "images": 256, "patience": 1}
    for name, value in least.items():
        if name in population:
            population[name] = min(value, population[name])


def _ends(values: Any) -> Any:
    """Return the first and last element of a list; other values unchanged."""
    return (
        [values[0], values[-1]] if isinstance(values, list) and values[1:] else values
    )
