import errno
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from PIL import Image

from unbraid.data import ImageFolder
from unbraid.data.own import _picture_decoding


def gray(level: int) -> np.ndarray:
    return np.full((8, 8), level, np.uint8)


def level(pictures: ImageFolder, row: int = 0) -> int:
    return int(pictures.images([row])[0, 0, 0, 0])


@pytest.fixture
def decoded(monkeypatch):
    """Names of the pictures that are decoded from here on."""
    names = []
    real = _picture_decoding.read_picture

    def read_picture(path, framing):
        names.append(path.name)
        return real(path, framing)

    monkeypatch.setattr(_picture_decoding, "read_picture", read_picture)
    return names


def test_pictures_are_decoded_once(folder, save, decoded):
    save("a.png", gray(1))
    save("b.png", gray(2))
    first = ImageFolder(folder)
    assert sorted(decoded) == ["a.png", "b.png"]
    again = ImageFolder(folder)
    assert len(decoded) == 2
    assert again.paths == first.paths
    assert again.fingerprint() == first.fingerprint()
    rows = [0, 1]
    assert np.array_equal(again.images(rows), first.images(rows))


def test_cache_is_one_array_and_one_record_outside_the_folder(folder, save, cache):
    save("a.png", gray(1))
    ImageFolder(folder, image_size=8)
    assert sorted(path.suffix for path in cache.iterdir()) == [".json", ".npy"]
    assert [path.name for path in folder.iterdir()] == ["a.png"]
    (array,) = cache.glob("*.npy")
    assert np.load(array).shape == (1, 8, 8, 3)
    (record,) = cache.glob("*.json")
    assert json.loads(record.read_text())["files"][0][0] == "a.png"


def test_named_cache_folder_is_used(folder, save, tmp_path, cache):
    save("a.png", gray(1))
    ImageFolder(folder, cache=tmp_path / "here" / "there")
    assert len(list((tmp_path / "here" / "there").iterdir())) == 2
    assert not cache.exists()


def test_images_are_mapped_and_not_loaded(folder, save):
    save("a.png", gray(1))
    pixels = ImageFolder(folder)._pictures.pixels
    assert isinstance(pixels.base, np.memmap)


def test_added_picture_is_noticed(folder, save):
    save("b.png", gray(2))
    before = ImageFolder(folder)
    save("a.png", gray(1))
    after = ImageFolder(folder)
    assert after.paths == ("a.png", "b.png")
    assert (level(after), level(after, 1)) == (1, 2)
    assert (len(before), level(before)) == (1, 2)  # the old one is what it was


def test_removed_picture_is_noticed(folder, save):
    save("a.png", gray(1))
    save("b.png", gray(2))
    ImageFolder(folder)
    (folder / "a.png").unlink()
    after = ImageFolder(folder)
    assert (after.paths, level(after)) == (("b.png",), 2)


def test_renamed_picture_is_noticed(folder, save):
    save("a.png", gray(1))
    ImageFolder(folder)
    (folder / "a.png").rename(folder / "c.png")
    assert ImageFolder(folder).paths == ("c.png",)


def test_changed_picture_of_equal_size_and_time_is_noticed(folder, save):
    path = save("a.bmp", gray(1))
    status = path.stat()
    ImageFolder(folder)
    time.sleep(0.02)  # longer than a tick of the file system's clock
    save("a.bmp", gray(2))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert level(ImageFolder(folder)) == 2


def test_each_setting_has_its_own_cache(folder, save):
    save("a.png", np.pad(gray(9), ((0, 0), (4, 4))))
    shapes = {ImageFolder(folder, image_size=s).image_shape for s in (8, (8, 4), 4)}
    assert shapes == {(3, 8, 8), (3, 8, 4), (3, 4, 4)}
    assert ImageFolder(folder, channels=1).image_shape == (1, 64, 64)
    crops = ("centre", "pad", "stretch")
    prints = {ImageFolder(folder, crop=crop).fingerprint() for crop in crops}
    assert len(prints) == 3
    padded = ImageFolder(folder, crop="pad", background=0).fingerprint()
    assert padded not in prints


