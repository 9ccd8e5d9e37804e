import dataclasses
import hashlib
import http.server
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from unbraid.data import DSprites, FactorSpace, RemoteFile, fetch, verify
from unbraid.data._download import data_root
from unbraid.foundation import (
    DataFormatError,
    DatasetNotFoundError,
    DownloadError,
    numpy_generator,
)

CONTENT = numpy_generator(0, "download").bytes(3_000_000)
OTHER = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
PAGE = b"\n<!DOCTYPE html>\n<html><body>Quota exceeded</body></html>"
TIMEOUT = 0.5


class Mirror(http.server.ThreadingHTTPServer):
    """A server on this machine whose answer depends on the path."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.closing = threading.Event()
        self.asked = []
        self.files = {"/right": CONTENT, "/wrong": OTHER, "/page": PAGE}

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Answer(http.server.BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self):
        self.server.asked.append(self.path.removeprefix("/"))
        special = getattr(self, f"do_{self.path.removeprefix('/')}", None)
        if special:
            special()
        elif self.path in self.server.files:
            self.send(self.server.files[self.path])
        else:
            self.send_error(404)

    def send(self, data, announced=None, **headers):
        self.send_response(200)
        self.send_header("Content-Length", str(announced or len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_empty(self):
        self.send(b"")

    def do_short(self):
        self.send(CONTENT[:1000])

    def do_long(self):
        self.send(CONTENT + b"x" * 3_000_000)

    def do_cut(self):
        self.send(CONTENT[:2_000_000], announced=len(CONTENT))

    def do_cut_chunks(self):
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"1000\r\n" + CONTENT[:0x1000] + b"\r\n")

    def do_hangup(self):
        """Neither a status nor anything else."""

    def do_silent(self):
        self.server.closing.wait(60)

    def do_stall(self):
        self.send(CONTENT[:2_000_000], announced=len(CONTENT))
        self.wfile.flush()
        self.server.closing.wait(60)

    def do_slow(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        for start in range(0, len(CONTENT), 500_000):
            self.wfile.write(CONTENT[start : start + 500_000])
            time.sleep(0.02)

    def do_said_to_be_compressed(self):
        self.send(CONTENT, Content_Encoding="gzip", Content_Type="application/x-gzip")

    def do_moved(self):
        self.send_response(302)
        self.send_header("Location", "/right")
        self.end_headers()

    def do_moved_forever(self):
        self.send_response(302)
        self.send_header("Location", "/moved_forever")
        self.end_headers()

    def move(self, address):
        self.send_response(302)
        self.send_header("Location", address)
        self.end_headers()

    def do_moved_nowhere(self):
        self.move("http://")

    def do_moved_to_brackets(self):
        self.move("http://[bad")

    def do_moved_to_no_port(self):
        self.move("http://127.0.0.1:99999999/")

    def do_moved_to_a_file(self):
        self.move("file:///etc/passwd")

    def do_moved_to_a_long_label(self):
        self.move(f"http://{'a' * 300}.example/")

    def do_length_of_letters(self):
        self.send(CONTENT, announced="many")

    def do_two_lengths(self):
        self.send(CONTENT, announced=f"{len(CONTENT)}, 7")

    def do_length_too_large(self):
        self.send(CONTENT, announced=10**18)

    def do_length_of_many_digits(self):
        self.send(CONTENT, announced="9" * 5000)

    def do_negative_length(self):
        self.send(CONTENT, announced=-5)

    def do_broken(self):
        self.send_error(503)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def mirror(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Mirror() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


def remote(mirror, *paths, **changes):
    known = {
        "name": "data.bin",
        "page": "https://example.org/data",
        "size": len(CONTENT),
        "checksum": f"sha256:{hashlib.sha256(CONTENT).hexdigest()}",
        "urls": tuple(mirror.url(path) for path in paths),
    }
    return RemoteFile(**(known | changes))


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("path", ["right", "moved", "slow", "said_to_be_compressed"])
@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_right_file_arrives_whole_and_alone(mirror, tmp_path, path, size):
    folder = tmp_path / "new" / "folder"
    found = fetch(remote(mirror, path, size=size), folder, timeout=TIMEOUT)
    assert found == folder / "data.bin"
    assert found.read_bytes() == CONTENT
    assert names(folder) == ["data.bin"]


def test_file_can_be_read_by_others_as_far_as_the_user_allows(mirror, tmp_path):
    old = os.umask(0o022)
    try:
        path = fetch(remote(mirror, "right"), tmp_path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o644


def test_md5_is_enough(mirror, tmp_path):
    checksum = f"md5:{hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()}"
    path = fetch(remote(mirror, "right", checksum=checksum, size=None), tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("wrong", "the sha256 checksum must be "),
        ("page", "the mirror sent an HTML page instead of the file"),
        ("cut", "connection lost after 2000000 of 3000000 bytes"),
        ("cut_chunks", "connection lost after "),
        ("missing", "HTTP 404 Not Found"),
        ("broken", "HTTP 503 Service Unavailable"),
        ("silent", "no answer in 0.5 seconds"),
        ("stall", "no data for 0.5 seconds after 1966080 of 3000000 bytes"),
        ("hangup", "no answer: Remote end closed connection"),
        ("empty", "the size must be 3000000 bytes, got 0"),
        ("short", "the size must be 3000000 bytes, got 1000"),
        ("long", "the size must be 3000000 bytes, got "),
        ("moved_forever", "no answer: Exceeded 30 redirects"),
    ],
)
def test_failing_mirror_is_told_and_leaves_nothing(mirror, tmp_path, path, reason):
    with pytest.raises(DownloadError) as caught:
        fetch(remote(mirror, path), tmp_path, timeout=TIMEOUT)
    first, line, last = str(caught.value).split("\n")
    assert line.startswith(f"  {mirror.url(path)}: {reason}")
    assert "https://example.org/data" in last
    assert str(tmp_path / "data.bin") in last
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("short", "sha256 checksum must be"),
        ("cut", "connection lost"),
        ("page", "HTML page"),
    ],
)
def test_failures_are_seen_without_a_known_size(mirror, tmp_path, path, reason):
    with pytest.raises(DownloadError, match=reason):
        fetch(remote(mirror, path, size=None), tmp_path, timeout=TIMEOUT)
    assert names(tmp_path) == []


def test_wrong_hash_is_told_with_both_hashes(mirror, tmp_path):
    with pytest.raises(DownloadError) as caught:
        fetch(remote(mirror, "wrong"), tmp_path)
    assert hashlib.sha256(CONTENT).hexdigest() in str(caught.value)
    assert hashlib.sha256(OTHER).hexdigest() in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/file", "file:///etc/passwd"])
def test_address_that_nothing_listens_at_is_told(tmp_path, mirror, url):
    with pytest.raises(DownloadError, match=f"{url}: no answer: "):
        fetch(remote(mirror, urls=(url,)), tmp_path)
    assert names(tmp_path) == []


def test_mirrors_are_tried_in_turn_until_one_works(mirror, tmp_path):
    failing = ["missing", "page", "cut", "wrong", "silent"]
    path = fetch(remote(mirror, *failing, "right", "slow"), tmp_path, timeout=TIMEOUT)
    assert path.read_bytes() == CONTENT
    assert mirror.asked == [*failing, "right"]
    assert names(tmp_path) == ["data.bin"]


def test_every_failed_mirror_has_its_line(mirror, tmp_path):
    with pytest.raises(DownloadError) as caught:
        fetch(remote(mirror, "missing", "page", "cut"), tmp_path)
    _, *lines, _ = str(caught.value).split("\n")
    assert [line.strip().split(": ") for line in lines] == [
        [mirror.url("missing"), "HTTP 404 Not Found"],
        [mirror.url("page"), "the mirror sent an HTML page instead of the file"],
        [mirror.url("cut"), "connection lost after 2000000 of 3000000 bytes"],
    ]


def test_file_without_addresses_is_left_to_people(tmp_path, mirror):
    with pytest.raises(DownloadError, match="by hand from https://example.org/data"):
        fetch(remote(mirror), tmp_path)


def test_right_file_is_not_fetched_again(mirror, tmp_path):
    (tmp_path / "data.bin").write_bytes(CONTENT)
    fetch(remote(mirror, "right"), tmp_path)
    assert mirror.asked == []


def test_damaged_file_is_replaced(mirror, tmp_path):
    (tmp_path / "data.bin").write_bytes(OTHER)
    assert fetch(remote(mirror, "right"), tmp_path).read_bytes() == CONTENT


def test_damaged_file_stays_when_nothing_better_comes(mirror, tmp_path):
    (tmp_path / "data.bin").write_bytes(OTHER)
    with pytest.raises(DownloadError):
        fetch(remote(mirror, "cut"), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == OTHER
    assert names(tmp_path) == ["data.bin"]


def test_several_may_fetch_the_same_file_at_once(mirror, tmp_path):
    with ThreadPoolExecutor(6) as pool:
        results = [pool.submit(fetch, remote(mirror, "slow"), tmp_path) for _ in "ab"]
        results += [pool.submit(fetch, remote(mirror, "right"), tmp_path) for _ in "ab"]
        failures = [pool.submit(fetch, remote(mirror, "cut"), tmp_path) for _ in "ab"]
    assert all(result.result().read_bytes() == CONTENT for result in results)
    assert names(tmp_path) == ["data.bin"]
    # These may have found the file of the others, or have failed.
    assert all(
        failure.exception() is None or isinstance(failure.exception(), DownloadError)
        for failure in failures
    )


def test_killed_download_is_never_taken_for_the_file(mirror, tmp_path):
    code = (
        "from unbraid.data import RemoteFile, fetch\n"
        f"fetch({remote(mirror, 'stall')!r}, {str(tmp_path)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in tmp_path.iterdir()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (left,) = tmp_path.iterdir()
    assert left.name != "data.bin"

    # Young leftovers may belong to someone at work; old ones are swept away.
    target = fetch(remote(mirror, "right"), tmp_path)
    assert target.read_bytes() == CONTENT
    assert left.exists()
    target.unlink()
    os.utime(left, (0, 0))
    fetch(remote(mirror, "right"), tmp_path)
    assert names(tmp_path) == ["data.bin"]


def test_interrupted_download_leaves_nothing(mirror, tmp_path, monkeypatch):
    def interrupt(self, n):
        raise KeyboardInterrupt

    monkeypatch.setattr("tqdm.tqdm.update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(remote(mirror, "right"), tmp_path)
    assert names(tmp_path) == []


def test_full_disk_is_told_before_anything_is_fetched(mirror, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OSError, match="needs 3 MB of free disk space, but only 1 MB"):
        fetch(remote(mirror, "right", "slow"), tmp_path)
    assert names(tmp_path) == []
    assert mirror.asked == ["right"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "shown"),
    [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)],
)
def test_progress_is_shown_on_a_terminal_only(
    mirror, tmp_path, monkeypatch, stream, progress, shown
):
    monkeypatch.setattr(sys, "stderr", stream())
    fetch(remote(mirror, "slow"), tmp_path, progress=progress)
    written = sys.stderr.getvalue()
    assert ("data.bin" in written) == shown
    assert bool(written) == shown


def test_verify_tells_a_wrong_size_and_a_wrong_hash(mirror, tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    verify(path, remote(mirror))
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(DataFormatError, match="3000000 bytes, got 2999999"):
        verify(path, remote(mirror))
    path.write_bytes(OTHER)
    with pytest.raises(DataFormatError, match="sha256 checksum must be"):
        verify(str(path), remote(mirror))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../evil"},
        {"name": ""},
        {"name": ".."},
        {"name": "a\\b"},
        {"checksum": ""},
        {"checksum": "md5:123"},
        {"checksum": "sha1:" + 40 * "a"},
        {"checksum": "md5:" + 32 * "G"},
    ],
)
def test_description_that_makes_no_sense_is_refused(mirror, change):
    with pytest.raises(ValueError, match="must be"):
        remote(mirror, **change)


def test_root_is_the_argument_or_the_environment_or_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "shared"))
    assert data_root("here").as_posix() == "here"
    assert data_root() == tmp_path / "shared"
    monkeypatch.delenv("UNBRAID_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_root() == tmp_path / "cache" / "unbraid"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_root("~/data") == tmp_path / "data"


def test_dataset_fetches_its_missing_file(mirror, tmp_path, monkeypatch):
    sizes = (1, 3, 2, 2, 2, 2)
    classes = FactorSpace(tuple("abcdef"), sizes).factors(np.arange(48))
    archive = io.BytesIO()
    images = np.ones((48, 8, 8), dtype=np.uint8)
    np.savez_compressed(archive, imgs=images, latents_classes=classes)
    mirror.files["/dsprites"] = archive.getvalue()
    file = dataclasses.replace(
        DSprites.files[0],
        urls=(mirror.url("missing"), mirror.url("dsprites")),
        checksum=f"sha256:{hashlib.sha256(archive.getvalue()).hexdigest()}",
    )
    monkeypatch.setattr(DSprites, "files", (file,))
    with pytest.raises(DatasetNotFoundError):
        DSprites(root=tmp_path)
    dataset = DSprites(root=tmp_path, download=True)
    assert len(dataset) == 48
    assert DSprites.folder(tmp_path) == tmp_path / "dsprites"
    verify(tmp_path / "dsprites" / file.name, file)
    DSprites(root=tmp_path, download=True)
    assert mirror.asked == ["missing", "dsprites"]


@pytest.mark.parametrize("knows_size", [True, False])
@pytest.mark.parametrize(
    "answer",
    [
        "moved_nowhere",
        "moved_to_brackets",
        "moved_to_no_port",
        "moved_to_a_file",
        "moved_to_a_long_label",
        "length_of_letters",
        "two_lengths",
        "length_too_large",
        "length_of_many_digits",
        "negative_length",
    ],
)
def test_after_a_bad_redirect_or_length_the_next_mirror_is_tried(
    mirror, tmp_path, answer, knows_size
):
    digest = hashlib.sha256(CONTENT).hexdigest()
    wanted = RemoteFile(
        name="file.bin",
        page="https://example.org",
        checksum=f"sha256:{digest}",
        urls=(mirror.url(answer), mirror.url("right")),
        size=len(CONTENT) if knows_size else None,
    )
    path = fetch(wanted, tmp_path, progress=False, timeout=TIMEOUT)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in tmp_path.iterdir()] == ["file.bin"]
