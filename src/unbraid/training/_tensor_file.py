"""Files of tensors: safetensors with a description and a checksum."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from unbraid.foundation import FORMAT, CheckpointFormatError, atomic_write, parse_record

_ABOUT = "unbraid"
_MAX_HEADER = 100_000_000
"""Largest header in bytes that the format allows."""


def write_tensors(
    path: Path,
    tensors: Mapping[str, torch.Tensor],
    *,
    kind: str,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write tensors and their description, replacing the file.

    Equal tensors and descriptions give equal bytes. A checksum reveals changed bytes
    when the file is read.

    Args:
        path: Path of the file.
        tensors: Tensors by name.
        kind: Kind of the file, which is checked when it is read.
        about: Description of the tensors, as plain data.
    """
    # Clones, because the format does not allow tensors that share memory.
    plain = {
        name: tensor.detach().cpu().contiguous().clone()
        for name, tensor in tensors.items()
    }
    record = {"format": FORMAT, "kind": kind, **(about or {})}
    record["checksum"] = _checksum(record, plain)
    # One key only, because several would be written in any order.
    content = save(plain, {_ABOUT: json.dumps(record, sort_keys=True)})
    with atomic_write(path) as file:
        file.write(content)


def read_tensors(
    path: Path, *, kind: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read a file that :func:`write_tensors` wrote: the tensors and their description.

    Raises:
        CheckpointFormatError: If the file is damaged, is another kind of file, or was
            written by a newer version.
    """
    # As bytes, because safetensors cannot open names that are not UTF-8.
    return parse_tensors(path, path.read_bytes(), kind=kind)


def parse_tensors(
    path: Path, content: bytes, *, kind: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors in the content of a file, as :func:`read_tensors` does."""
    about = _read_about(path, content, kind=kind)
    try:
        tensors = load(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: the file of tensors is damaged or cut off ({error})."
        ) from error
    # Files of the first versions have no checksum.
    checksum = about.pop("checksum", None)
    if checksum is not None and checksum != _checksum(about, tensors):
        raise CheckpointFormatError(
            f"{path}: the file is damaged: its checksum is wrong. Restore it from a "
            "copy, or train again in another folder."
        )
    return tensors, about


def read_about(path: Path, *, kind: str) -> dict[str, Any]:
    """Read the description in a file of tensors, without the tensors.

    Raises:
        CheckpointFormatError: If the file is damaged or of another kind.
    """
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(8), "little")
        head = file.read(n_bytes) if n_bytes <= _MAX_HEADER else b""
    about = _read_about(path, n_bytes.to_bytes(8, "little") + head, kind=kind)
    parts = [part for name, part in json.loads(head).items() if name != "__metadata__"]
    try:
        size = 8 + n_bytes + max((part["data_offsets"][1] for part in parts), default=0)
    except (LookupError, TypeError) as error:
        raise CheckpointFormatError(f"{path}: the file is damaged.") from error
    if path.stat().st_size != size:
        raise CheckpointFormatError(
            f"{path}: the file is cut off or damaged: it has "
            f"{path.stat().st_size:,} bytes instead of {size:,}."
        )
    return about


def _read_about(path: Path, content: bytes, *, kind: str) -> dict[str, Any]:
    """Read the description from the header: its length, then JSON."""
    n_bytes = int.from_bytes(content[:8], "little")
    try:
        if not 0 < n_bytes <= min(len(content) - 8, _MAX_HEADER):
            raise ValueError("the header is cut off")
        text = json.loads(content[8 : 8 + n_bytes])["__metadata__"][_ABOUT]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        reason = "" if isinstance(error, LookupError) else f" ({error})"
        raise CheckpointFormatError(
            f"{path}: this is not a file of tensors that unbraid wrote; it is damaged "
            f"or cut off, or something else{reason}."
        ) from error
    return parse_record(path, text, kind=kind)


def hash_tensors(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a hash of the names, shapes and values of tensors."""
    total = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
        total.update(to_bytes(tensor))
    return total.hexdigest()


def _checksum(about: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> int:
    total = zlib.crc32(json.dumps(about, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        shape = f"{name} {tensor.dtype} {tuple(tensor.shape)}"
        total = zlib.crc32(to_bytes(tensor), zlib.crc32(shape.encode(), total))
    return total


def to_bytes(tensor: torch.Tensor) -> memoryview:
    """Return the bytes of a tensor, without a copy where possible."""
    return tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data


def copy_into(
    path: Path, targets: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Copy tensors of a file into those of a network, which keep their memory layout.

    Raises:
        CheckpointFormatError: If names or shapes are not those of the network, or if
            values are NaN.
    """
    check_shapes(path, targets, tensors)
    with torch.no_grad():
        for name, target in targets.items():
            if tensors[name].isnan().any():
                raise CheckpointFormatError(
                    f"{path}: {name!r} contains NaN; the file is damaged, or the model "
                    "had diverged."
                )
            target.copy_(tensors[name])


def check_shapes(
    path: Path, targets: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Require the names and shapes of a network's tensors."""
    missing, unknown = set(targets) - set(tensors), set(tensors) - set(targets)
    if missing or unknown:
        name = sorted(missing or unknown)[0]
        raise CheckpointFormatError(
            f"{path}: these are not the weights of this network, because they are "
            f"{'without' if missing else 'with'} {name!r}."
        )
    for name, target in targets.items():
        if target.shape != tensors[name].shape:
            raise CheckpointFormatError(
                f"{path}: {name!r} must have shape {tuple(target.shape)} in this "
                f"network, got {tuple(tensors[name].shape)}."
            )
