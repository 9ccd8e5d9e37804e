"""Hostile options, names and labels."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hostile_command import Case, faults
from PIL import Image

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"
SMALL = ("--steps", 3, "--latents", 2, "--batch-size", 4, "--device", "cpu")


def train(*options, data=DATA):
    return ("train", data, "-o", "run", *options)


def images():
    pixels = np.random.default_rng(0).integers(0, 256, (64, 8, 8), dtype=np.uint8)
    np.save("x.npy", pixels)


def table(text):
    def make():
        images()
        Path("labels.csv").write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )

    return make


def labels(values, name="a", n_rows=30):
    lines = [f"{row},{values[row % len(values)]}" for row in range(n_rows)]
    return table("\n".join([f"row,{name}", *lines]))


def numbered(names, line):
    """A table of thirty lines, with the number of the line and a label in each."""
    lines = [line.format(n=n, label=n % 3) for n in range(30)]
    return table("\n".join([names, *lines]))


def json_file(content):
    def make():
        text = content if isinstance(content, str) else json.dumps(content)
        Path("x.json").write_text(text)

    return make


LIKELIHOOD = {"format": "unbraid likelihood", "version": 1}

TRAIN = {
    "steps without end": (("--steps", 10**18), "steps"),
    "no steps": (("--steps", 0), "--steps"),
    "steps in letters": (("--steps", "ten"), "--steps"),
    "steps of many digits": (("--steps", "9" * 5000), "--steps"),
    "negative latents": (("--latents", -1), "--latents"),
    "a hundred million latents": (("--latents", 100_000_000), "100,000,000"),
    "latents beyond counting": (("--latents", 10**18), "n_latents"),
    "a batch of a billion": (("--batch-size", 10**10), "10,000,000,000"),
    "an unknown device": (("--device", "bogus"), "bogus"),
    "a device of torch": (("--device", "meta"), "meta"),
    "another device of torch": (("--device", "xla"), "xla"),
    "a device that is not there": (("--device", "cuda:99"), "cuda:99"),
    "a number for a device": (("--device", "7"), "'7'"),
    "no device": (("--device", ""), "--device"),
    "a second processor": (("--device", "cpu:5"), "cpu:5"),
    "a device with a newline": (("--device", "cpu\nx"), "cpu"),
    "an unknown objective": (("--objective", "beta_vea"), "beta_vea"),
    "an option without a value": (("--set", "beta"), "beta"),
    "an unknown option": (("--set", "betta=1"), "betta"),
    "an option twice": (("--set", "beta=1", "--set", "beta=2"), "beta=2"),
    "a time for beta": (("--set", "beta=1:30"), "1:30"),
    "yes for beta": (("--set", "beta=yes"), "yes"),
    "NaN for beta": (("--set", "beta=.nan"), "beta"),
    "broken YAML": (("--set", "beta={a"), "{a"),
    "recursive YAML": (("--set", "beta=&a [*a]"), "&a [*a]"),
    "deep YAML": (("--set", "beta=" + "[" * 3000), "[[["),
    "an unknown network": (("--network", "conv"), "--network"),
    "an unknown likelihood": (("--likelihood", "normal"), "normal"),
    "a missing likelihood": (("--likelihood", "no.json"), "no.json"),
    "an unknown logger": (("--logger", "paper"), "paper"),
    "a negative rate": (("--learning-rate", -1), "-1"),
    "an infinite rate": (("--learning-rate", "inf"), "inf"),
    "a rate in letters": (("--learning-rate", "fast"), "--learning-rate"),
    "a negative seed": (("--seed", -1), "--seed"),
    "a large seed": (("--seed", 2**64), None),
    "no folder": (("--out", ""), "--out"),
    "a folder of no such user": (("--out", "~nosuchuser/run"), "nosuchuser"),
    "an option that there is not": (("--stpes", 3), "--stpes"),
}

DATASETS = {
    "nothing": ("", "DATA"),
    "an unknown name": ("xy_sqares", "xy_sqares"),
    "no such file": ("nothing/at/all.npy", "nothing/at/all.npy"),
    "no such user": ("~nosuchuser/x", "nosuchuser"),
    "a file of no such user": ("~nosuchuser/x.npy", "nosuchuser"),
    "a zero byte": ("a\0b.npy", "a\\x00b.npy"),
    "a long name": ("x" * 5000, "xxx"),
    "a newline": ("a\nb", "a"),
    "codes of a terminal": ("\x1b[31mred", "\\x1b[31mred"),
    "a colon alone": (":", "':'"),
    "an unknown option": ("xy_squares:spacin=8", "spacin"),
    "an option twice": ("xy_squares:spacing=8,spacing=4", "spacing"),
    "an option of letters": ("xy_squares:spacing=wide", "wide"),
    "an option that is a time": ("xy_squares:spacing=1:30", "1:30"),
    "an option of many digits": ("xy_squares:spacing=" + "9" * 5000, "spacing"),
    "a bomb of aliases": ("xy_squares:spacing=[&a [1;1], *a, *a]", "spacing"),
    "an image too large": ("xy_squares:image_size=100000", "100000"),
    "no squares": ("xy_squares:n_squares=0", "n_squares must be 1, 2 or 3, got 0"),
    "an open bracket": ("xy_squares:spacing=[", "spacing"),
    "yes": ("xy_squares:rgb=yes", "rgb"),
    "a dataset in itself": ("noisy_sprites:nothing=1", "nothing"),
    "a file that is not there": ("dsprites", "dsprites"),
    "a device": ("/dev/zero", "/dev/zero"),
    "a text file": ("x.txt", "x.txt"),
}

LABELS = {
    "empty": (table(""), "labels.csv"),
    "binary": (table(bytes(range(256))), "labels.csv"),
    "equal columns": (numbered("row,a,a", "{n},{label},1"), "'a' twice"),
    "equal keys": (numbered("row,row,a", "{n},{n},{label}"), "'row' twice"),
    "no names": (table("\n".join(f"{n},{n % 3}" for n in range(30))), "labels.csv"),
    "no key": (numbered("x,a", "{n},{label}"), "labels.csv"),
    "ragged": (numbered("row,a", "{n},1,2,3"), "labels.csv"),
    "too few": (labels([0, 1], n_rows=5), "labels.csv"),
    "all equal": (labels([1]), "'a'"),
    "a gap": (labels([1, ""]), "labels.csv"),
    "infinity": (labels([1.5, "inf"]), "'a'"),
    "integers above 2**53": (labels([2**53 + 1, 2**53 + 2]), "'a'"),
    "integers above 2**63": (labels([2**63 + 1, 2**63 + 2]), "'a'"),
    "integers above 2**64": (labels([2**70, 2**70 + 1]), "'a'"),
    "negative integers below -2**53": (labels([-(2**60), 5]), "'a'"),
    "1e300": (labels([1e300, 2e300]), "'a'"),
    "1e40": (labels([1e40, 2e40]), "'a'"),
    "rows beyond the data": (numbered("row,a", "9{n},{label}"), "labels.csv"),
    "negative rows": (numbered("row,a", "-{n},{label}"), "labels.csv"),
    "fractions of rows": (numbered("row,a", "{n}.5,{label}"), "labels.csv"),
    "a row twice": (numbered("row,a", "7,{label}"), "labels.csv"),
    "unknown files": (numbered("file,a", "f{n},{label}"), "f0"),
    "a named pipe": (lambda: (images(), os.mkfifo("labels.csv")), "labels.csv"),
    "a folder": (lambda: (images(), Path("labels.csv").mkdir()), "labels.csv"),
    "nothing": (images, "labels.csv"),
    "a terabyte": (
        lambda: (table("row,a\n")(), os.truncate("labels.csv", 10**12)),
        "labels.csv",
    ),
}

LIKELIHOODS = {
    "empty": json_file(""),
    "text": json_file("text"),
    "a list": json_file([1, 2]),
    "nested": json_file("[" * 100_000),
    "another version": json_file(LIKELIHOOD | {"version": 99}),
    "no likelihood": json_file(LIKELIHOOD),
    "an unknown one": json_file(LIKELIHOOD | {"likelihood": {"name": "odd"}}),
    "a named pipe": lambda: os.mkfifo("x.json"),
    "a folder": lambda: Path("x.json").mkdir(),
    "a terabyte": lambda: (Path("x.json").touch(), os.truncate("x.json", 10**12)),
}

EVALUATE = {
    "nothing": ((), "MODEL"),
    "a model that is not there": (("no", "--data", DATA), "no"),
    "a model of no such user": (("~nosuchuser/m", "--data", DATA), "nosuchuser"),
    "codes that are not there": (("--codes", "no.npy"), "no.npy"),
    "codes of no such user": (("--codes", "~nosuchuser/z.npy"), "nosuchuser"),
    "codes of another kind": (("--codes", "x.txt"), "x.txt"),
    "an unknown metric": (("--codes", "x.npy", "--metrics", "migg"), "migg"),
    "no metric": (("--codes", "x.npy", "--metrics", ","), "--metrics"),
    "a folder that is not there": (
        ("--codes", "x.npy", "--json", "no/x.json"),
        "no/x.json",
    ),
    "no rows": (("--codes", "x.npy", "--rows", 0), "--rows"),
}

OTHERS = {
    "an unknown command": (("tran",), "tran"),
    "an unknown option": (("--verbos",), "--verbos"),
    "a study that is not there": (("study", "run", "no.yaml"), "no.yaml"),
    "a study of no such user": (("study", "status", "~nosuchuser/s"), "nosuchuser"),
    "a size that is none": (("study", "run", "x.yaml", "--disk", "much"), "much"),
    "an unknown preset": (("study", "preset", "nothing"), "nothing"),
    "an unknown device in a study": (
        ("study", "run", "x.yaml", "--device", "bogus"),
        "bogus",
    ),
    "an unknown device in discover": (
        ("discover", DATA, "-o", "out", "--device", "bogus"),
        "bogus",
    ),
    "an unknown device in reproduce": (
        ("reproduce", "holtz-table-1", "--device", "bogus"),
        "bogus",
    ),
    "a claim that there is not": (("reproduce", "nothing"), "nothing"),
    "no time": (("discover", DATA, "-o", "out", "--budget", "0s"), "0s"),
    "a time that is none": (
        ("discover", DATA, "-o", "out", "--budget", "soon"),
        "soon",
    ),
    "a method that there is not": (
        ("discover", DATA, "-o", "out", "--method", "magic"),
        "magic",
    ),
    "output of no such user": (
        ("discover", DATA, "-o", "~nosuchuser/out"),
        "nosuchuser",
    ),
    "a loss that there is not": (("data", "distances", DATA, "--loss", "odd"), "odd"),
    "a published set that there is not": (("data", "fetch", "nothing"), "nothing"),
    "a set without files": (("data", "fetch", "xy_squares"), "xy_squares"),
    "a root of no such user": (
        ("data", "fetch", "dsprites", "--root", "~nosuchuser/d"),
        "nosuchuser",
    ),
    "names that are not there": (("explore", "m", "--names", "no.json"), "no.json"),
    "points that are not there": (("factorize", "no.npy"), "no.npy"),
    "a picture of another kind": (("factorize", "x.npy", "-o", "a.gif"), "a.gif"),
    "dimension 0": (("factorize", "x.npy", "-k", 0), "dimension"),
}


def some_files():
    images()
    Path("x.txt").write_text("text")
    Path("x.yaml").write_text(f"data: {DATA}\ntraining: {{steps: 3}}\n")


def same_name():
    Path("xy_squares").mkdir()
    for number in range(40):
        Image.new("L", (8, 8), number * 5).save(f"xy_squares/{number}.png")


CASES = [
    *(
        Case(f"train: {name}", train(*SMALL, *options), culprit, some_files)
        for name, (options, culprit) in TRAIN.items()
    ),
    *(
        Case(f"data: {name}", ("data", "info", text), culprit, some_files)
        for name, (text, culprit) in DATASETS.items()
    ),
    *(
        Case(
            f"labels: {name}",
            ("discover", "x.npy", "-o", "out", "--labels", "labels.csv"),
            culprit,
            make,
        )
        for name, (make, culprit) in LABELS.items()
    ),
    *(
        Case(
            f"likelihood: {name}",
            train(*SMALL, "--likelihood", "x.json"),
            "x.json",
            make,
        )
        for name, make in LIKELIHOODS.items()
    ),
    *(
        Case(
            f"loss: {name}",
            ("data", "distances", DATA, "--loss", "x.json"),
            "x.json",
            make,
        )
        for name, make in LIKELIHOODS.items()
    ),
    *(
        Case(f"evaluate: {name}", ("evaluate", *options), culprit, some_files)
        for name, (options, culprit) in EVALUATE.items()
    ),
    *(
        Case(name, options, culprit, some_files)
        for name, (options, culprit) in OTHERS.items()
    ),
    Case("train: good", train(*SMALL), None, some_files),
    Case(
        "train: an octal number", train(*SMALL, "--set", "beta=010"), None, some_files
    ),
    Case(
        "a folder named like a dataset",
        ("data", "info", "xy_squares:n_squares=1"),
        None,
        same_name,
        "./xy_squares",
    ),
    Case("its path", ("data", "info", "./xy_squares"), None, same_name, "40 images"),
    Case(
        "train on its name", train(*SMALL, data=DATA), None, same_name, "./xy_squares"
    ),
    Case(
        "the time of a long run",
        train("--steps", 10**11 + 1, "--latents", 2),
        "steps",
        some_files,
    ),
]


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_options(case):
    assert faults(case) == []


@pytest.mark.usefixtures("empty_folder")
def test_an_octal_number_is_read_as_a_decimal_one():
    from whole_command import run_whole

    import unbraid

    assert run_whole(*train(*SMALL, "--set", "beta=010")).returncode == 0
    assert unbraid.Run.load("run").spec.objective.beta == 10


@pytest.mark.usefixtures("empty_folder")
def test_every_command_takes_the_dataset_and_not_the_folder_of_its_name():
    from unbraid.data import ImageFolder, XYSquares, open_dataset
    from unbraid.discovery._data import read_source

    same_name()
    assert isinstance(open_dataset(DATA), XYSquares)
    assert isinstance(read_source(DATA, Path("out")).dataset, XYSquares)
    assert isinstance(open_dataset("./xy_squares"), ImageFolder)
    assert isinstance(read_source("./xy_squares", Path("out")).dataset, ImageFolder)
