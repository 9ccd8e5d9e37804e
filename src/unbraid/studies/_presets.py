"""Published sweeps by name: study files that installed packages bring.

A package offers all sweeps of a folder by one line in its ``pyproject.toml``, which
names the folder as a package::

    [project.entry-points."unbraid.presets"]
    theirs = "their_package.presets"

Each ``NAME.yaml`` in it is a study file of the sweep as published, with three
more keys: ``about``, one sentence; ``scales``, what smaller versions change; and
``preset``, another file of the folder to start from. Changes are merged as in a JSON
merge patch: mappings key by key, ``null`` deletes a key, anything else is replaced.
Files whose names begin with an underscore are only there to start from.
"""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType
from typing import Any

from unbraid.foundation import PackageCatalog, read_yaml

Plain = dict[str, Any]

_PAPER = "paper"


@dataclass(frozen=True)
class Preset:
    """A published sweep, at one or several scales.

    Attributes:
        name: Name of the sweep.
        folder: Folder of its file.
    """

    name: str
    folder: Traversable

    @cached_property
    def _layers(self) -> list[Plain]:
        """Contents of the files that it is made of, the one to start from first."""
        file = self.folder / f"{self.name}.yaml"
        layer = read_yaml(file.read_text(encoding="utf-8"), f"preset {self.name}")
        base = layer.pop("preset", None)
        return [*(Preset(base, self.folder)._layers if base else ()), layer]

    @property
    def about(self) -> str:
        """What is compared, in one sentence."""
        return self._layers[-1].get("about", "")

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales, the published one last."""
        smaller = {scale: None for layer in self._layers for scale in _changes(layer)}
        return (*smaller, _PAPER)

    def at(self, scale: str) -> Plain:
        """Return the plain data of a study file, read from the files each time."""
        parts = [
            *(_without(layer, "about", "scales") for layer in self._layers),
            *(_changes(layer).get(scale, {}) for layer in self._layers),
        ]
        plain = {"name": f"{self.name}-{scale}", **reduce(_patched, parts, {})}
        # By way of text, so that no two parts of it are the same object.
        return json.loads(json.dumps(plain))


def _without(layer: Plain, *names: str) -> Plain:
    return {key: value for key, value in layer.items() if key not in names}


def _changes(layer: Plain) -> Plain:
    return layer.get("scales", {})


def _patched(below: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    patched = dict(below) if isinstance(below, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            patched.pop(key, None)
        else:
            patched[key] = _patched(patched.get(key), value)
    return patched


def _presets_of(package: ModuleType) -> dict[str, Preset]:
    folder = files(package)
    names = sorted(
        file.name.removesuffix(".yaml")
        for file in folder.iterdir()
        if file.name.endswith(".yaml") and not file.name.startswith("_")
    )
    if not names:
        raise ValueError("there are no YAML files in the package")
    return {name: Preset(name, folder) for name in names}


PRESETS: Mapping[str, Preset] = PackageCatalog("unbraid.presets", _presets_of)
"""Every preset of the installed packages by name."""


def preset(name: str, scale: str = "mini") -> Plain:
    """Return a published sweep as the plain data of a study file.

    Args:
        name: One of ``PRESETS``. The tables of Michlo (2022) go by their number, with
            the number of the row where a table has several.
        scale: ``"mini"``: rendered miniatures and a small dense network, a run takes
            seconds. ``"small"``: rendered images of 64x64 and the published network, a
            run takes tens of minutes on one core. ``"paper"``: as published, on the
            published data. The two smaller ones keep what a sweep compares, and fewer
            values of what it averages over.

    Returns:
        A new dictionary, which may be changed.

    Raises:
        ValueError: If there is no such preset or scale.

    Example:
        >>> study = preset("holtz-2022", "paper")
        >>> study["data"], study["grid"]["objective.beta"], study["seeds"]
        ('dsprites', [1, 2, 4, 8, 16], 25)
    """
    _check("name", name, PRESETS)
    _check("scale", scale, PRESETS[name].scales)
    return PRESETS[name].at(scale)


def _check(what: str, given: str, known: Iterable[str]) -> None:
    if not isinstance(given, str) or given not in known:
        # The number of a table without that of its row is near to its first row.
        near = [name for name in known if name.startswith(f"{given}-")]
        near += difflib.get_close_matches(str(given), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"preset: {what} must be among {', '.join(known)}, got {given!r}.{hint}"
        )
