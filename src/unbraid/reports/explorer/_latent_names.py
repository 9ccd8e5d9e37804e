"""Names that people gave to latents, in a file that the explorer's page saves."""

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
    """Names by number of the latent, from the file that "Save names" gives.

    Args:
        path: The file.

    Raises:
        DataFormatError: If it is something else.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> words = '{"kind": "names of latents", "format": 1, "names": {"3": "size"}}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "names.json")
        ...     _ = file.write_text(words)
        ...     read_latent_names(file)
        {3: 'size'}
    """
    path = expand_user(path)
    require_regular_file(path, most_bytes=MAX_TEXT_BYTES)
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataFormatError(
            f"{path}: expected names of latents in JSON, got something else ({error})."
        ) from error
    if not isinstance(words, dict) or words.get("kind") != _KIND:
        raise DataFormatError(
            f"{path}: expected names of latents as the explorer saves them, got other "
            "JSON."
        )
    if words.get("format") != 1:
        raise DataFormatError(
            f"{path}: expected names of latents in format 1, got format "
            f"{words.get('format')!r}."
        )
    try:
        return checked_names(words.get("names"))
    except ValueError as error:
        raise DataFormatError(f"{path}: {error}") from error


def checked_names(names: Any, *, n_latents: int | None = None) -> dict[int, str]:
    """Names by number.

    Args:
        names: A mapping from numbers (or their digits) to texts.
        n_latents: Of the model, if it is known.
    """
    if not isinstance(names, Mapping):
        raise ValueError(f"names: expected a name for each number, got {names!r}.")
    found = {}
    for key, name in names.items():
        number = _number(key)
        if number is None or (n_latents is not None and number >= n_latents):
            last = "" if n_latents is None else f" to {n_latents - 1}"
            raise ValueError(f"names: expected latents from 0{last}, got {key!r}.")
        if not isinstance(name, str) or len(name) > _LONGEST:
            raise ValueError(
                f"names: expected text of at most {_LONGEST} letters for latent "
                f"{number}, got {name!r}."
            )
        found[number] = name
    return found


def _number(key: Any) -> int | None:
    # JSON has no numbers for keys, only their digits.
    if isinstance(key, str):
        return int(key) if key.isascii() and key.isdigit() else None
    return int(key) if is_whole(key, least=0) else None
