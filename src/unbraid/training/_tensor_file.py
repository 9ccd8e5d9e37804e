"""Files of tensors that say what they are: safetensors with a few words about them."""

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
_MOST_HEADER = 100_000_000
"""Bytes of a header; the format allows no more."""


def write_tensors(
    path: Path,
    tensors: Mapping[str, torch.Tensor],
    *,
    kind: str,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write tensors, and what they are, in place of what was there.

    Equal tensors and words give equal bytes. A checksum goes with them, by which a
    byte that changed is found when they are read.

    Args:
        path: Of the file.
        tensors: By name.
        kind: Of the file, asked for when it is read.
        about: Plain data to go with them.
    """
    # Clones, because tensors that share memory are refused by the format.
    plain = {
        name: tensor.detach().cpu().contiguous().clone()
        for name, tensor in tensors.items()
    }
    words = {"format": FORMAT, "kind": kind, **(about or {})}
    words["checksum"] = _checksum(words, plain)
    # One key only: several would be written in any order.
    content = save(plain, {_ABOUT: json.dumps(words, sort_keys=True)})
    with atomic_write(path) as file:
        file.write(content)


def read_tensors(
    path: Path, *, kind: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """What :func:`write_tensors` wrote: tensors by name, and the words about them.

    Raises:
        CheckpointFormatError: If the file is damaged, is another kind of file, or was
            written by a newer version.
    """
    # By its bytes, because safetensors cannot open a name that is not UTF-8.
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
            f"{path}: expected a file of tensors, got one that is damaged or cut off "
            f"({error})."
        ) from error
    # Files of the first versions have none.
    checksum = about.pop("checksum", None)
    if checksum is not None and checksum != _checksum(about, tensors):
        raise CheckpointFormatError(
            f"{path}: expected the bytes that were written, got others: the file is "
            "damaged. Restore it from a copy, or train again in another folder."
        )
    return tensors, about


def read_about(path: Path, *, kind: str) -> dict[str, Any]:
    """The words of a file of tensors, without reading the tensors.

    Raises:
        CheckpointFormatError: If they cannot be read, or are of another kind of file.
    """
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(8), "little")
        head = file.read(n_bytes) if n_bytes <= _MOST_HEADER else b""
    about = _read_about(path, n_bytes.to_bytes(8, "little") + head, kind=kind)
    parts = [part for name, part in json.loads(head).items() if name != "__metadata__"]
    try:
        size = 8 + n_bytes + max((part["data_offsets"][1] for part in parts), default=0)
    except (LookupError, TypeError) as error:
        raise CheckpointFormatError(f"{path}: the file is damaged.") from error
    if path.stat().st_size != size:
        raise CheckpointFormatError(
            f"{path}: expected a file of {size:,} bytes, got one that is cut off or "
            f"damaged, of {path.stat().st_size:,}."
        )
    return about


def _read_about(path: Path, content: bytes, *, kind: str) -> dict[str, Any]:
    """From the head of a file: its length, then JSON with our words as one text."""
    n_bytes = int.from_bytes(content[:8], "little")
    try:
        if not 0 < n_bytes <= min(len(content) - 8, _MOST_HEADER):
            raise ValueError("the header is cut off")
        words = json.loads(content[8 : 8 + n_bytes])["__metadata__"][_ABOUT]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        reason = "" if isinstance(error, LookupError) else f" ({error})"
        raise CheckpointFormatError(
            f"{path}: expected a file of tensors that unbraid wrote, got one that is "
            f"damaged or cut off, or a file of something else{reason}."
        ) from error
    return parse_record(path, words, kind=kind)


def hash_tensors(tensors: Mapping[str, torch.Tensor]) -> str:
    """Hash of names, shapes and numbers: what a set of weights is known by."""
    total = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
        total.update(bytes_of(tensor))
    return total.hexdigest()


def _checksum(words: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> int:
    total = zlib.crc32(json.dumps(words, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        shape = f"{name} {tensor.dtype} {tuple(tensor.shape)}"
        total = zlib.crc32(bytes_of(tensor), zlib.crc32(shape.encode(), total))
    return total


def bytes_of(tensor: torch.Tensor) -> memoryview:
    """The bytes of a tensor, without a copy where there is no need."""
    return tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data


def copy_into(
    path: Path, targets: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Copy tensors of a file into those of a network, which keep their memory layout.

    Raises:
        CheckpointFormatError: If names or shapes are not those of the network, or if
            there is no number where one should be.
    """
    check_shapes(path, targets, tensors)
    with torch.no_grad():
        for name, target in targets.items():
            if tensors[name].isnan().any():
                raise CheckpointFormatError(
                    f"{path}: expected numbers, got NaN in {name!r}: the file is "
                    "damaged, or was written by a model that had diverged."
                )
            target.copy_(tensors[name])


def check_shapes(
    path: Path, targets: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Refuse tensors whose names or shapes are not those of a network."""
    missing, unknown = set(targets) - set(tensors), set(tensors) - set(targets)
    if missing or unknown:
        name = sorted(missing or unknown)[0]
        raise CheckpointFormatError(
            f"{path}: expected the weights of this network, got a file "
            f"{'without' if missing else 'with'} {name!r}."
        )
    for name, target in targets.items():
        if target.shape != tensors[name].shape:
            raise CheckpointFormatError(
                f"{path}: expected {name!r} of shape {tuple(target.shape)}, got "
                f"{tuple(tensors[name].shape)}."
            )
