"""Reading a study from a file or from plain data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.foundation import (
    MAX_CHARACTERS,
    NewerFormatError,
    naming,
    read_text,
    read_yaml,
    resolve_file_names,
    suggest,
)
from unbraid.training import read_names

from ._presets import preset
from ._specification import RunSpec
from ._sweep import FORMAT, Plain, Study, Sweep


def read_study(path: str | Path) -> Study:
    """Read the study that a YAML file describes.

    Args:
        path: The file.

    Raises:
        ValueError: If the file does not describe a study.
        OSError: If it cannot be read.
    """
    return parse_study(read_study_text(Path(path)), str(path))


def read_study_text(path: Path) -> str:
    """Read a file that is small enough for a study."""
    return read_text(path, most_bytes=4 * MAX_CHARACTERS)


def parse_study(text: str, where: str) -> Study:
    """Return the study that a text in YAML describes.

    Args:
        text: The text.
        where: Name of its file, for error messages.
    """
    return study_from_plain(read_yaml(text, where), where)


def study_from_plain(data: Any, where: str = "study") -> Study:
    """Return the study that plain data describe.

    Args:
        data: Keys of :class:`RunSpec` that all runs share, keys of :class:`Sweep`,
            ``name`` and ``format``; and ``preset`` with ``scale``, whose settings the
            others replace.
        where: Origin of the data, for error messages.

    Example:
        >>> plain = {"data": "xy_squares", "grid": {"objective.beta": [1, 4]}}
        >>> [spec.objective["beta"] for spec in study_from_plain(plain).runs()]
        [1, 4]
    """
    if not isinstance(data, Mapping):
        raise ValueError(
            f"{where}: a study must have keys and values, got {data!r:.80}."
        )
    # With whole paths, so that a study can be read from any folder.
    given = resolve_file_names(dict(data))
    found = given.pop("format", FORMAT)
    if isinstance(found, int) and found > FORMAT:
        raise NewerFormatError(
            f"{where}: format {found} is newer than {FORMAT}, the newest that this "
            "version reads. Update unbraid."
        )
    if found != FORMAT:
        raise ValueError(f"{where}: format must be {FORMAT}, got {found!r}.")
    name, scale = given.pop("preset", None), given.pop("scale", None)
    with naming(where):
        given = _use_present_names(given)
    if name is not None:
        with naming(where):
            published = preset(name, scale or "mini")
        given = _merged(_use_present_names(published), given)
    elif scale is not None:
        raise ValueError(f"{where}: scale {scale!r} needs a preset.")
    shared, swept = set(RunSpec.model_fields) - {"seed"}, set(Sweep.model_fields)
    known = ["name", "preset", "scale", *sorted(shared | swept)]
    for key in given:
        if key not in known:
            raise ValueError(
                f"{where}: unknown key {key!r}.{suggest(str(key), known)} Known keys "
                f"are {', '.join(known)}."
            )
    sweep = Sweep.read({key: given[key] for key in swept & set(given)}, where)
    base = {key: value for key, value in given.items() if key in shared}
    if sweep.methods and "objective" in base:
        raise ValueError(f"{where}: give methods or an objective, not both.")
    title = str(given.get("name") or Path(where).stem)
    return Study.read({"name": title, "base": base, "sweep": sweep}, where)


def _use_present_names(given: Plain) -> Plain:
    """Replace former names of training settings, also in the paths of a sweep."""
    given = dict(given)
    if isinstance(given.get("training"), Mapping):
        given["training"] = read_names(given["training"])
    if isinstance(given.get("grid"), Mapping):
        given["grid"] = _rename_paths(given["grid"])
    if isinstance(given.get("zip"), list):
        given["zip"] = [
            _rename_paths(group) if isinstance(group, Mapping) else group
            for group in given["zip"]
        ]
    return given


def _rename_paths(axes: Mapping[str, Any]) -> Plain:
    """Replace former names in paths such as ``training.optimiser``."""
    renamed: Plain = {}
    for path, values in axes.items():
        section, *names = str(path).split(".")
        if section == "training" and names:
            (names[0],) = read_names({names[0]: None})
        new = ".".join((section, *names))
        if new in renamed:
            raise ValueError(f"{path} and {new} are the same setting. Give one only.")
        renamed[new] = values
    return renamed


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Plain:
    """Merge two levels of settings; objectives are replaced as a whole."""
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
