"""Cache of numbers of pairs in a file."""

import contextlib
import hashlib
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import atomic_write

_FORMAT = 1
"""Increased when the numbers of a variant change, so that old ones are not used."""

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,  # zipfile raises it for unknown compression
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def fingerprint(*arrays: NDArray[np.float64] | None) -> str:
    """Return a hash of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(b"none" if array is None else str(array.shape).encode())
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class PairCache:
    """Cache of a number for each ordered pair of items, by hashes of the items.

    The file is an ``.npz`` with two arrays for each variant: the keys of the items, and
    a square table with NaN for unknown numbers. The file is replaced as a whole: if two
    processes share it, pairs may get lost and are computed again, but no process reads
    half a file. A file that cannot be read counts as empty.

    Args:
        path: Path of the file, which need not exist; ``None`` keeps nothing.
        variant: Name of the way in which the numbers are computed. Several variants can
            share a file.
    """

    def __init__(self, path: str | Path | None, *, variant: str) -> None:
        self._path = None if path is None else Path(path)
        self._variant = f"{_FORMAT}/{variant}"
        if self._path is not None and self._path.is_dir():
            raise ValueError(
                f"cache must be the path of a file, but {self._path} is a folder."
            )

    def look_up(self, keys: list[str]) -> NDArray[np.float64]:
        """Return the known numbers, ``(n_keys, n_keys)``, NaN where unknown."""
        names, table = self._tables().get(self._variant, _EMPTY)
        indices = {name: k for k, name in enumerate(names.tolist())}
        # One more row and column of NaN, for new items.
        padded = np.pad(table, (0, 1), constant_values=np.nan)
        where = np.array([indices.get(key, -1) for key in keys])
        return padded[where[:, None], where]

    def keep(self, keys: list[str], numbers: NDArray[np.float64]) -> None:
        """Add numbers ``(n_keys, n_keys)``, NaN where unknown, to the file."""
        if self._path is None:
            return
        tables = self._tables()  # again, because another process may have written
        names, table = tables.get(self._variant, _EMPTY)
        every = list(dict.fromkeys([*names.tolist(), *keys]))
        indices = {name: k for k, name in enumerate(every)}
        merged = np.full((len(every), len(every)), np.nan)
        merged[: len(names), : len(names)] = table
        where = np.array([indices[key] for key in keys])
        rows, columns = np.nonzero(~np.isnan(numbers))
        merged[where[rows], where[columns]] = numbers[rows, columns]
        tables[self._variant] = np.array(every), merged
        arrays: dict[str, Any] = {
            f"{variant}/{part}": array
            for variant, parts in tables.items()
            for part, array in zip(("names", "table"), parts, strict=True)
        }
        with atomic_write(self._path) as file:
            np.savez_compressed(file, **arrays)

    def _tables(self) -> dict[str, tuple[NDArray[np.str_], NDArray[np.float64]]]:
        tables: dict[str, tuple[NDArray[np.str_], NDArray[np.float64]]] = {}
        if self._path is None or not self._path.exists():
            return tables
        with (
            contextlib.suppress(*_DAMAGED),
            self._path.open("rb") as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            for part in [name for name in arrays if name.endswith("/names")]:
                variant = part.removesuffix("/names")
                names, table = arrays[part], arrays[f"{variant}/table"]
                sound = names.dtype.kind == "U" and table.dtype == np.float64
                if sound and table.shape == (len(names), len(names)):
                    tables[variant] = names, table
        return tables


_EMPTY = np.empty(0, dtype=np.str_), np.empty((0, 0))
