"""Read members of zip archives, without unpacking them."""

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from unbraid.foundation import DataFormatError, format_bytes

_MOST_BYTES = 16_000_000
"""Largest size of a picture in a published archive."""


@contextlib.contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive to read members; nothing is unpacked to the disk.

    Raises:
        DataFormatError: If the archive, or a member that is read, is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise DataFormatError(
            f"{path} cannot be read as a .zip file ({error}). If it is damaged, delete "
            "it and download it again."
        ) from error


def read_member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a member of an archive, which must not be too large.

    Args:
        path: Path of the archive, for the error message.
        archive: The open archive.
        name: Name of the member.

    Raises:
        DataFormatError: If the member is too large.
        KeyError: If there is no such member.
    """
    with archive.open(name) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise DataFormatError(
            f"{path}: the member {name} has more than {format_bytes(_MOST_BYTES)}. "
            "This is not the published file: download it again."
        )
    return data
