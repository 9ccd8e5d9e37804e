"""Fetch a published file from the first mirror that works, and check what came."""

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
    """A published file: its name, where it is found, and how to know it is right.

    Args:
        name: Name of the file on disk.
        page: Address of a page about it, for people.
        checksum: ``"md5:..."`` or ``"sha256:..."`` of its bytes, in hexadecimal.
        urls: Direct addresses, tried in turn; none if people must get it by hand.
        size: Number of bytes, if known.
        alternatives: Names of files or folders that serve as well when they are there.

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
                f"RemoteFile: expected a file name without folders, got {self.name!r}."
            )
        kind, _, digits = self.checksum.partition(":")
        if len(digits) != _HEX_DIGITS.get(kind) or set(digits) - set(
            "0123456789abcdef"
        ):
            raise ValueError(
                "RemoteFile: expected a checksum 'md5:...' or 'sha256:...' in "
                f"lower-case hexadecimal, got {self.checksum!r}."
            )


class _MirrorFailedError(Exception):
    """One mirror did not give the file; the message says why."""


def data_root(root: str | Path | None = None) -> Path:
    """Folder of all published data.

    Args:
        root: The folder, or ``None`` for the environment variable ``UNBRAID_DATA``, or
            the user's cache folder if that is not set either.
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
    """Download a file, unless the right one is there already.

    The mirrors are tried in turn. The file appears in the folder only when its size and
    checksum are right; until then it has another name, and on any failure it is
    deleted.

    Args:
        remote: The file to fetch.
        folder: Where to put it.
        progress: Show a progress bar if the standard error is a terminal.
        timeout: Seconds to wait for a mirror to answer, or to send more.

    Returns:
        Path of the file, which is right.

    Raises:
        DownloadError: If no mirror gave the file; a line for each says why.
    """
    target = Path(folder) / remote.name
    if target.is_file() and _fault_on_disk(target, remote) is None:
        return target
    faults = []
    for url in remote.urls:
        try:
            _fetch_from(url, remote, target, progress=progress, timeout=timeout)
        except _MirrorFailedError as fault:
            faults.append(f"  {url}: {fault}")
        else:
            return target
    reason = "\n".join(
        ["no mirror gave it.", *faults]
        if faults
        else ["it has no address that a program can fetch it from."]
    )
    raise DownloadError(
        f"{remote.name}: expected to download it, but {reason}\n"
        f"Get it by hand from {remote.page} and put it at {target}."
    )


def verify(path: str | Path, remote: RemoteFile) -> None:
    """Check the size and checksum of a file on disk.

    Raises:
        DataFormatError: With a sentence, if the file is not the published one.
    """
    fault = _fault_on_disk(Path(path), remote)
    if fault:
        raise DataFormatError(f"{path}: {fault}. Delete it and get it again.")


def _hasher(remote: RemoteFile) -> "hashlib._Hash":
    kind, _, _ = remote.checksum.partition(":")
    # Some hardened systems refuse md5 unless told that it only guards against accident.
    return hashlib.new(kind, usedforsecurity=False)


def _fault_on_disk(path: Path, remote: RemoteFile) -> str | None:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: _hasher(remote)).hexdigest()
    return _fault(path.stat().st_size, digest, remote)


def _fault(size: int, digest: str, remote: RemoteFile) -> str | None:
    """What is wrong with a file of this size and checksum, or ``None``."""
    if remote.size is not None and size != remote.size:
        return f"wrong size: expected {remote.size} bytes, got {size}"
    kind, _, expected = remote.checksum.partition(":")
    if digest != expected:
        return f"wrong {kind}: expected {expected}, got {digest}"
    return None


def _fetch_from(
    url: str, remote: RemoteFile, target: Path, *, progress: bool, timeout: float
) -> None:
    hasher, received = _hasher(remote), 0
    with _answer(url, timeout) as response, atomic_write(target) as file:
        total = _expected_size(response, remote, target.parent)
        with progress_bar(total, remote.name, unit="B", wanted=progress) as bar:
            for piece in _pieces(response, timeout):
                if received == 0:
                    _refuse_page(piece)
                hasher.update(piece)
                file.write(piece)
                bar.update(len(piece))
                received += len(piece)
                if remote.size is not None and received > remote.size:
                    break
        fault = _fault(received, hasher.hexdigest(), remote)
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
    # A broken address or header leads requests and urllib3 to errors of many kinds,
    # among them plain ValueErrors.
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


def _announced(response: "requests.Response") -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and len(length) < 20 else None


def _expected_size(
    response: "requests.Response", remote: RemoteFile, folder: Path
) -> int | None:
    """Bytes that will come, as far as there is room for them."""
    if remote.size is not None:
        require_space(folder, remote.size)
        return remote.size
    announced = _announced(response)
    try:
        require_space(folder, announced or 0)
    except OSError as error:  # the size is the mirror's word only
        raise _MirrorFailedError(str(error)) from None
    return announced


def _pieces(response: "requests.Response", timeout: float) -> Iterator[bytes]:
    import urllib3  # with requests, when something is downloaded

    total = _announced(response)
    so_far = f"of {total} bytes" if total else "bytes"
    try:
        # As sent: some servers call every .gz file a compressed answer, and decoding it
        # would give bytes with another checksum.
        yield from response.raw.stream(_PIECE, decode_content=False)
    except urllib3.exceptions.ReadTimeoutError:
        raise _MirrorFailedError(
            f"nothing more in {timeout:g} seconds after {response.raw.tell()} {so_far}"
        ) from None
    except urllib3.exceptions.HTTPError:
        raise _MirrorFailedError(
            f"connection cut after {response.raw.tell()} {so_far}"
        ) from None


def _refuse_page(start: bytes) -> None:
    if start[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise _MirrorFailedError("got an HTML page instead of the file")


def _innermost(error: BaseException) -> BaseException:
    while error.__context__ is not None:
        error = error.__context__
    return error
