"""A study: settings that all runs share, and settings that vary between them."""

import copy
import itertools
import json
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any

import pydantic

from unbraid.foundation import Section

from ._specification import RunSpec

FORMAT = 1
MOST_RUNS = 100_000

Plain = dict[str, Any]
Values = Annotated[list[Any], pydantic.Field(min_length=1)]
Axes = dict[str, Values]


class Sweep(Section):
    """Settings that vary: every combination of their values is a run.

    Attributes:
        methods: Objectives by name, each with its hyperparameters: a list is swept, a
            single value is kept.
        grid: Lists of values by dotted path (``training.n_latents``), in every
            combination.
        zip: Groups of lists by dotted path; the values of a group vary together.
        seeds: Number of seeds, counted from 0; or a list of seeds.
    """

    methods: dict[str, Plain | None] = {}
    grid: Axes = {}
    zip: list[Axes] = []
    seeds: Annotated[int, pydantic.Field(ge=1)] | Values = 1

    @pydantic.field_validator("zip")
    @classmethod
    def _in_step(cls, groups: list[Axes]) -> list[Axes]:
        for group in groups:
            lengths = {path: len(values) for path, values in group.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(f"lists must have the same length, got {lengths}.")
        return groups

    @pydantic.field_validator("methods")
    @classmethod
    def _swept(cls, methods: dict[str, Plain | None]) -> dict[str, Plain | None]:
        for name, options in methods.items():
            if [] in (options or {}).values():
                raise ValueError(f"{name}: a list of values is empty.")
        return methods

    @property
    def n_runs(self) -> int:
        """Number of runs, without making any."""
        n_methods = sum(_n_cells(options or {}) for options in self.methods.values())
        lengths = [len(values) for values in self.grid.values()]
        lengths += [len(next(iter(group.values()))) for group in self.zip if group]
        n_seeds = self.seeds if isinstance(self.seeds, int) else len(self.seeds)
        return max(n_methods, 1) * math.prod(lengths) * n_seeds

    @property
    def seed_list(self) -> list[Any]:
        """Seeds of the runs."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


class Study(Section):
    """A study: shared settings and a sweep, both as plain data.

    Attributes:
        name: Name of the study, for tables.
        base: Settings of :class:`RunSpec` that all runs share.
        sweep: Settings that vary.
    """

    name: str
    base: Plain
    sweep: Sweep

    def to_plain(self) -> Plain:
        """Return the content of a file that gives the same study."""
        return {
            "format": FORMAT,
            "name": self.name,
            **self.base,
            **self.sweep.model_dump(mode="json", exclude_defaults=True),
        }

    def runs(self) -> list[RunSpec]:
        """Return every run once, in the order of the file.

        Raises:
            ValueError: If the settings of a run are wrong.
        """
        return list(self._runs)

    @cached_property
    def _runs(self) -> list[RunSpec]:
        if self.sweep.n_runs > MOST_RUNS:
            raise ValueError(
                f"{self.name}: a study has at most {MOST_RUNS:,} runs, got "
                f"{self.sweep.n_runs:,}. Split the study."
            )
        found = {}
        for cell in _cells(self.base, self.sweep):
            spec = RunSpec.read(cell, self.name)
            found.setdefault(json.dumps(spec.to_plain()), spec)
        return list(found.values())


def _cells(base: Plain, sweep: Sweep) -> Iterator[Plain]:
    """Yield the plain data of every run."""
    axes = [
        [{path: value} for value in values] for path, values in sweep.grid.items()
    ] + [
        [
            dict(zip(group, values, strict=True))
            for values in zip(*group.values(), strict=True)
        ]
        for group in sweep.zip
        if group
    ]
    objectives = [
        {"objective": {"name": name, **options}}
        for name, wanted in sweep.methods.items()
        for options in _product(wanted or {})
    ] or [{}]
    seeds = [{"seed": seed} for seed in sweep.seed_list]
    for parts in itertools.product(objectives, *axes, seeds):
        cell = copy.deepcopy(base)
        for part in parts:
            for path, value in part.items():
                _set(cell, path, value)
        yield cell


def _product(options: Plain) -> Iterator[Plain]:
    lists = [
        value if isinstance(value, list) else [value] for value in options.values()
    ]
    for values in itertools.product(*lists):
        yield dict(zip(options, values, strict=True))


def _n_cells(options: Plain) -> int:
    return math.prod(
        len(value) for value in options.values() if isinstance(value, list)
    )


def _set(cell: Plain, path: str, value: Any) -> None:
    *folders, last = path.split(".")
    for name in folders:
        inside = cell.get(name)
        # A bare name stands for a record of that name.
        inside = {"name": inside} if isinstance(inside, str) else inside
        if name == "objective" and inside is None:
            inside = {"name": "beta_vae"}
        cell[name] = dict(inside or {})
        cell = cell[name]
    cell[last] = copy.deepcopy(value)
