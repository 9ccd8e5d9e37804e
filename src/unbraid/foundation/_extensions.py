"""What other packages bring: objectives, metrics and datasets, found by entry points.

A package offers something by one line in its ``pyproject.toml``, such as::

    [project.entry-points."unbraid.objectives"]
    steady_vae = "their_package.steady_vae:SteadyVAE"
"""

import logging
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# Without a handler, Python writes warnings of loggers to the standard error, bare.
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Extension(Generic[T]):
    """What a package offers under a name.

    Attributes:
        name: Of the entry point.
        package: Which offers it, with its version.
        value: What is there, or ``None`` if it cannot be used.
        fault: Why it cannot be used, as a sentence; empty if it can.
    """

    name: str
    package: str
    value: T | None
    fault: str = ""


class Catalog(Mapping[str, T]):
    """Everything of a kind by name: what is built in, and what packages bring.

    Packages are looked at when a name is asked for that is not built in, and at the
    end of a list of all names. What cannot be used is told once, as a warning, and is
    not listed; but it is known: to ask for it raises an error with the reason.

    Args:
        built_in: By name; no package takes these names away.
        group: Of the entry points, such as ``"unbraid.objectives"``.
        read: Makes an entry of what a package offers, or raises ``ValueError`` with
            what was expected.
        taken: Names that mean something else.

    Example:
        >>> letters = Catalog({"a": 1}, group="an.empty.group", read=int)
        >>> letters["a"], list(letters), "b" in letters
        (1, ['a'], False)
    """

    def __init__(
        self,
        built_in: Mapping[str, T],
        *,
        group: str,
        read: Callable[[Any], T],
        taken: Collection[str] = (),
    ) -> None:
        self.built_in = dict(built_in)
        self.group = group
        self._read = read
        self._taken = frozenset(taken)

    def __getitem__(self, name: str) -> T:
        if name in self.built_in:
            return self.built_in[name]
        extension = self._by_name[name]
        if extension.value is None:
            raise ValueError(extension.fault)
        return extension.value

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self._by_name

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        for name, extension in self._by_name.items():
            if not extension.fault:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @cached_property
    def extensions(self) -> tuple[Extension[T], ...]:
        """All that packages offer, sorted by package, with what cannot be used."""
        found: list[Extension[T]] = []
        offers = entry_points(group=self.group)
        for offer in sorted(offers, key=lambda offer: (_package(offer), offer.name)):
            extension = self._load(offer, {other.name for other in found})
            if extension.fault:
                _log.warning("%s", extension.fault)
            found.append(extension)
        return tuple(found)

    @cached_property
    def _by_name(self) -> dict[str, Extension[T]]:
        kept: dict[str, Extension[T]] = {}
        for extension in self.extensions:
            if extension.name not in self.built_in:
                kept.setdefault(extension.name, extension)
        return kept

    def _load(self, offer: EntryPoint, others: Collection[str]) -> Extension[T]:
        package = _package(offer)
        try:
            if not offer.name.isidentifier():
                raise ValueError("expected a name of letters, digits and underscores")
            if {offer.name} & (self.built_in.keys() | self._taken | set(others)):
                raise ValueError("the name is taken")
            return Extension(offer.name, package, self._read(offer.load()))
        except (Exception, SystemExit) as error:  # their code may raise anything
            kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
            reason = " ".join(f"{kind}{error}".split()).rstrip(".: ")
            fault = (
                f"{self.group}: {offer.name!r} of the package {package} cannot be "
                f"used: {reason}."
            )
            return Extension(offer.name, package, None, fault)


class PackageCatalog(Mapping[str, T]):
    """Everything that packages of a group hold, by name.

    An entry point of the group names a package, such as a folder of files, which holds
    any number of things. Packages are looked at when a name is first asked for. Of two
    things with the same name, that of the first package in the alphabet is kept.

    Args:
        group: Group of the entry points, such as ``"unbraid.presets"``.
        read: Returns the contents of a package by name, or raises ``ValueError``.

    Example:
        >>> list(PackageCatalog("an.empty.group", vars))
        []
    """

    def __init__(
        self, group: str, read: Callable[[ModuleType], Mapping[str, T]]
    ) -> None:
        def read_package(offered: Any) -> Mapping[str, T]:
            if not isinstance(offered, ModuleType) or not hasattr(offered, "__path__"):
                raise ValueError(f"{offered!r} is not a package")
            return read(offered)

        self._packages = Catalog({}, group=group, read=read_package)

    @cached_property
    def _by_name(self) -> dict[str, T]:
        return dict(ChainMap(*(dict(held) for held in self._packages.values())))

    def __getitem__(self, name: str) -> T:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


class Joined(Mapping[str, T]):
    """Several tables as one, looked up in turn and never copied.

    Example:
        >>> Joined({"a": 1}, {"a": 2, "b": 3})["a"]
        1
    """

    def __init__(self, *tables: Mapping[str, T]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> T:
        for table in self._tables:
            if name in table:
                return table[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self._tables)

    def __iter__(self) -> Iterator[str]:
        seen = set()
        for table in self._tables:
            for name in table:
                if name not in seen:
                    seen.add(name)
                    yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def class_reader(parent: type[T]) -> Callable[[Any], type[T]]:
    """A reader for classes that can be made, of one family."""

    def read(offered: Any) -> type[T]:
        name = parent.__name__
        if not isinstance(offered, type) or not issubclass(offered, parent):
            raise ValueError(f"expected a subclass of {name}, got {offered!r}")
        missing = sorted(getattr(offered, "__abstractmethods__", ()))
        if missing:
            raise ValueError(
                f"expected all methods of {name}, got none for {', '.join(missing)}"
            )
        return offered

    return read


def _package(offer: EntryPoint) -> str:
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist else "without a name"


def import_extra(module: str, extra: str, *, who: str = "loggers") -> Any:
    """A package that is not always installed, or an error with the line that helps."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{who}: expected {extra} to be installed, got {error}. Run: "
            f"pip install 'unbraid[{extra}]'"
        ) from error
