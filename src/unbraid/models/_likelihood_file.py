"""Save and load a likelihood, for use with other data and other models."""

import json
from pathlib import Path
from typing import Any

from unbraid.foundation import (
    MAX_TEXT_BYTES,
    CheckpointFormatError,
    atomic_write,
    expand_user,
    from_plain,
    make_record,
    require_regular_file,
    to_plain,
)

from ._kernel import restore_former_settings
from ._likelihood import AbstractLikelihood
from ._likelihood_names import LIKELIHOODS

_FORMAT = "unbraid likelihood"
_VERSION = 1


def save_likelihood(likelihood: AbstractLikelihood, path: str | Path) -> Path:
    """Write a likelihood to a JSON file, with all digits of its numbers.

    Args:
        likelihood: A likelihood of unbraid, such as the result of
            :func:`unbraid.perception.learn_loss`.
        path: Path of the file; must end in ``.json``.

    Example:
        >>> import tempfile
        >>> from unbraid.models import Gaussian
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = save_likelihood(Gaussian(variance=2.0), f"{folder}/loss.json")
        ...     load_likelihood(path)
        Gaussian(variance=2.0)
    """
    path = Path(path)
    if path.suffix != ".json":
        raise ValueError(f"path must end in .json, got {str(path)!r}.")
    plain = to_plain(likelihood, LIKELIHOODS)
    about = {"format": _FORMAT, "version": _VERSION, "likelihood": plain}
    with atomic_write(path) as file:
        file.write(json.dumps(about).encode())
    return path


def load_likelihood(path: str | Path) -> AbstractLikelihood:
    """Load a likelihood that :func:`save_likelihood` wrote.

    Args:
        path: Path of the file.

    Raises:
        FileNotFoundError: If there is no such file.
        CheckpointFormatError: If the file does not contain a likelihood.
    """
    path = expand_user(path)
    require_regular_file(path, most_bytes=MAX_TEXT_BYTES)
    try:
        about: Any = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        if about["format"] != _FORMAT or about["version"] != _VERSION:
            raise ValueError(f"format {about['format']!r}, version {about['version']}")
        plain = restore_former_settings(about["likelihood"])
        likelihood = from_plain(plain, LIKELIHOODS)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointFormatError(
            f"{str(path)!r} is not a likelihood written by save_likelihood"
            f"{f' ({error})' if isinstance(error, ValueError) else ''}."
        ) from error
    if not isinstance(likelihood, AbstractLikelihood):
        raise CheckpointFormatError(
            f"{str(path)!r} must contain a likelihood, got a "
            f"{type(likelihood).__name__}."
        )
    return likelihood


def choose_likelihood(likelihood: AbstractLikelihood | str) -> AbstractLikelihood:
    """Return a likelihood, given itself, its name or its ``.json`` file.

    Example:
        >>> choose_likelihood("gaussian")
        Gaussian(variance=0.5)
    """
    if isinstance(likelihood, AbstractLikelihood):
        return likelihood
    if str(likelihood).endswith(".json"):
        return load_likelihood(likelihood)
    return make_record(likelihood, {}, LIKELIHOODS)
