"""Hostile pictures and folders of pictures."""

import os
import socket
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hostile_command import Case, faults
from PIL import Image


def chunk(kind, data, *, length=None, checksum=None):
    size = len(data) if length is None else length
    crc = zlib.crc32(kind + data) if checksum is None else checksum
    return struct.pack(">I", size) + kind + data + struct.pack(">I", crc)


def png(*parts, width=8, height=8, depth=8, data=None):
    """A PNG with anything between its header and its pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(9 * 8)) if data is None else data
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            *parts,
            chunk(b"IDAT", pixels),
            chunk(b"IEND", b""),
        ]
    )


def compressed_text(n_bytes):
    return chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(n_bytes)))


def international_text(n_bytes):
    return chunk(b"iTXt", b"a\0\1\0\0\0" + zlib.compress(bytes(n_bytes)))


def bmp(width, height):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return struct.pack("<2sIHHI", b"BM", 54, 0, 0, 54) + header


def good_pictures(folder="x", n_pictures=40):
    Path(folder).mkdir(exist_ok=True)
    generator = np.random.default_rng(0)
    for number in range(n_pictures):
        pixels = generator.integers(0, 256, (8, 8), dtype=np.uint8)
        Image.fromarray(pixels).save(Path(folder, f"{number}.png"))


def bad_picture(content, name="bad.png"):
    """Good pictures and a bad one."""

    def make():
        good_pictures()
        Path("x", name).write_bytes(content)

    return make


def odd_file(make_it):
    def make():
        good_pictures()
        make_it(Path("x", "bad.png"))

    return make


def listening(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def sparse(path):
    with path.open("wb") as file:
        file.write(png()[:60])
        file.truncate(10**12)


def tiff():
    # One directory that names itself as the next one.
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 0) + struct.pack("<I", 8)


BAD = {
    "empty": bad_picture(b""),
    "text": bad_picture(b"no picture"),
    "signature only": bad_picture(b"\x89PNG\r\n\x1a\n"),
    "header cut off": bad_picture(png()[:20]),
    "pixels cut off": bad_picture(png()[:-40]),
    "pixels no zlib": bad_picture(png(data=b"\xff" * 50)),
    "no width": bad_picture(png(width=0)),
    "too many pixels": bad_picture(png(width=2**20, height=2**20)),
    "more pixels than a number": bad_picture(png(width=2**31 - 1, height=2**31 - 1)),
    "a suspicious number of pixels": bad_picture(png(width=10_000, height=10_000)),
    "impossible depth": bad_picture(png(depth=77)),
    "wrong checksum": bad_picture(png(chunk(b"tRNS", b"\0\0", checksum=5))),
    "a chunk of 2 GB": bad_picture(png(chunk(b"tEXt", b"a\0b", length=2**31 - 1))),
    "compressed text of 100 MB": bad_picture(png(compressed_text(100_000_000))),
    "a hundred compressed texts": bad_picture(png(*[compressed_text(1_000_000)] * 100)),
    "international text of 100 MB": bad_picture(png(international_text(100_000_000))),
    "a JPEG cut off": bad_picture(b"\xff\xd8\xff\xe0\0\x10JFIF", "bad.jpg"),
    "a GIF cut off": bad_picture(b"GIF89a\xff\xff\xff\xff", "bad.gif"),
    "a BMP of gigapixels": bad_picture(bmp(2**20, 2**20), "bad.bmp"),
    "a BMP without pixels": bad_picture(bmp(8, 8), "bad.bmp"),
    "a TIFF in a circle": bad_picture(tiff(), "bad.tif"),
    "a WebP cut off": bad_picture(b"RIFF\xff\xff\xff\xffWEBPVP8 ", "bad.webp"),
    "a PPM of gigapixels": bad_picture(b"P6 1048576 1048576 255\n", "bad.ppm"),
    "a PPM of long numbers": bad_picture(
        b"P6 " + b"9" * 9_000 + b" 8 255\n", "bad.ppm"
    ),
    "PostScript": bad_picture(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"),
    "a named pipe": odd_file(os.mkfifo),
    "a socket": odd_file(listening),
    "a link to a device": odd_file(lambda path: path.symlink_to("/dev/zero")),
    "a link to nothing": odd_file(lambda path: path.symlink_to("nothing")),
    "a link to itself": odd_file(lambda path: path.symlink_to("bad.png")),
    "a terabyte": odd_file(sparse),
}


def nested():
    folder = Path("x", *["f"] * 60)
    folder.mkdir(parents=True)
    Path("x", "back").symlink_to(".")
    good_pictures(folder)


CASES = [
    *(
        Case(f"info: {name}", ("data", "info", "x"), "bad.", make)
        for name, make in BAD.items()
    ),
    *(
        Case(f"discover: {name}", ("discover", "x", "-o", "out"), "bad.", make)
        for name, make in BAD.items()
        if "GB" in name or "MB" in name or " a " in f" {name} "
    ),
    *(
        Case(f"skipped: {name}", ("data", "info", "x:on_error=skip"), None, BAD[name])
        for name in ("a named pipe", "too many pixels", "compressed text of 100 MB")
    ),
    Case("an empty folder", ("data", "info", "x"), "x", lambda: Path("x").mkdir()),
    Case(
        "no pictures",
        ("data", "info", "x"),
        "x",
        lambda: (Path("x").mkdir(), Path("x", "a.txt").touch()),
    ),
    Case(
        "all broken",
        ("data", "info", "x"),
        "bad.png",
        lambda: (Path("x").mkdir(), Path("x", "bad.png").touch()),
    ),
    Case(
        "five pictures",
        ("discover", "x", "-o", "out"),
        "x",
        lambda: good_pictures(n_pictures=5),
    ),
    Case(
        "output among the pictures",
        ("discover", "x", "-o", "x/out"),
        "x/out",
        good_pictures,
    ),
    Case("deep folders with a circle", ("data", "info", "x"), None, nested),
    Case(
        "image_size too large",
        ("data", "info", "x:image_size=1000000"),
        "1000000",
        good_pictures,
    ),
    Case(
        "image_size of long digits",
        ("data", "info", f"x:image_size={'9' * 5000}"),
        "image_size",
        good_pictures,
    ),
    Case("channels", ("data", "info", "x:channels=7"), "channels", good_pictures),
    Case("a picture as data", ("data", "info", "x/1.png"), None, good_pictures),
    Case(
        "a bad picture as data",
        ("data", "info", "x/bad.png"),
        "bad.png",
        bad_picture(b"no picture"),
    ),
    Case(
        "labels without folders",
        ("data", "info", "x:label_folders=true"),
        "x",
        good_pictures,
    ),
]


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_images(case):
    assert faults(case) == []
