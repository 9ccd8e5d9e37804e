"""History of a run: one record per range of steps, in memory and as lines of JSON."""

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from unbraid.foundation import atomic_write

from ._loop import Snapshot

ACTIVE = 0.01
"""KL divergence, in nats, above which a latent is active."""


def make_record(snapshot: Snapshot) -> dict[str, Any]:
    """Return the record of a snapshot, as plain data."""
    record: dict[str, Any] = {"step": snapshot.step, **snapshot.terms}
    if snapshot.kl_per_latent is not None:
        record["kl_per_latent"] = snapshot.kl_per_latent.tolist()
        record["active_latents"] = int(np.sum(snapshot.kl_per_latent > ACTIVE))
    record["gradient_norm"] = snapshot.gradient_norm
    record["images_per_second"] = snapshot.images_per_second
    return record


def read_history(path: Path, *, until: int | None = None) -> list[dict[str, Any]]:
    """Read the records of a history file, up to the first line that is not a record.

    Such a line is left by a run that was killed while writing, or by a damaged file.

    Args:
        path: Path of the file. If there is none, there are no records.
        until: Last step to read.
    """
    if not path.is_file():
        return []
    records = []
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except (RecursionError, ValueError):
            break
        if not _is_record(record):
            break
        if until is not None and record["step"] > until:
            break
        records.append(record)
    return records


def _is_record(record: Any) -> bool:
    """Return whether a value has the form of a record: a step, numbers and lists."""
    if not isinstance(record, dict) or not _is_number(record.get("step"), int):
        return False
    return all(
        all(map(_is_number, value)) if isinstance(value, list) else _is_number(value)
        for value in record.values()
    )


def _is_number(value: Any, kind: Any = (int, float)) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


class HistoryFile:
    """File of records, one per line, each of which is flushed at once.

    Args:
        path: Path of the file.
        records: First records, which replace the content of the file.
    """

    def __init__(self, path: Path, records: list[dict[str, Any]]) -> None:
        with atomic_write(path) as whole:
            whole.writelines(map(_line, records))
        self._file: BinaryIO = path.open("ab")

    def append(self, record: dict[str, Any]) -> None:
        """Add a record."""
        self._file.write(_line(record))
        self._file.flush()

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"
