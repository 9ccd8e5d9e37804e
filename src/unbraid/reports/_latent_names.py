"""Names that people gave to latents, in a file that the explorer's page saves."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.errors import DataFormatError

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
        >>> words = '{"kind": "names of latents", "format": 1, "names": {"3": "size"}}'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "names.json")
        ...     _ = file.write_text(words)
        ...     read_latent_names(file)
        {3: 'size'}
    """
    path = Path(path).expanduser()
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
        number = int(key) if isinstance(key, str) and key.isdecimal() else key
        is_latent = isinstance(number, int) and not isinstance(number, bool)
        if not is_latent or number < 0 or (n_latents or number + 1) <= number:
            count = "" if n_latents is None else f" to {n_latents - 1}"
            raise ValueError(f"names: expected latents from 0{count}, got {key!r}.")
        if not isinstance(name, str) or len(name) > _LONGEST:
            raise ValueError(
                f"names: expected text of at most {_LONGEST} letters for latent "
                f"{number}, got {name!r}."
            )
        found[number] = name
    return found
