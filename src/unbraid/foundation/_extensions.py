"""Objectives, metrics and datasets of other packages and of the user's own files.

A package offers something by one line in its ``pyproject.toml``, such as::

    [project.entry-points."unbraid.objectives"]
    steady_vae = "their_package.steady_vae:SteadyVAE"

Without a package, the name of a file does: ``mine.py:SteadyVAE``.
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

from ._errors import MissingExtraError
from ._own_files import is_file_name, load_from_file

T = TypeVar("T")

# Without a handler, Python writes warnings of loggers to the standard error, bare.
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Extension(Generic[T]):
    """Object that a package offers under a name.

    Attributes:
        name: Name of the entry point.
        package: Name and version of the package.
        value: The object, or ``None`` if it cannot be used.
        fault: Why it cannot be used, as a sentence; empty if it can.
    """

    name: str
    package: str
    value: T | None
    fault: str = ""


class Catalog(Mapping[str, T]):
    """Mapping from names to built-in objects and to those of other packages.

    Packages are searched when a name is not built in, and when all names are listed.
    An object that cannot be used causes one warning and is not listed; looking it up
    raises an error with the reason. A name such as ``mine.py:LogVAE`` is looked up in
    that file, and listed from then on with the whole path of the file.

    Args:
        built_in: Built-in objects by name; packages cannot replace them.
        group: Group of the entry points, such as ``"unbraid.objectives"``.
        read: Converts what a package offers, or raises ``ValueError`` with the reason
            why it cannot be used.
        taken: Reserved names, which packages cannot use.

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
        self._from_files: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self.built_in:
            return self.built_in[name]
        if is_file_name(name):
            whole_name, offered = load_from_file(name)
            if whole_name not in self._from_files:
                try:
                    self._from_files[whole_name] = self._read(offered)
                except ValueError as error:
                    raise ValueError(f"{name} cannot be used: {error}.") from error
            return self._from_files[whole_name]
        extension = self._by_name[name]
        if extension.value is None:
            raise ValueError(extension.fault)
        return extension.value

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or is_file_name(name) or name in self._by_name

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self._from_files
        for name, extension in self._by_name.items():
            if not extension.fault:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @cached_property
    def extensions(self) -> tuple[Extension[T], ...]:
        """Everything that packages offer, sorted by package, usable or not."""
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
                raise ValueError(
                    "its name must consist of letters, digits and underscores"
                )
            if {offer.name} & (self.built_in.keys() | self._taken | set(others)):
                raise ValueError("its name is taken")
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
    """Mapping from names to the contents of all packages of a group.

    An entry point of the group names a package, such as a folder of files, with any
    number of items. Packages are read at the first lookup. If two items have the same
    name, the one of the alphabetically first package is used.

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
    """View of several mappings as one; the first that has a name wins.

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
    """Return a function that accepts concrete subclasses of a class."""

    def read(offered: Any) -> type[T]:
        name = parent.__name__
        if not isinstance(offered, type) or not issubclass(offered, parent):
            raise ValueError(f"{offered!r} is not a subclass of {name}")
        missing = sorted(getattr(offered, "__abstractmethods__", ()))
        if missing:
            raise ValueError(f"it does not implement {', '.join(missing)} of {name}")
        return offered

    return read


def _package(offer: EntryPoint) -> str:
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist else "without a name"


def import_extra(module: str, extra: str, *, feature: str = "loggers") -> Any:
    """Import an optional dependency, or say how to install it.

    Args:
        module: Module to import.
        extra: Extra of unbraid that installs it.
        feature: Feature that needs it, for the message.

    Raises:
        MissingExtraError: If it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{feature}: an optional package is missing ({error}). Run: "
            f"pip install 'unbraid[{extra}]'"
        ) from error
