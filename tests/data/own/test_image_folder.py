import dataclasses
import os
import socket
from pathlib import Path

import numpy as np
import pytest

from unbraid.data import FactorSpace, ImageFolder
from unbraid.foundation import DataFormatError
from unbraid.testing import check_dataset


def gray(level: int) -> np.ndarray:
    return np.full((8, 8), level, np.uint8)


def levels(pictures: ImageFolder) -> list[int]:
    return pictures.images(np.arange(len(pictures)))[:, 0, 0, 0].tolist()


def test_conforms(folder, save):
    for level in range(5):
        save(f"{level}.png", gray(level))
    check_dataset(ImageFolder(folder))
    check_dataset(ImageFolder(folder, image_size=(8, 16), channels=1))


def test_defaults_are_color_of_64_pixels(folder, save):
    save("a.png", gray(1))
    pictures = ImageFolder(folder)
    assert pictures.image_shape == (3, 64, 64)
    assert pictures.name == "my_pictures"
    assert pictures.skipped == {}


def test_fields_are_the_options_alone(folder, save):
    save("a.png", gray(1))
    small = dataclasses.replace(ImageFolder(folder, channels=1), image_size=8)
    assert small.image_shape == (1, 8, 8)
    options = {"image_size", "channels", "crop", "background", "on_error", "cache"}
    options |= {"frames", "frame_step", "videos"}
    assert set(dataclasses.asdict(small)) == {"path", "label_folders", *options}


def test_order_is_that_of_the_names_and_not_of_the_disk(folder, save):
    names = ["b/2.png", "a.png", "b/10.png", "B.png", "a/z/0.png"]
    for level, name in enumerate(names):
        save(name, gray(level))
    pictures = ImageFolder(folder)
    assert pictures.paths == tuple(sorted(names))
    assert levels(pictures) == [names.index(name) for name in sorted(names)]


def test_hidden_files_and_other_files_are_passed_over(folder, save):
    save("a.png", gray(1))
    save(".hidden.png", gray(2))
    save(".thumbnails/b.png", gray(3))
    (folder / "notes.txt").write_text("nothing to see")
    (folder / "no_suffix").write_bytes(b"")
    assert ImageFolder(folder).paths == ("a.png",)


@pytest.mark.parametrize(
    "name",
    ["ein schönes Bild.png", "写真.png", "a\nb.png", "a'\"b%s{}.png", "a\udcff.png"],
)
def test_odd_file_names_are_read_cached_and_reported(folder, save, name):
    try:
        save(name, gray(5))
    except OSError:
        pytest.skip("this file system does not allow the name")
    (folder / f"broken {name}").write_bytes(b"")
    with pytest.raises(DataFormatError, match="the file is empty") as failure:
        ImageFolder(folder)
    str(failure.value).encode()  # can be printed
    assert "\n" not in str(failure.value)
    for _ in range(2):
        pictures = ImageFolder(folder, on_error="skip")
        assert pictures.paths == (name,)
        assert list(pictures.skipped) == [f"broken {name}"]
        assert levels(pictures) == [5]


def test_link_that_leads_back_ends(folder, save):
    save("a/x.png", gray(1))
    (folder / "a" / "back").symlink_to(folder, target_is_directory=True)
    assert ImageFolder(folder).paths == ("a/x.png",)


