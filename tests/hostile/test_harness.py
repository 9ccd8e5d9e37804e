"""The table of hostile cases can fail: each fault is found by what looks for it."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile_command import Case, faults

pytestmark = pytest.mark.usefixtures("empty_folder")


def ending(stderr="", code=1, stdout=""):
    return lambda *_: SimpleNamespace(returncode=code, stdout=stdout, stderr=stderr)


REFUSED = Case("refused", (), "x.npy")
GOOD = "unbraid: x.npy: cannot be read.\n"


def test_a_good_refusal_and_a_good_success_have_no_fault():
    assert faults(REFUSED, ending(GOOD)) == []
    assert faults(REFUSED, ending("Reading 3 files\n" + GOOD, code=2)) == []
    assert faults(Case("fine", (), None), ending(code=0)) == []


@pytest.mark.parametrize(
    ("stderr", "code", "fault"),
    [
        (f"Traceback (most recent call last):\n{GOOD}", 1, "Traceback"),
        (
            "unbraid: x.npy: odd. This is a fault of unbraid: report it.\n",
            1,
            "fault of",
        ),
        ("unbraid: x.npy: 'NoneType' object has no attribute 'a'\n", 1, "NoneType"),
        ("unbraid: the file cannot be read.\n", 1, "does not name 'x.npy'"),
        ("x.npy\n", 1, "no single last line"),
        ("unbraid: x.npy\nunbraid: x.npy\n", 1, "no single last line"),
        ("unbraid: x.npy\nand another line\n", 1, "no single last line"),
        ("", 1, "no single last line"),
        (GOOD, 0, "code 0"),
        (GOOD, 130, "code 130"),
        (GOOD, 120, "code 120"),
        (f"unbraid: x.npy {'y' * 2000}\n", 1, "letters"),
    ],
)
def test_a_bad_end_is_a_fault(stderr, code, fault):
    found = faults(REFUSED, ending(stderr, code))
    assert any(fault in words for words in found), found


def test_a_failure_where_success_was_due_is_a_fault():
    assert "failed with 1" in faults(Case("fine", (), None), ending(GOOD))[0]


def test_words_that_are_missing_are_a_fault():
    case = Case("fine", (), None, says="./xy_squares")
    assert "does not say" in faults(case, ending(code=0))[0]
    assert faults(case, ending(code=0, stdout="use ./xy_squares")) == []


def test_an_exception_is_a_fault():
    def broken(*_):
        raise KeyError("surprise")

    assert "raised KeyError" in faults(REFUSED, broken)[0]


def test_a_case_that_takes_too_long_is_a_fault():
    def slow(*_):
        try:
            time.sleep(30)
        except Exception:  # what commands do with errors
            return

    started = time.monotonic()
    assert "not over" in faults(Case("slow", (), "x", seconds=0.2), slow)[0]
    assert time.monotonic() - started < 5


def test_a_case_that_takes_too_much_memory_is_a_fault():
    def greedy(*_):
        return bytearray(10_000_000_000)

    assert "raised MemoryError" in faults(REFUSED, greedy)[0]


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text("other")])
def test_a_file_that_is_deleted_or_changed_is_a_fault(harm):
    mine = Path("mine.txt")

    def harmful(*_):
        harm(mine)
        return ending(GOOD)()

    case = Case("harm", (), "x.npy", prepare=lambda: mine.write_text("mine"))
    assert any("mine.txt was" in words for words in faults(case, harmful))
