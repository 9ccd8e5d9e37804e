"""Ctrl-C at any moment, and readers of the output that are gone."""

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = (sys.executable, "-m", "unbraid")
LONG = ("train", "xy_squares", "-o", "run", "--steps", "1000000", "--device", "cpu")


def ended(command, **streams):
    done = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, timeout=60, **streams
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    assert "fault of unbraid" not in done.stderr, done.stderr
    return done


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("seconds", [0, 0.05, 0.3, 1.0, 2.5])
def test_interruption_in_the_first_seconds_is_one_line(seconds):
    # What the installed command does, with a sign of when it starts.
    script = "from unbraid.cli import main; print('started', flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *LONG],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert len([line for line in errors.splitlines() if "unbraid:" in line]) == 1


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("arguments", [("data", "list"), ("study", "preset")])
def test_a_closed_stdout_is_no_fault(arguments):
    shell = 'exec "$@" >&-'
    assert ended(["sh", "-c", shell, "sh", *COMMAND, *arguments]).returncode == 0


@pytest.mark.parametrize(
    "arguments", [("data", "list"), ("study", "preset", "dlib-2019"), ("--help",)]
)
def test_a_reader_that_is_gone_ends_the_command_quietly(arguments):
    read, write = os.pipe()
    os.close(read)
    try:
        done = ended([*COMMAND, *arguments], stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("arguments", [("data", "list"), ("study", "preset")])
def test_a_full_disk_behind_stdout_is_told(arguments):
    with open("/dev/full", "w") as full:
        done = ended([*COMMAND, *arguments], stdout=full)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