def test_linked_folder_and_file_are_followed(folder, save, tmp_path):
    path = save("x.png", gray(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / "x.png")
    (folder / "linked").symlink_to(elsewhere, target_is_directory=True)
    (folder / "y.png").symlink_to(elsewhere / "x.png")
    assert ImageFolder(folder).paths == ("linked/x.png", "y.png")


def test_broken_links_are_named(folder, save):
    save("good.png", gray(1))
    (folder / "dangling.png").symlink_to(folder / "gone.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    with pytest.raises(DataFormatError, match="'dangling.png' .* 'loop.png'"):
        ImageFolder(folder)
    skipped = ImageFolder(folder, on_error="skip").skipped
    assert skipped["dangling.png"] == os.strerror(2)
    assert list(skipped) == ["dangling.png", "loop.png"]


def test_pipe_and_socket_called_pictures_are_named_and_not_waited_for(
    folder, save, monkeypatch
):
    save("good.png", gray(1))
    os.mkfifo(folder / "pipe.png")
    monkeypatch.chdir(folder)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.png")
    skipped = ImageFolder(folder, on_error="skip").skipped
    assert skipped == dict.fromkeys(("pipe.png", "socket.png"), "not a regular file")


def test_folder_called_like_a_picture_is_a_folder(folder, save):
    save("album.png/a.png", gray(1))
    assert ImageFolder(folder).paths == ("album.png/a.png",)


def test_unreadable_file_is_named(folder, save, monkeypatch):
    save("good.png", gray(1))
    save("secret.png", gray(2))
    real = os.stat
    listed = []

    def stat(path, *args, **options):
        # Listed first, read second; permissions would not stop a test run as root.
        if str(path).endswith("secret.png"):
            listed.append(path)
            if len(listed) > 1:
                raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **options)

    monkeypatch.setattr(os, "stat", stat)
    skipped = ImageFolder(folder, on_error="skip").skipped
    assert skipped == {"secret.png": "Permission denied"}


def test_unreadable_folder_is_named(folder, save, monkeypatch):
    save("a.png", gray(1))
    save("secret/a.png", gray(1))
    real = os.scandir

    def scandir(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(OSError, match=r"secret' cannot be read \(Permission denied\)"):
        ImageFolder(folder)


def test_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder 'nowhere'"):
        ImageFolder("nowhere")


def test_file_instead_of_a_folder_is_an_error(folder):
    path = folder / "a.txt"
    path.write_text("no picture")
    with pytest.raises(NotADirectoryError, match="a.txt' is a file, not a folder"):
        ImageFolder(path)


def test_a_single_picture_is_a_dataset_of_one_image(folder, save):
    save("a.png", gray(1))
    one = ImageFolder(save("b.png", gray(2)))
    assert (one.paths, levels(one)) == (("b.png",), [2])


def test_folder_without_pictures_says_how_many_files_there_are(folder):
    with pytest.raises(FileNotFoundError, match="no pictures .* among the 0 files"):
        ImageFolder(folder)
    (folder / "notes.txt").write_text("a")
    (folder / "sub").mkdir()
    (folder / "sub" / "data.csv").write_text("a")
    with pytest.raises(FileNotFoundError, match=r"\.png.* among the 2 files"):
        ImageFolder(folder)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_folder_of_broken_pictures_only_is_an_error(folder, on_error):
    for name in "abcde":
        (folder / f"{name}.png").write_bytes(b"")
    with pytest.raises(DataFormatError, match=r"'c.png' \(.*\) and 2 more"):
        ImageFolder(folder, on_error=on_error)


def test_skipping_keeps_images_and_paths_together(folder, save):
    for level in range(6):
        save(f"{level}.png", gray(level))
    (folder / "2.png").write_bytes(b"")
    (folder / "5.png").write_bytes(b"text")
    pictures = ImageFolder(folder, on_error="skip")
    assert pictures.paths == ("0.png", "1.png", "3.png", "4.png")
    assert levels(pictures) == [0, 1, 3, 4]
    assert pictures.skipped == {
        "2.png": "the file is empty",
        "5.png": "not a picture in any known format",
    }
    check_dataset(pictures)


def test_sub_folders_become_labels(folder, save):
    for level, name in enumerate(["dog/a.png", "cat/b.png", "cat/old/c.png"]):
        save(name, gray(level))
    assert ImageFolder(folder).factors([0]) is None
    pictures = ImageFolder(folder, label_folders=True)
    check_dataset(pictures)
    assert pictures.factor_space == FactorSpace(("folder",), (2,), ("categorical",))
    assert pictures.factor_values == (("cat", "dog"),)
    assert pictures.factors([0, 1, 2]).tolist() == [[0], [0], [1]]
    assert not pictures.is_grid


def test_one_picture_per_sub_folder_is_a_grid(folder, save):
    for name in ["dog/a.png", "cat/b.png"]:
        save(name, gray(0))
    pictures = ImageFolder(folder, label_folders=True)
    assert pictures.is_grid
    check_dataset(pictures)


def test_picture_outside_of_sub_folders_has_no_label(folder, save):
    save("cat/a.png", gray(1))
    save("b.png", gray(1))
    with pytest.raises(ValueError, match=r"in a sub-folder, but 'b.png' is not"):
        ImageFolder(folder, label_folders=True)


def test_fingerprint_follows_pixels_and_labels_but_not_places(folder, save, tmp_path):
    save("a/x.png", gray(1))
    save("a/y.png", gray(2))
    first = ImageFolder(folder).fingerprint()
    labeled = ImageFolder(folder, label_folders=True).fingerprint()
    assert labeled != first
    folder.rename(tmp_path / "moved")
    moved = tmp_path / "moved"
    assert ImageFolder(moved).fingerprint() == first
    (moved / "a").rename(moved / "b")
    assert ImageFolder(moved).fingerprint() == first
    assert ImageFolder(moved, label_folders=True).fingerprint() != labeled
    pixels = gray(2)
    pixels[7, 7] = 3
    save(str(moved / "b" / "y.png"), pixels)
    assert ImageFolder(moved, image_size=8).fingerprint() != first
    assert ImageFolder(moved).fingerprint() != first


def test_fingerprint_sees_a_pixel_that_a_sample_of_images_would_miss(folder, save):
    for i in range(600):
        save(f"{i:03}.png", gray(7))
    before = ImageFolder(folder, image_size=8).fingerprint()
    pixels = gray(7)
    pixels[3, 3] = 8
    save("301.png", pixels)
    assert ImageFolder(folder, image_size=8).fingerprint() != before


def test_path_may_be_relative_or_start_at_home(folder, save, monkeypatch, tmp_path):
    save("a.png", gray(1))
    monkeypatch.chdir(folder)
    assert ImageFolder(".").name == "my_pictures"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ImageFolder(Path("~") / folder.name).paths == ("a.png",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 0}, "image_size .* got 0"),
        ({"image_size": 1.5}, "image_size .* got 1.5"),
        ({"image_size": True}, "image_size .* got True"),
        ({"image_size": "64"}, "image_size .* got '64'"),
        ({"image_size": (8, 8, 3)}, r"image_size .* got \(8, 8, 3\)"),
        ({"channels": 4}, "channels must be 1 or 3, got 4"),
        ({"crop": "center"}, "'centre', 'stretch' or 'pad', got 'center'"),
        ({"background": 256}, "background must be between 0 and 255, got 256"),
        ({"background": "white"}, "background must be an integer, got 'white'"),
        ({"on_error": "ignore"}, "'raise' or 'skip', got 'ignore'"),
    ],
)
def test_bad_options_are_refused(folder, options, message):
    with pytest.raises(ValueError, match=message):
        ImageFolder(folder, **options)
