"""Locks on files: held by one process at a time, and gone with it."""

import subprocess
import sys

import pytest

from unbraid.foundation import is_locked, locked

HOLD = """
import sys, time, pathlib
from unbraid.foundation import locked
with locked(pathlib.Path(sys.argv[1])) as is_ours:
    print(is_ours, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a file."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


def test_a_second_process_does_not_get_the_lock_until_the_first_is_killed(
    tmp_path, holder
):
    path = tmp_path / "lock"
    assert is_locked(path)
    with locked(path) as is_ours:
        assert not is_ours
    holder.kill()
    holder.wait()
    assert not is_locked(path)
    with locked(path) as is_ours:
        assert is_ours


def test_a_second_lock_in_the_same_process_is_refused(tmp_path):
    path = tmp_path / "folder" / "lock"
    with locked(path) as is_ours, locked(path) as is_ours_too:
        assert is_ours
        assert not is_ours_too
    assert path.is_file()
    assert not is_locked(path)


def test_an_error_within_the_block_releases_the_lock(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), locked(path):
        1 / 0  # noqa: B018
    assert not is_locked(path)


def test_a_folder_cannot_be_locked(tmp_path):
    with pytest.raises(FileExistsError, match="not a regular file"), locked(tmp_path):
        pass
