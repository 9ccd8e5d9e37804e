"""Hostile .npz and .h5 files: damaged, too large, or leading to other files."""

import io
import os
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hostile_command import Case, faults

from unbraid.data import LabeledImages
from unbraid.data._hdf5 import hdf5_images
from unbraid.foundation import DataFormatError

GOOD = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 1), dtype=np.uint8)
SECRET = bytes(range(1, 256)) * 20


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy_header(shape, descr="|u1"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def npz(compression=zipfile.ZIP_DEFLATED, **members):
    """An archive with any bytes for members."""

    def make():
        with zipfile.ZipFile("x.npz", "w", compression) as archive:
            for name, content in members.items():
                archive.writestr(f"{name}.npy", content)

    return make


def changed(make, change):
    """A file that is made, and then changed as bytes."""

    def both():
        make()
        path = next(path for path in map(Path, ("x.npz", "x.h5")) if path.exists())
        path.write_bytes(change(bytearray(path.read_bytes())))

    return both


def zip_flags(content, *, flags=None, method=None, size=None):
    """Change what the directory and the members of an archive say of themselves."""
    for signature, shift in ((b"PK\3\4", 0), (b"PK\1\2", 2)):
        start = content.find(signature)
        while start >= 0:
            if flags is not None:
                struct.pack_into("<H", content, start + 6 + shift, flags)
            if method is not None:
                struct.pack_into("<H", content, start + 8 + shift, method)
            if size is not None:
                struct.pack_into("<I", content, start + 22 + shift, size)
            start = content.find(signature, start + 4)
    return content


def many_names():
    with zipfile.ZipFile("x.npz", "w") as archive:
        for number in range(5_000):
            archive.writestr(f"array_{number}.npy", b"")


def bomb():
    """Two gigabytes of zeros in two megabytes."""
    with (
        zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("images.npy", "w", force_zip64=True) as member,
    ):
        member.write(npy_header((2**19, 64, 64)))
        for _ in range(64):
            member.write(bytes(2**20))


good_npz = npz(images=npy(GOOD))

NPZ = {
    "empty": lambda: Path("x.npz").write_bytes(b""),
    "text": lambda: Path("x.npz").write_text("no archive"),
    "an empty archive": npz(),
    "cut off": changed(good_npz, lambda content: content[:-40]),
    "cut in half": changed(good_npz, lambda content: content[: len(content) // 2]),
    "start gone": changed(good_npz, lambda content: content[30:]),
    "middle zeroed": changed(good_npz, lambda c: c[:100] + bytes(200) + c[300:]),
    "encrypted": changed(good_npz, lambda content: zip_flags(content, flags=1)),
    "unknown compression": changed(good_npz, lambda c: zip_flags(c, method=77)),
    "two arrays, no images": npz(a=npy(GOOD), b=npy(GOOD)),
    "objects": npz(images=npy(np.array([{}, None]))),
    "a member that is text": npz(images=b"text"),
    "a member that is empty": npz(images=b""),
    "a header of brackets": npz(images=b"\x93NUMPY\1\0\x10\x27" + b"[" * 10_000),
    "a header that is no Python": npz(images=b"\x93NUMPY\1\0\4\0{'a\n"),
    "a shape that is a lie": npz(images=npy_header((10**12, 64, 64)) + bytes(100)),
    "a shape beyond counting": npz(images=npy_header((2**62, 2**62, 4))),
    "a stored shape that is a lie": npz(
        zipfile.ZIP_STORED, images=npy_header((10**12, 64, 64)) + bytes(100)
    ),
    "a negative shape": npz(images=npy_header((-4, 4, 4)) + bytes(64)),
    "text arrays": npz(images=npy(np.full((4, 4, 4), "a"))),
    "a bomb": bomb,
    "five thousand names": many_names,
    "factors of other length": npz(images=npy(GOOD), factors=npy(np.zeros((3, 2)))),
    "factors of objects": npz(images=npy(GOOD), factors=npy(np.array([{}] * 40))),
    "a named pipe": lambda: os.mkfifo("x.npz"),
    "a folder": lambda: Path("x.npz").mkdir(),
}


def h5(**arrays):
    def make():
        with h5py.File("x.h5", "w") as file:
            for name, array in arrays.items():
                file[name] = array

    return make


def h5_file(build):
    """A file that a function fills, beside one with a secret in it."""

    def make():
        Path("secret.bin").write_bytes(SECRET)
        with h5py.File("other.h5", "w") as other:
            other["images"] = GOOD
        with h5py.File("x.h5", "w") as file:
            build(file)

    return make


def external_storage(file):
    secret = [("secret.bin", 0, 64 * 40)]
    file.create_dataset("images", (40, 8, 8, 1), "u1", external=secret)


def external_storage_elsewhere(file):
    secret = [("/etc/passwd", 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("images", (4, 8, 8, 1), "u1", external=secret)


def external_link(file):
    file["images"] = h5py.ExternalLink("other.h5", "images")


def external_link_to_a_pipe(file):
    os.mkfifo("pipe.h5")
    file["images"] = h5py.ExternalLink("pipe.h5", "images")


def external_link_alone(file):
    file["anything"] = h5py.ExternalLink("other.h5", "/images")


def external_factors(file):
    file["images"] = GOOD
    file["factors"] = h5py.ExternalLink("other.h5", "images")


def external_storage_of_factors(file):
    file["images"] = GOOD
    secret = [("secret.bin", 0, 40)]
    file.create_dataset("factors", (40, 1), "u1", external=secret)


def soft_link_through_external(file):
    file["outside"] = h5py.ExternalLink("other.h5", "/")
    file["images"] = h5py.SoftLink("/outside/images")


def soft_links_in_a_circle(file):
    file["images"] = h5py.SoftLink("/b")
    file["b"] = h5py.SoftLink("/images")


def soft_link_to_nothing(file):
    file["images"] = h5py.SoftLink("/nothing")


def virtual(source):
    def build(file):
        layout = h5py.VirtualLayout((40, 8, 8, 1), "u1")
        layout[:] = h5py.VirtualSource(source, "images", (40, 8, 8, 1))
        file.create_virtual_dataset("images", layout)

    return build


def huge_fill(file):
    file.create_dataset("images", (10**9, 64, 64, 1), "u1", chunks=(1, 64, 64, 1))


def huge_compressed(file):
    file.create_dataset(
        "images", (10**8, 64, 64), "u1", chunks=(64, 64, 64), compression="gzip"
    )


def nothing_inside(file):
    file["images"] = h5py.Empty("u1")


def only_groups(file):
    file.create_group("images").create_group("more")


def of_references(file):
    file["a"] = GOOD
    file.create_dataset("images", (4, 4, 4), h5py.ref_dtype)


def soft_link_inside(file):
    file["pictures"] = GOOD
    file["images"] = h5py.SoftLink("/pictures")


def unused_external_link(file):
    file["images"] = GOOD
    file["elsewhere"] = h5py.ExternalLink("other.h5", "images")


good_h5 = h5(images=GOOD)

H5 = {
    "empty": lambda: Path("x.h5").write_bytes(b""),
    "text": lambda: Path("x.h5").write_text("no archive"),
    "signature only": lambda: Path("x.h5").write_bytes(b"\x89HDF\r\n\x1a\n"),
    "cut off": changed(good_h5, lambda content: content[:-200]),
    "cut in half": changed(good_h5, lambda content: content[: len(content) // 2]),
    "header zeroed": changed(good_h5, lambda c: c[:9] + bytes(40) + c[49:]),
    "middle zeroed": changed(good_h5, lambda c: c[:96] + bytes(900) + c[996:]),
    "bytes flipped": changed(
        good_h5, lambda c: c[:48] + bytes(b ^ 0x55 for b in c[48:2000]) + c[2000:]
    ),
    "no arrays": h5(),
    "two arrays": h5(a=GOOD, b=GOOD),
    "an array of text": h5(images="text"),
    "a number": h5(images=5),
    "only groups": h5_file(only_groups),
    "nothing": h5_file(nothing_inside),
    "references": h5_file(of_references),
    "external storage": h5_file(external_storage),
    "external storage elsewhere": h5_file(external_storage_elsewhere),
    "external link": h5_file(external_link),
    "external link alone": h5_file(external_link_alone),
    "external link to a pipe": h5_file(external_link_to_a_pipe),
    "external factors": h5_file(external_factors),
    "external storage of factors": h5_file(external_storage_of_factors),
    "soft link through an external one": h5_file(soft_link_through_external),
    "soft links in a circle": h5_file(soft_links_in_a_circle),
    "soft link to nothing": h5_file(soft_link_to_nothing),
    "virtual, of another file": h5_file(virtual("other.h5")),
    "virtual, of this file": h5_file(virtual(".")),
    "terabytes of nothing": h5_file(huge_fill),
    "terabytes, compressed": h5_file(huge_compressed),
    "a named pipe": lambda: os.mkfifo("x.h5"),
    "a folder": lambda: Path("x.h5").mkdir(),
}

SHORT = ("--no-intervals", "--no-levels", "--metrics", "gaussian_total_correlation")

CASES = [
    *(
        Case(f"npz: {name}", ("data", "info", "x.npz"), "x.npz", make)
        for name, make in NPZ.items()
        if name != "a bomb"
    ),
    *(
        Case(
            f"npz codes: {name}",
            ("evaluate", "--codes", "x.npz", *SHORT),
            "x.npz",
            make,
        )
        for name, make in NPZ.items()
        if "images" not in name and "factors" not in name
    ),
    *(
        Case(f"h5: {name}", ("data", "info", "x.h5"), "x.h5", make)
        for name, make in H5.items()
    ),
    *(
        Case(
            f"h5, discover: {name}", ("discover", "x.h5", "-o", "out"), "x.h5", H5[name]
        )
        for name in ("external storage", "external link", "virtual, of another file")
    ),
    Case("npz: a bomb", ("data", "info", "x.npz"), "x.npz", bomb),
    Case(
        "npz: a size that is a lie",
        ("data", "info", "x.npz"),
        None,
        changed(good_npz, lambda c: zip_flags(c, size=2**31)),
    ),
    Case("npz: good", ("data", "info", "x.npz"), None, good_npz),
    Case(
        "npz: an array under another name",
        ("data", "info", "x.npz"),
        None,
        lambda: Path("x.npz").write_bytes(npy(GOOD)),
    ),
    Case("h5: good", ("data", "info", "x.h5"), None, good_h5),
    Case(
        "h5: soft link inside",
        ("data", "info", "x.h5"),
        None,
        h5_file(soft_link_inside),
    ),
    Case(
        "h5: unused link", ("data", "info", "x.h5"), None, h5_file(unused_external_link)
    ),
]


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_archives(case):
    assert faults(case) == []


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    "build",
    [external_storage, external_link, virtual("other.h5"), soft_link_through_external],
)
def test_no_byte_of_another_file_is_shown(build):
    h5_file(build)()
    with pytest.raises(DataFormatError, match="another file"):
        LabeledImages("x.h5")
    with pytest.raises(DataFormatError, match="another file"):
        hdf5_images(Path("x.h5"), "images", shape=(None, 8, 8, 1))