def test_broken_pictures_are_remembered_but_tried_again(folder, save, decoded):
    save("a.png", gray(1))
    (folder / "b.png").write_bytes(b"")
    with pytest.raises(ValueError, match=r"b.png"):
        ImageFolder(folder)
    assert sorted(decoded) == ["a.png", "b.png"]
    ImageFolder(folder, on_error="skip")
    assert sorted(decoded) == ["a.png", "b.png", "b.png"]


def test_picture_counts_again_once_a_limit_is_raised(folder, save, monkeypatch):
    save("a.png", gray(1))
    save("big.png", np.full((80, 80), 2, np.uint8))
    with monkeypatch.context() as limited:
        limited.setattr(Image, "MAX_IMAGE_PIXELS", 100)
        assert ImageFolder(folder, on_error="skip").paths == ("a.png",)
    assert ImageFolder(folder).paths == ("a.png", "big.png")


@pytest.mark.parametrize("damage", [b"", b"not an array", b"{}"])
@pytest.mark.parametrize("suffix", [".npy", ".json"])
def test_damaged_cache_is_built_anew(folder, save, cache, suffix, damage):
    save("a.png", gray(1))
    before = ImageFolder(folder).fingerprint()
    (path,) = cache.glob(f"*{suffix}")
    path.write_bytes(damage)
    after = ImageFolder(folder)
    assert (level(after), after.fingerprint()) == (1, before)


def test_cache_that_was_cut_short_is_built_anew(folder, save, cache):
    save("a.png", gray(1))
    ImageFolder(folder)
    (path,) = cache.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-100])
    assert level(ImageFolder(folder)) == 1


def test_cache_that_cannot_be_written_is_an_error(folder, save, tmp_path):
    save("a.png", gray(1))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match=r"Pass cache= or set UNBRAID_CACHE"):
        ImageFolder(folder, cache=tmp_path / "file" / "cache")


def test_full_disk_is_an_error_and_leaves_nothing_behind(
    folder, save, cache, monkeypatch
):
    save("a.png", gray(1))
    filters = list(warnings.filters)

    def fsync(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left on device"):
        ImageFolder(folder)
    assert list(cache.iterdir()) == []
    assert list(warnings.filters) == filters


def test_interrupted_build_leaves_nothing_behind(folder, save, cache, monkeypatch):
    for i in range(20):
        save(f"{i}.png", gray(i))

    def read_picture(path, framing):
        if path.name == "15.png":
            raise KeyboardInterrupt
        return np.zeros((64, 64, 3), np.uint8)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(_picture_decoding, "read_picture", read_picture)
        with pytest.raises(KeyboardInterrupt):
            ImageFolder(folder)
    assert list(cache.iterdir()) == []
    assert level(ImageFolder(folder), 19) == 9


def test_old_leftovers_of_the_same_folder_are_removed(folder, save, cache):
    save("a.png", gray(1))
    ImageFolder(folder)
    (array,) = cache.glob("*.npy")
    (cache / f"{array.stem}.killed.part").write_bytes(b"half an array")
    ImageFolder(folder, image_size=8)
    old = sorted(cache.iterdir())
    for path in old:
        os.utime(path, (0, 0))
    save("b.png", gray(2))
    ImageFolder(folder)
    assert sum(path.exists() for path in old) == 2  # those of the other size
    assert len(list(cache.iterdir())) == 4


def test_young_leftovers_may_belong_to_others_and_stay(folder, save, cache):
    save("a.png", gray(1))
    ImageFolder(folder)
    save("b.png", gray(2))
    ImageFolder(folder)
    assert len(list(cache.iterdir())) == 4


def test_processes_that_build_at_once_agree(folder, save, cache):
    for i in range(200):
        save(f"{i:03}.png", gray(i))
    code = (
        "import sys; from unbraid.data import ImageFolder;"
        "print('ready', flush=True); sys.stdin.readline();"
        "print(ImageFolder(sys.argv[1]).fingerprint())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    prints = [process.communicate()[0].strip() for process in processes]
    assert prints == [ImageFolder(folder).fingerprint()] * 2
    assert len(list(cache.iterdir())) == 2


def test_nothing_is_shown_in_a_pipe(folder, save, capfd):
    save("a.png", gray(1))
    ImageFolder(folder)
    assert capfd.readouterr() == ("", "")
