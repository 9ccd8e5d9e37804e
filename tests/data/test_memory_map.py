import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from unbraid.data._memory_map import convert_once
from unbraid.foundation import DataFormatError

ROWS = np.arange(60, dtype=np.uint8).reshape(10, 2, 3)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def source(tmp_path, name="source.bin", content=b"content"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def in_pieces(rows=ROWS):
    """The last rows first, in blocks of different lengths."""
    yield 7, rows[7:]
    yield 0, rows[:1]
    yield 1, rows[1:7]


def convert(*paths, rows=ROWS, label="rows", blocks=in_pieces):
    return convert_once(list(paths), label, lambda: (rows.shape, blocks(rows)))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_rows_may_come_in_any_order(tmp_path):
    np.testing.assert_array_equal(convert(source(tmp_path)), ROWS)


def test_result_cannot_be_written_to(tmp_path):
    rows = convert(source(tmp_path))
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 1


def test_nothing_is_made_at_the_second_call(tmp_path):
    path = source(tmp_path)
    convert(path)
    again = convert_once([path], "rows", lambda: pytest.fail("made again"))
    np.testing.assert_array_equal(again, ROWS)


def test_every_source_counts(tmp_path):
    first, second = source(tmp_path), source(tmp_path, "other.bin")
    convert(first, second)
    os.utime(second, (5, 5))
    changed = convert(first, second, rows=ROWS + 1)
    np.testing.assert_array_equal(changed, ROWS + 1)
    assert len(names(tmp_path)) == 3


def test_labels_live_side_by_side(tmp_path):
    path = source(tmp_path)
    convert(path, label="one")
    convert(path, label="two", rows=ROWS + 1)
    np.testing.assert_array_equal(convert(path, label="one"), ROWS)
    assert len(names(tmp_path)) == 3


def test_missing_rows_are_told_and_leave_nothing(tmp_path):
    path = source(tmp_path)
    with pytest.raises(DataFormatError, match="must contain 10 images, got 7"):
        convert(path, blocks=lambda rows: iter([(0, rows[:7])]))
    assert names(tmp_path) == ["source.bin"]


def test_failure_half_way_leaves_nothing_and_the_next_call_works(tmp_path):
    def failing(rows):
        yield 0, rows[:5]
        raise KeyboardInterrupt

    path = source(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        convert(path, blocks=failing)
    assert names(tmp_path) == ["source.bin"]
    np.testing.assert_array_equal(convert(path), ROWS)


def test_full_disk_is_told_before_anything_is_written(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=2_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    huge = np.broadcast_to(np.uint8(0), (5000, 1000))
    blocks = iter([(0, huge)])
    with pytest.raises(OSError, match="needs 5 MB of free disk space, but only 2 MB"):
        convert(source(tmp_path), rows=huge, blocks=lambda rows: blocks)
    assert len(list(blocks)) == 1
    assert names(tmp_path) == ["source.bin"]


@pytest.mark.parametrize("n_bytes", [0, 5, 100, 150])
def test_damaged_conversion_is_told(tmp_path, n_bytes):
    convert(source(tmp_path))
    (converted,) = tmp_path.glob("*.npy")
    converted.write_bytes(converted.read_bytes()[:n_bytes])
    with pytest.raises(DataFormatError, match="Delete it: it will be created again"):
        convert(tmp_path / "source.bin")


def test_several_may_convert_at_once(tmp_path):
    path = source(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        results = [pool.submit(convert, path) for _ in range(8)]
    for result in results:
        np.testing.assert_array_equal(result.result(), ROWS)
    assert len(names(tmp_path)) == 2


def test_folders_of_one_name_are_kept_apart_in_the_cache(tmp_path, monkeypatch, cache):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    one, two = source(tmp_path, "one/source.bin"), source(tmp_path, "two/source.bin")
    for path in (one, two):
        os.utime(path, (5, 5))
    convert(one)
    np.testing.assert_array_equal(convert(two, rows=ROWS + 1), ROWS + 1)
    np.testing.assert_array_equal(convert(one), ROWS)
    assert names(one.parent) == names(two.parent) == ["source.bin"]
    assert len(list(cache.rglob("*.npy"))) == 2
