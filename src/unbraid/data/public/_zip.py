"""Reading zip archives, with damage told in a sentence."""

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from unbraid.errors import DataFormatError


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
