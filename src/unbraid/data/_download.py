"""Download a published file from the first mirror that works, and verify it."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.foundation import (
    DataFormatError,
    DownloadError,
    atomic_write,
    cache_folder,
    expand_user,
    require_space,
)

from ._progress import progress_bar

if TYPE_CHECKING:
    import requests

_PIECE = 1 << 16
_HEX_DIGITS = {"md5": 32, "sha256": 64}


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A published file: its name, addresses and checksum.

    Args:
        name: Name of the file on disk.
        page: Address of a web page about the file.
        checksum: Checksum of the file, ``"md5:..."`` or ``"sha256:..."``, in
            hexadecimal.
        urls: Addresses of the file, tried in order; empty if it must be downloaded by
            hand.
        size: Number of bytes, if known.
        alternatives: Names of files or folders that may be used instead of the file.

    Example:
        >>> empty = RemoteFile(
        ...     name="empty.txt",
        ...     page="https://example.org",
        ...     checksum="md5:d41d8cd98f00b204e9800998ecf8427e",
        ... )
        >>> empty.urls
        ()
    """

    name: str
    page: str
    checksum: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    alternatives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name in ("", ".", "..") or set(self.name) & set("/\\"):
            raise ValueError(
                f"name must be a file name without folders, got {self.name!r}."
            )
        kind, _, digits = self.checksum.partition(":")
        if len(digits) != _HEX_DIGITS.get(kind) or set(digits) - set(
            "0123456789abcdef"
        ):
            raise ValueError(
                "checksum must be 'md5:...' or 'sha256:...' in lower-case hexadecimal, "
                f"got {self.checksum!r}."
            )


class _MirrorFailedError(Exception):
    """A mirror did not provide the file, for the reason in the message."""


def data_root(root: str | Path | None = None) -> Path:
    """Return the folder of all published data.

    Args:
        root: The folder. Default: the environment variable ``UNBRAID_DATA``, or the
            user's cache folder if that is not set.
    """
    chosen = root or os.environ.get("UNBRAID_DATA") or cache_folder()
    return expand_user(chosen)


def fetch(
    remote: RemoteFile,
    folder: str | Path,
    *,
    progress: bool = True,
    timeout: float = 30.0,
) -> Path:
    """Download a file, unless it is already there.

    The mirrors are tried in order. The file appears in the folder only after its size
    and checksum have been verified; until then it has another name, and is deleted if
    anything fails.

    Args:
        remote: The file to download.
        folder: Folder for the file.
        progress: Whether to show a progress bar if the standard error is a terminal.
        timeout: Seconds to wait for an answer of a mirror, or for more data.

    Returns:
        Path of the verified file.

    Raises:
        DownloadError: If no mirror provided the file; with the reason for each.
    """
    target = Path(folder) / remote.name
    if target.is_file() and _find_fault_on_disk(target, remote) is None:
        return target
    failures = []
    for url in remote.urls:
        try:
            _fetch_from(url, remote, target, progress=progress, timeout=timeout)
        except _MirrorFailedError as failure:
            failures.append(f"  {url}: {failure}")
        else:
            return target
    reason = "\n".join(
        ["no mirror provided it.", *failures]
        if failures
        else ["it has no address for automatic downloads."]
    )
    raise DownloadError(
        f"{remote.name} could not be downloaded: {reason}\n"
        f"Download it by hand from {remote.page} and save it as {target}."
    )


def verify(path: str | Path, remote: RemoteFile) -> None:
    """Verify the size and checksum of a file on disk.

    Raises:
        DataFormatError: If the file is not the published one.
    """
    fault = _find_fault_on_disk(Path(path), remote)
    if fault:
        raise DataFormatError(f"{path}: {fault}. Delete it and download it again.")


def _hasher(remote: RemoteFile) -> "hashlib._Hash":
    kind, _, _ = remote.checksum.partition(":")
    # Some hardened systems refuse md5 unless it is declared not to be for security.
    return hashlib.new(kind, usedforsecurity=False)


def _find_fault_on_disk(path: Path, remote: RemoteFile) -> str | None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: _hasher(remote)).hexdigest()
    return _find_fault(path.stat().st_size, digest, remote)


def _find_fault(size: int, digest: str, remote: RemoteFile) -> str | None:
    """Describe what is wrong with a file of this size and checksum, if anything."""
    if remote.size is not None and size != remote.size:
        return f"the size must be {remote.size} bytes, got {size}"
    kind, _, published = remote.checksum.partition(":")
    if digest != published:
        return f"the {kind} checksum must be {published}, got {digest}"
    return None


def _fetch_from(
    url: str, remote: RemoteFile, target: Path, *, progress: bool, timeout: float
) -> None:
    hasher, received = _hasher(remote), 0
    with _answer(url, timeout) as response, atomic_write(target) as file:
        total = _expected_size(response, remote, target.parent)
        with progress_bar(total, remote.name, unit="B", enabled=progress) as bar:
            for piece in _pieces(response, timeout):
                if received == 0:
                    _refuse_page(piece)
                hasher.update(piece)
                file.write(piece)
                bar.update(len(piece))
                received += len(piece)
                if remote.size is not None and received > remote.size:
                    break
        fault = _find_fault(received, hasher.hexdigest(), remote)
        if fault:
            raise _MirrorFailedError(fault)


@contextlib.contextmanager
def _answer(url: str, timeout: float) -> "Iterator[requests.Response]":
    # Slow to import, and most programs download nothing.
    import requests
    import urllib3

    try:
        response = requests.get(
            url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
        )
    except requests.Timeout:
        raise _MirrorFailedError(f"no answer in {timeout:g} seconds") from None
    # For broken addresses and headers, requests and urllib3 raise many kinds of
    # errors, among them plain ValueErrors.
    except (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        ValueError,
    ) as error:
        raise _MirrorFailedError(f"no answer: {_innermost(error)}") from None
    with response:
        if response.status_code != 200:
            raise _MirrorFailedError(f"HTTP {response.status_code} {response.reason}")
        yield response


def _announced_size(response: "requests.Response") -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and len(length) < 20 else None


def _expected_size(
    response: "requests.Response", remote: RemoteFile, folder: Path
) -> int | None:
    """Return the number of bytes to download, after checking the free space."""
    if remote.size is not None:
        require_space(folder, remote.size)
        return remote.size
    announced = _announced_size(response)
    try:
        require_space(folder, announced or 0)
    except OSError as error:  # the size announced by this mirror may be wrong
        raise _MirrorFailedError(str(error)) from None
    return announced


def _pieces(response: "requests.Response", timeout: float) -> Iterator[bytes]:
    import urllib3  # with requests, when something is downloaded

    total = _announced_size(response)
    so_far = f"of {total} bytes" if total else "bytes"
    try:
        # Not decoded: some servers declare every .gz file a compressed response, and
        # decoding it would change the checksum.
        yield from response.raw.stream(_PIECE, decode_content=False)
    except urllib3.exceptions.ReadTimeoutError:
        raise _MirrorFailedError(
            f"no data for {timeout:g} seconds after {response.raw.tell()} {so_far}"
        ) from None
    except urllib3.exceptions.HTTPError:
        raise _MirrorFailedError(
            f"connection lost after {response.raw.tell()} {so_far}"
        ) from None


def _refuse_page(start: bytes) -> None:
    if start[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise _MirrorFailedError("the mirror sent an HTML page instead of the file")


def _innermost(error: BaseException) -> BaseException:
    while error.__context__ is not None:
        error = error.__context__
    return error
