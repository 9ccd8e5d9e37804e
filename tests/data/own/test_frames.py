"""Frames of animations and videos are pictures, each with a name of its own."""

import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from small_discovery import plan_small
from whole_command import run_whole

import unbraid
from unbraid.cli import main
from unbraid.data import ImageFolder
from unbraid.discovery import read_plan

COLORS = {"red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255)}
NO_LOSS = {"gif": {}, "tif": {}, "webp": {"lossless": True}}


def save_animation(folder, name, colors=tuple(COLORS), **options):
    """Save an animation that shows one color after the other."""
    first, *others = (Image.new("RGB", (8, 8), color) for color in colors)
    first.save(folder / name, save_all=True, append_images=others, **options)


def all_images(pictures):
    return pictures.images(np.arange(len(pictures)))


def corners(pictures):
    """Color of the first pixel of each image."""
    return [tuple(image[:, 0, 0].tolist()) for image in all_images(pictures)]


@pytest.mark.parametrize("suffix", NO_LOSS)
def test_every_frame_is_an_image_named_after_its_file(folder, save, suffix):
    name = f"b.{suffix}"
    save("a.png", np.full((8, 8), 7, np.uint8))
    save_animation(folder, name, **NO_LOSS[suffix])
    save("c.gif", np.full((8, 8), 9, np.uint8))  # one frame: a picture like any other
    pictures = ImageFolder(folder, image_size=8)
    assert pictures.paths == ("a.png", *(f"{name}#{i}" for i in range(3)), "c.gif")
    assert corners(pictures) == [(7, 7, 7), *COLORS.values(), (9, 9, 9)]
    again = ImageFolder(folder, image_size=8)  # from the cache
    assert again.paths == pictures.paths
    assert corners(again) == corners(pictures)


def test_fewer_frames_on_request(folder):
    save_animation(folder, "a.gif", ["red", "lime", "blue", "white", "black"])
    every_other = ImageFolder(folder, frame_step=2)
    assert every_other.paths == ("a.gif#0", "a.gif#2", "a.gif#4")
    assert corners(every_other) == [COLORS["red"], COLORS["blue"], (0, 0, 0)]
    first = ImageFolder(folder, frames="first")
    assert (first.paths, corners(first)) == (("a.gif",), [COLORS["red"]])
    with pytest.raises(ValueError, match="frame_step must be a whole number"):
        ImageFolder(folder, frame_step=0)
    with pytest.raises(ValueError, match="frames must be"):
        ImageFolder(folder, frames="last")


def test_frames_that_are_painted_over_the_one_before_are_whole(folder):
    canvas, frames = np.zeros((8, 8), np.uint8), []
    for column in range(4):
        canvas[:, column] = 255
        frames.append(Image.fromarray(canvas.copy()))
    frames[0].save(folder / "a.gif", save_all=True, append_images=frames[1:])
    pictures = ImageFolder(folder, image_size=8, channels=1)
    expected = [np.asarray(frame) for frame in frames]
    assert np.array_equal(all_images(pictures)[:, 0], expected)


def test_pages_of_a_tiff_are_turned_upright_one_by_one(folder):
    lying = np.zeros((8, 8), np.uint8)
    lying[:, 4:] = 255
    pages = [Image.fromarray(lying) for _ in range(2)]
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    pages[0].save(folder / "a.tif", save_all=True, append_images=pages[1:], exif=exif)
    images = all_images(ImageFolder(folder, image_size=8, channels=1))[:, 0]
    assert np.array_equal(images[0], lying[::-1, ::-1])


def test_an_animation_that_breaks_off_loses_only_its_end(folder):
    noise = np.random.default_rng(0).integers(0, 256, (3, 32, 32), dtype=np.uint8)
    first, *others = map(Image.fromarray, noise)
    first.save(folder / "a.tif", save_all=True, append_images=others)
    content = bytearray((folder / "a.tif").read_bytes())
    start = content.rindex(noise[2].tobytes())
    (folder / "a.tif").write_bytes(content[: start + 100] + content[start + 1024 :])
    with pytest.raises(ValueError, match=r"a\.tif#2"):
        ImageFolder(folder)
    pictures = ImageFolder(folder, on_error="skip")
    assert pictures.paths == ("a.tif#0", "a.tif#1")
    assert list(pictures.skipped) == ["a.tif#2"]
    assert ImageFolder(folder, on_error="skip").paths == pictures.paths


def test_one_animation_is_a_dataset_and_its_codes_name_its_frames(
    folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shades = [(level, level, 255 - level) for level in range(0, 240, 6)]
    save_animation(folder, "clip.gif", shades)
    (folder / "clip.gif").rename(tmp_path / "clip.gif")
    plan_small(tmp_path / "found", "clip.gif", steps=1)
    data = read_plan(tmp_path / "found").study.base["data"]
    assert data == f"{tmp_path / 'clip.gif'}:image_size=8"
    run = unbraid.fit("vae", data, steps=2, n_latents=2, out="run", progress=False)
    assert run.model.framing.height == 8
    done = run_whole("encode", "run", "clip.gif", "-o", "codes.csv")
    assert done.returncode == 0, done.stderr
    frames = pd.read_csv("codes.csv")["file"]
    assert frames.tolist() == [f"clip.gif#{index}" for index in range(40)]


def test_a_missing_reader_of_videos_is_named_with_the_command(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)  # as if it were not installed
    (folder / "clip.mp4").write_bytes(b"0")
    pip = r"pip install 'unbraid\[video\]'"
    for path, videos in ((folder / "clip.mp4", False), (folder, True)):
        for on_error in ("raise", "skip"):
            with pytest.raises(ImportError, match=pip):
                ImageFolder(path, videos=videos, on_error=on_error)


def test_the_command_line_says_how_to_install_it(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "av", None)
    (folder / "clip.mp4").write_bytes(b"0")
    words = ["unbraid", "data", "info", str(folder / "clip.mp4")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    error = capsys.readouterr().err
    assert "pip install 'unbraid[video]'" in error
    assert "fault of unbraid" not in error


def test_videos_of_a_folder_are_used_on_request_only(folder, save):
    (folder / "clip.mp4").write_bytes(b"0")
    with pytest.raises(FileNotFoundError, match=r"1 video\(s\), pass videos=True"):
        ImageFolder(folder)
    save("a.png", np.full((8, 8), 7, np.uint8))
    assert ImageFolder(folder).paths == ("a.png",)


def save_video(path, levels, *, size=32):
    """Save a video of gray frames whose right half is white."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        for level in levels:
            pixels = np.full((size, size, 3), level, np.uint8)
            pixels[:, size // 2 :] = 255
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def test_frames_of_a_video_are_images(folder):
    levels = [0, 60, 120, 180]
    save_video(folder / "clip.mp4", levels)
    pictures = ImageFolder(folder, image_size=16, channels=1, videos=True)
    assert pictures.paths == tuple(f"clip.mp4#{index}" for index in range(4))
    images = all_images(pictures)[:, 0].astype(int)
    assert np.abs(images[:, :, :4].mean(axis=(1, 2)) - levels).max() < 12
    assert images[:, :, 12:].min() > 240
    some = ImageFolder(folder / "clip.mp4", frame_step=3)
    assert some.paths == ("clip.mp4#0", "clip.mp4#3")
    first = ImageFolder(folder / "clip.mp4", frames="first")
    assert first.paths == ("clip.mp4",)


def test_a_video_is_turned_upright(folder):
    path = folder / "clip.mp4"
    save_video(path, [0])
    one, nothing, last = b"\0\1\0\0", bytes(4), b"\x40\0\0\0"
    upright = one + 3 * nothing + one + 3 * nothing + last
    # The matrix of the file format for a player that turns frames clockwise.
    minus = b"\xff\xff\0\0"
    turned = nothing + one + nothing + minus + 4 * nothing + last
    content = path.read_bytes()
    start = content.rindex(upright)  # of the track; there is one of the whole file
    end = start + len(upright)
    path.write_bytes(content[:start] + turned + content[end:])
    image = ImageFolder(path, image_size=16, channels=1).images([0])[0, 0]
    assert image[:4].max() < 30  # the left half, which is now above
    assert image[12:].min() > 225


def test_a_broken_video_is_reported_like_a_broken_picture(folder, save):
    pytest.importorskip("av")
    save("a.png", np.full((8, 8), 7, np.uint8))
    (folder / "b.mp4").write_bytes(b"not a video")
    with pytest.raises(ValueError, match=r"b\.mp4"):
        ImageFolder(folder, videos=True)
    pictures = ImageFolder(folder, videos=True, on_error="skip")
    assert pictures.paths == ("a.png",)
