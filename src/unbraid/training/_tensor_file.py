"""Files of tensors that say what they are: safetensors with a few words about them."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from unbraid.errors import CheckpointFormatError, NewerFormatError
from unbraid.files import written_whole

FORMAT = 1

_ABOUT = "unbraid"


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
    with written_whole(path) as file:
        file.write(content)


def read_tensors(
    path: Path, *, kind: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """What :func:`write_tensors` wrote: tensors by name, and the words about them.

    Raises:
        CheckpointFormatError: If the file is damaged, is another kind of file, or was
            written by a newer version.
    """
    try:
        with safe_open(path, framework="pt") as file:
            words = (file.metadata() or {}).get(_ABOUT)
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise CheckpointFormatError(
            f"{path}: expected a file of tensors, got one that is damaged or cut off "
            f"({error})."
        ) from error
    about = read_words(path, words, kind=kind)
    # Files of the first versions have none.
    checksum = about.pop("checksum", None)
    if checksum is not None and checksum != _checksum(about, tensors):
        raise CheckpointFormatError(
            f"{path}: expected the bytes that were written, got others: the file is "
            "damaged. Restore it from a copy, or train again in another folder."
        )
    return tensors, about


def _checksum(words: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> int:
    total = zlib.crc32(json.dumps(words, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        shape = f"{name} {tensor.dtype} {tuple(tensor.shape)}"
        total = zlib.crc32(bytes_of(tensor), zlib.crc32(shape.encode(), total))
    return total


def read_words(path: Path, text: str | None, *, kind: str) -> dict[str, Any]:
    """Plain data of a file of ours, after checking its kind and format."""
    try:
        words = json.loads(text) if text else {}
    except ValueError as error:
        raise CheckpointFormatError(
            f"{path}: expected JSON, got text that is damaged or cut off ({error})."
        ) from error
    if not isinstance(words, dict) or words.get("kind") != kind:
        found = words.get("kind") if isinstance(words, dict) else None
        raise CheckpointFormatError(
            f"{path}: expected a {kind} that unbraid wrote, got "
            f"{f'a {found}' if found else 'a file of something else'}."
        )
    found = words.get("format")
    if not isinstance(found, int):
        raise CheckpointFormatError(
            f"{path}: expected the number of a format, got {found!r}."
        )
    if found > FORMAT:
        raise NewerFormatError(
            f"{path}: expected format {FORMAT} or older, got {found}. Update unbraid "
            "to read it."
        )
    return words


def read_json(path: Path, *, kind: str) -> dict[str, Any]:
    """A JSON file of ours, after checking its kind and format."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointFormatError(
            f"{path}: expected JSON, got a file that is not text."
        ) from error
    return read_words(path, text, kind=kind)


def write_json(path: Path, words: Mapping[str, Any], *, kind: str) -> None:
    """Write plain data for :func:`read_json`."""
    about = {"format": FORMAT, "kind": kind, **words}
    text = json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False)
    with written_whole(path) as file:
        file.write(text.encode() + b"\n")


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
