"""Hostile .npy and .csv files, as data, as codes and as points."""

import os
import socket
import struct
from pathlib import Path

import numpy as np
import pytest
from hostile_command import Case, faults

GOOD = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 1), dtype=np.uint8)
TABLE = np.random.default_rng(0).normal(size=(60, 3))


def saved(array):
    return lambda: np.save("x.npy", array)


def raw(content, name="x.npy"):
    return lambda: Path(name).write_bytes(content)


def header(text, *, version=(1, 0), length=None, data=b"\0" * 64):
    """A .npy file with any text for a header."""
    body = text.encode("latin1")
    size = len(body) if length is None else length
    start = b"\x93NUMPY" + bytes(version)
    return raw(
        start + struct.pack("<H" if version == (1, 0) else "<I", size) + body + data
    )


def described(descr="'|u1'", order="False", shape="(4, 4, 4)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def sparse(shape, dtype="|u1"):
    """A file of zeros that takes no room on the disk."""

    def make():
        with open("x.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": dtype, "fortran_order": False, "shape": shape}
            )
            n_bytes = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
            file.truncate(file.tell() + n_bytes)

    return make


def socket_file():
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.npy")


# Files that no command can read: each is given to several commands.
UNREADABLE = {
    "empty": raw(b""),
    "text": raw(b"not an array at all"),
    "magic only": raw(b"\x93NUMPY"),
    "half a magic": raw(b"\x93NU"),
    "no header": raw(b"\x93NUMPY\x01\x00"),
    "unknown version": header(described(), version=(9, 9)),
    "header cut off": header(described()[:20], length=500, data=b""),
    "header of no length": header("", length=0),
    "header no Python": header("{'descr': "),
    "header a list": header("[1, 2, 3]\n"),
    "header a number": header("5\n"),
    "header a string": header("'hello'\n"),
    "header a call": header("__import__('os').system('touch /tmp/x')\n"),
    "header of brackets": header("[" * 5_000),
    "header of minus signs": header("-" * 9_000 + "1\n"),
    "header too long": header(" " * 60_000 + "\n"),
    "header of zero bytes": header("\0" * 100),
    "header in no encoding": header("\xff\xfe{}\n"),
    "no shape": header("{'descr': '|u1', 'fortran_order': False}\n"),
    "shape a string": header(described(shape="'(4, 4)'")),
    "shape negative": header(described(shape="(-1, 4, 4)")),
    "shape of floats": header(described(shape="(4.0, 4, 4)")),
    "shape too large to count": header(described(shape=f"({2**62}, {2**62}, 4)")),
    "shape of many digits": header(described(shape=f"({'9' * 5000}, 4, 4)")),
    "shape larger than the file": header(described(shape="(4000, 4000, 4)")),
    "order a string": header(described(order="'C'")),
    "type unknown": header(described(descr="'|q9'")),
    "type a number": header(described(descr="5")),
    "type of objects": header(described(descr="'|O'")),
    "type a broken record": header(described(descr="[('a',), ('b',)]")),
    "extra key": header(f"{described()[:-2]}'extra': 1}}\n"),
    "data cut off": header(described(shape="(4, 4, 5)")),
    "objects": lambda: np.save("x.npy", np.array([{}, None]), allow_pickle=True),
    "a zip file": raw(b"PK\x03\x04" + b"\0" * 100),
    "a named pipe": lambda: os.mkfifo("x.npy"),
    "a socket": socket_file,
    "a folder": lambda: Path("x.npy").mkdir(),
    "a link to a device": lambda: Path("x.npy").symlink_to("/dev/zero"),
    "a link to itself": lambda: Path("x.npy").symlink_to("x.npy"),
    "a link to nothing": lambda: Path("x.npy").symlink_to("nothing"),
}

