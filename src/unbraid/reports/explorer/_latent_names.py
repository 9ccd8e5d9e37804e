"""Names of latents, as saved by the explorer page."""

import json
import os
from collections.abc import Mapping
from typing import Any

from unbraid.foundation import (
    MAX_TEXT_BYTES,
    DataFormatError,
    expand_user,
    is_whole,
    require_regular_file,
)

_KIND = "names of latents"
_LONGEST = 100


def read_latent_names(path: str | os.PathLike[str]) -> dict[int, str]:
    """Read the names of latents from a file saved with "Save names".

    Args:
        path: Path of the JSON file.

    Returns:
        Name of each latent, by its index.

    Raises:
        DataFormatError: If the file has another format.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> text = '{"kind": "names of latents", "format": 1, "names": {"3": "size"}}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "names.json")
        ...     _ = file.write_text(text)
        ...     read_latent_names(file)
        {3: 'size'}
    """
    path = expand_user(path)
    require_regular_file(path, most_bytes=MAX_TEXT_BYTES)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataFormatError(
            f"{path} is not valid JSON, so it has no names of latents ({error})."
        ) from error
    if not isinstance(record, dict) or record.get("kind") != _KIND:
        raise DataFormatError(
            f"{path} does not hold names of latents. Save them with 'Save names' in "
            "the explorer."
        )
    if record.get("format") != 1:
        raise DataFormatError(
            f"{path} must have names of latents in format 1, got "
            f"{record.get('format')!r}."
        )
    try:
        return check_names(record.get("names"))
    except ValueError as error:
        raise DataFormatError(f"{path}: {error}") from error


def check_names(names: Any, *, n_latents: int | None = None) -> dict[int, str]:
    """Check names of latents, and return them by index.

    Args:
        names: Mapping from the index of a latent, as integer or string, to its name.
        n_latents: Number of latents of the model, if known.
    """
    if not isinstance(names, Mapping):
        raise ValueError(f"names must map indices of latents to names, got {names!r}.")
    checked = {}
    for key, name in names.items():
        number = _parse_index(key)
        if number is None or (n_latents is not None and number >= n_latents):
            last = "" if n_latents is None else f" to {n_latents - 1}"
            raise ValueError(f"names has keys from 0{last} only, got {key!r}.")
        if not isinstance(name, str) or len(name) > _LONGEST:
            raise ValueError(
                f"The name of latent {number} must be a string of at most {_LONGEST} "
                f"characters, got {name!r}."
            )
        checked[number] = name
    return checked


def _parse_index(key: Any) -> int | None:
    # Keys in JSON are always strings.
    if isinstance(key, str):
        return int(key) if key.isascii() and key.isdigit() else None
    return int(key) if is_whole(key, least=0) else None
