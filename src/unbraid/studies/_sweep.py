"""A study file: settings that all runs share, and what is varied between them."""

import copy
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import pydantic

from unbraid.foundation import (
    MAX_CHARACTERS,
    NewerFormatError,
    Section,
    naming,
    read_text,
    read_yaml,
    suggest,
)

from ._presets import preset
from ._specification import RunSpec

FORMAT = 1
MOST_RUNS = 100_000

Plain = dict[str, Any]
Values = Annotated[list[Any], pydantic.Field(min_length=1)]
Axes = dict[str, Values]


class Sweep(Section):
    """What is varied: every combination of all of these is a run.

    Attributes:
        methods: Objectives by name, each with its hyperparameters: a list is swept, a
            single value is kept.
        grid: Lists of values by dotted path (``training.n_latents``), in every
            combination.
        zip: Groups of lists that go in step.
        seeds: How many, from 0 on; or which.
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
                raise ValueError(f"expected lists of one length, got {lengths}.")
        return groups

    @pydantic.field_validator("methods")
    @classmethod
    def _swept(cls, methods: dict[str, Plain | None]) -> dict[str, Plain | None]:
        for name, options in methods.items():
            if [] in (options or {}).values():
                raise ValueError(f"{name}: expected lists of values, got an empty one.")
        return methods

    @property
    def n_runs(self) -> int:
        """Runs of the study, before any is made."""
        n_methods = sum(_n_cells(options or {}) for options in self.methods.values())
        lengths = [len(values) for values in self.grid.values()]
        lengths += [len(next(iter(group.values()))) for group in self.zip if group]
        n_seeds = self.seeds if isinstance(self.seeds, int) else len(self.seeds)
        return max(n_methods, 1) * math.prod(lengths) * n_seeds

    @property
    def seed_list(self) -> list[Any]:
        """The seeds."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds


class Study(Section):
    """A study: shared settings and a sweep, both as plain data.

    Attributes:
        name: Short, for tables.
        base: Settings of :class:`RunSpec` that all runs share.
        sweep: What is varied.
    """

    name: str
    base: Plain
    sweep: Sweep

    def to_plain(self) -> Plain:
        """As the file that would give the same study."""
        return {
            "format": FORMAT,
            "name": self.name,
            **self.base,
            **self.sweep.model_dump(mode="json", exclude_defaults=True),
        }

    def runs(self) -> list[RunSpec]:
        """Every run, in the order of the file, each once.

        Raises:
            ValueError: If the settings of a run are wrong; says which.
        """
        return list(self._runs)

    @cached_property
    def _runs(self) -> list[RunSpec]:
        if self.sweep.n_runs > MOST_RUNS:
            raise ValueError(
                f"{self.name}: expected at most {MOST_RUNS:,} runs, got "
                f"{self.sweep.n_runs:,}. Split the study."
            )
        found = {}
        for cell in _cells(self.base, self.sweep):
            spec = RunSpec.read(cell, self.name)
            found.setdefault(json.dumps(spec.to_plain()), spec)
        return list(found.values())


def read_study(path: str | Path) -> Study:
    """The study that a YAML file describes.

    Raises:
        ValueError: If the file is not one; says what is wrong in one sentence.
        OSError: If it cannot be read.
    """
    path = Path(path)
    text = read_text(path, most_bytes=4 * MAX_CHARACTERS)
    return study_from_plain(read_yaml(text, str(path)), str(path))


def study_from_plain(data: Any, where: str = "study") -> Study:
    """A study from plain data.

    Args:
        data: Keys of :class:`RunSpec`, which all runs share; keys of :class:`Sweep`;
            ``name``, ``format``; and ``preset`` with ``scale``, of which the rest
            overrides the parts that it names.
        where: It comes from, for errors.

    Example:
        >>> plain = {"data": "xy_squares", "grid": {"objective.beta": [1, 4]}}
        >>> [spec.objective["beta"] for spec in study_from_plain(plain).runs()]
        [1, 4]
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where}: expected keys with values, got {data!r:.80}.")
    given = dict(data)
    found = given.pop("format", FORMAT)
    if isinstance(found, int) and found > FORMAT:
        raise NewerFormatError(
            f"{where}: expected format {FORMAT}, got {found}. Update unbraid to read "
            "it."
        )
    if found != FORMAT:
        raise ValueError(f"{where}: expected format {FORMAT}, got {found!r}.")
    name, scale = given.pop("preset", None), given.pop("scale", None)
    if name is not None:
        with naming(where):
            published = preset(name, scale or "mini")
        given = _merged(published, given)
    elif scale is not None:
        raise ValueError(
            f"{where}: expected a preset for the scale {scale!r}, got none."
        )
    shared, swept = set(RunSpec.model_fields) - {"seed"}, set(Sweep.model_fields)
    known = ["name", "preset", "scale", *sorted(shared | swept)]
    for key in given:
        if key not in known:
            raise ValueError(
                f"{where}: expected keys among {', '.join(known)}, got {key!r}."
                f"{suggest(str(key), known)}"
            )
    sweep = Sweep.read({key: given[key] for key in swept & set(given)}, where)
    base = {key: value for key, value in given.items() if key in shared}
    if sweep.methods and "objective" in base:
        raise ValueError(f"{where}: expected methods or an objective, got both.")
    title = str(given.get("name") or Path(where).stem)
    return Study.read({"name": title, "base": base, "sweep": sweep}, where)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Plain:
    """One over the other; settings in both are merged, except what names a record."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if key in ("training", "evaluation") and isinstance(old, Mapping):
            value = {**old, **value} if isinstance(value, Mapping) else value
        if key in ("methods", "objective"):  # one takes the place of the other
            merged.pop("methods", None)
            merged.pop("objective", None)
        merged[key] = value
    return merged


def _cells(base: Plain, sweep: Sweep) -> Iterator[Plain]:
    """Plain data of every run."""
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
