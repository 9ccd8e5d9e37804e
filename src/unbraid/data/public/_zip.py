"""Reading zip archives, with damage told in a sentence."""

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from unbraid.foundation import DataFormatError, format_bytes

_MOST_BYTES = 16_000_000
"""Size of the largest picture in a published archive."""


@contextlib.contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive to read members from; nothing is ever unpacked to the disk.

    Raises:
        DataFormatError: If the archive, or a member that is read, is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise DataFormatError(
            f"{path}: expected a complete .zip file, got one that cannot be read "
            f"({error}). If it is damaged, delete it and get it again."
        ) from error


def read_member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Bytes of a member of an archive, if they are no more than a picture has.

    Args:
        path: Path of the archive, for the error message.
        archive: The opened archive.
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
            "This is not the published file: get it again."
        )
    return data
