"""The data that a saved model was trained on, found by the files near it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unbraid.data import AbstractDataset, open_dataset
from unbraid.foundation import expand_user


def find_training_data(folder: Path) -> AbstractDataset | None:
    """Open the data that a model was trained on, with the same options.

    Args:
        folder: Folder of a run, of a run of a study, or of the model of a discovery.

    Returns:
        The data; ``None`` if no file says which they are, or if they are gone or have
        changed.
    """
    for text, fingerprint in _list_sources(expand_user(folder)):
        if not isinstance(text, str) or not isinstance(fingerprint, str):
            continue
        try:
            dataset = open_dataset(text)
        except (ImportError, OSError, TypeError, ValueError):
            continue
        # A name alone leaves out the options with which the data were opened.
        if dataset.fingerprint() == fingerprint:
            return dataset
    return None


def _list_sources(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Yield texts from which the data may be opened, with their fingerprints."""
    about = _part(_read(folder / "spec.json"), "data")
    fingerprint = about.get("fingerprint")
    run = _read(folder / "run.json")
    yield _part(run, "spec").get("data"), run.get("data", fingerprint)
    yield about.get("source"), fingerprint
    # Runs of the first versions name their data without options.
    yield about.get("name"), fingerprint
    # The model of a discovery, or of an earlier result in its history.
    for parent in folder.resolve().parents[:3]:
        plan = _read(parent / "plan.json")
        if plan:
            data = _read(parent / "study" / "data.json")
            yield from _part(data, "fingerprints").items()
            yield _part(plan, "study").get("data"), plan.get("fingerprint")


def _part(record: dict[str, Any], key: str) -> dict[str, Any]:
    part = record.get(key)
    return part if isinstance(part, dict) else {}


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