# Arrays that can be read, and are no images.
NO_IMAGES = {
    "a number": saved(np.uint8(5)),
    "one axis": saved(np.zeros(5, np.uint8)),
    "five axes": saved(np.zeros((2, 2, 2, 2, 2), np.uint8)),
    "no rows": saved(np.zeros((0, 8, 8), np.uint8)),
    "no pixels": saved(np.zeros((8, 0, 8), np.uint8)),
    "nine channels": saved(np.zeros((8, 8, 8, 9), np.uint8)),
    "channels in doubt": saved(np.zeros((8, 3, 8, 3), np.uint8)),
    "text": saved(np.full((4, 4, 4), "a")),
    "dates": saved(np.zeros((4, 4, 4), "M8[s]")),
    "complex": saved(np.zeros((4, 4, 4), complex)),
    "records": saved(np.zeros((4, 4, 4), [("a", "u1"), ("b", "f4")])),
    "integers": saved(np.full((4, 4, 4), 300)),
    "NaN": saved(np.full((4, 4, 4), np.nan)),
    "infinity": saved(np.full((4, 4, 4), np.inf)),
    "negative floats": saved(np.full((4, 4, 4), -0.5)),
    "floats to 255": saved(np.full((4, 4, 4), 255.0)),
    "only 0 and 1": saved(np.ones((4, 4, 4), np.uint8)),
    "vectors with NaN": saved(np.full((4, 4), np.nan)),
    "vectors of text": saved(np.full((4, 4), "a")),
    "no vectors": saved(np.zeros((0, 4))),
    "huge floats": saved(np.full((4, 4), 1e300)),
    "one image of a terabyte": sparse((1, 10**6, 10**6)),
    "a terabyte of vectors": sparse((10**7, 25_000), "<f4"),
    "a terabyte of floats": sparse((10**7, 160, 160), "<f4"),
    "a terabyte of integers": sparse((10**7, 125, 100), "<i8"),
    "a terabyte of truth values": sparse((10**7, 316, 316), "|b1"),
}

FINE = {
    "good": saved(GOOD),
    "in Fortran order": saved(np.asfortranarray(GOOD)),
    "one image": saved(GOOD[:1]),
    "one pixel": saved(np.full((50, 1, 1), 9, np.uint8)),
    "black": saved(np.zeros((40, 8, 8), np.uint8)),
    "truth values": saved(GOOD > 100),
    "big endian": saved((GOOD / 255).astype(">f8")),
    "more bytes than said": header(described(), data=b"\7" * 500),
    "a terabyte of nothing": sparse((2**28, 64, 64)),
}

# Tables of codes or points that can be read, and are of no use.
NO_TABLE = {
    "a number": saved(5.0),
    "no rows": saved(np.zeros((0, 3))),
    "no columns": saved(np.zeros((30, 0))),
    "text": saved(np.full((30, 3), "a")),
    "complex": saved(np.zeros((30, 3), complex)),
    "NaN": saved(np.full((30, 3), np.nan)),
    "infinity": saved(np.full((30, 3), np.inf)),
    "records": saved(np.zeros((30, 3), [("a", "u1"), ("b", "f4")])),
    "a terabyte": sparse((10**9, 250), "<f4"),
}

CSV = {
    "empty": b"",
    "binary": bytes(range(256)),
    "ragged": b"a,b\n1,2\n1,2,3\n",
    "text": b"a,b\nx,y\nz,w\n",
    "no rows": b"a,b\n",
    "an open quote": b'a,b\n"1,2\n3,4\n',
    "UTF-16": "a,b\n1,2\n".encode("utf-16"),
    "zero bytes": b"\0" * 100,
    "infinity": b"a,b\ninf,1\n2,3\n" * 9,
}

SHORT = ("--no-intervals", "--no-levels", "--metrics", "gaussian_total_correlation")

CASES = [
    *(
        Case(f"info: {name}", ("data", "info", "x.npy"), "x.npy", make)
        for name, make in {**UNREADABLE, **NO_IMAGES}.items()
    ),
    *(
        Case(
            f"train: {name}", ("train", "x.npy", "-o", "run"), "x.npy", UNREADABLE[name]
        )
        for name in ("empty", "header of brackets", "objects", "a named pipe")
    ),
    *(
        Case(f"discover: {name}", ("discover", "x.npy", "-o", "out"), "x.npy", make)
        for name, make in {**UNREADABLE, **NO_IMAGES}.items()
        if name
        in ("text", "header a list", "objects", "a named pipe", "one axis", "NaN")
    ),
    Case(
        "discover: five images",
        ("discover", "x.npy", "-o", "out"),
        "x.npy",
        saved(GOOD[:5]),
    ),
    *(
        Case(f"codes: {name}", ("evaluate", "--codes", "x.npy", *SHORT), "x.npy", make)
        for name, make in {**UNREADABLE, **NO_TABLE}.items()
    ),
    *(
        Case(f"points: {name}", ("factorize", "x.npy"), "x.npy", make)
        for name, make in {**UNREADABLE, **NO_TABLE}.items()
        if name not in ("type a number", "no shape", "half a magic", "order a string")
    ),
    *(
        Case(
            f"codes in CSV: {name}",
            ("evaluate", "--codes", "x.csv", *SHORT),
            "x.csv",
            raw(text, "x.csv"),
        )
        for name, text in CSV.items()
    ),
    Case(
        "info: a terabyte as JSON",
        ("data", "info", "x.npy", "--json"),
        None,
        sparse((2**28, 64, 64)),
        "1.1 TB",
    ),
    *(
        Case(f"info: {name}", ("data", "info", "x.npy"), None, make)
        for name, make in FINE.items()
    ),
]


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_arrays(case):
    assert faults(case) == []
