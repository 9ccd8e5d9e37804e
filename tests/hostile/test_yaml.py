"""Hostile study files."""

import os
from pathlib import Path

import pytest
from hostile_command import Case, faults
from whole_command import run_whole

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"
MINI = f"""data: {DATA}
training: {{steps: 5, n_latents: 2, batch_size: 4}}
evaluation: {{metrics: [active_units], rows: 16}}
"""


def laughs(width=10, depth=9):
    lines = ["a0: &a0 [lol, lol, lol]"]
    for level in range(1, depth):
        copies = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} [{copies}]")
    return "\n".join(lines)


def laughs_in_line():
    return laughs().replace("\n", ", ")


def doubling(depth=40):
    """Mappings, each with two copies of the one before."""
    lines = ["k0: &k0 {b: 1}"]
    for level in range(1, depth):
        below = f"*k{level - 1}"
        lines.append(f"k{level}: &k{level} {{x: {below}, y: {below}}}")
    return "\n".join(lines)


NINES = ", ".join(f"training.k{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9]" for i in range(12))


def sparse_text():
    Path("x.yaml").touch()
    os.truncate("x.yaml", 10**12)


def training(text):
    return f"data: {DATA}\ntraining: {{{text}}}\n"


def more(text):
    return f"{MINI}{text}\n"


# Text of a study, and what the message must name besides the file.
BAD = {
    "empty": ("", "x.yaml"),
    "a list": ("[1, 2]", "x.yaml"),
    "a number": ("5", "x.yaml"),
    "an open bracket": ("data: [1", "line"),
    "a tab": ("data:\n\t- 1", "line 2"),
    "two documents": ("a: 1\n---\nb: 2", "line"),
    "a zero byte": ("data: \0", "x.yaml"),
    "a control character": ("data: \x07", "x.yaml"),
    "nested too deeply": ("[" * 3_000, "x.yaml"),
    "nested mappings": ("{a: " * 2_000, "x.yaml"),
    "laughs": (laughs(), "x.yaml"),
    "laughs under a key": (more(f"grid: {{{laughs_in_line()}}}"), "x.yaml"),
    "laughs in a mapping": (doubling(), "x.yaml"),
    "a list in itself": ("&a [*a]", "x.yaml"),
    "a mapping in itself": ("data: &a {b: *a}", "x.yaml"),
    "a loop through two": ("a: &a [&b [*a]]", "x.yaml"),
    "an unknown alias": ("data: *nothing", "nothing"),
    "a key twice": ("data: a\ndata: b", "data"),
    "a list for a key": ("{[1]: 2}", "x.yaml"),
    "a Python object": ("data: !!python/object/apply:os.system [ls]", "x.yaml"),
    "an unknown tag": ("data: !thing 5", "x.yaml"),
    "a tag that does not fit": ("data: !!timestamp hello", "x.yaml"),
    "a set that is none": ("data: !!set [1]", "x.yaml"),
    "binary that is none": ("data: !!binary é", "x.yaml"),
    "a merge": ("a: &a {b: 1}\n<<: *a", "x.yaml"),
    "too long": ("# " + "x" * 2_000_000, "x.yaml"),
    "too many values": (f"a: [{'1, ' * 210_000}]", "x.yaml"),
    "a word for steps": (training("steps: many"), "many"),
    "a time for steps": (training("steps: 1:30"), "1:30"),
    "yes": (training("standardise: yes"), "yes"),
    "on": (training("standardise: on"), "on"),
    "off": (training("standardise: off"), "off"),
    "no": (training("standardise: no"), "'no'"),
    "underscores": (training("steps: 10_000"), "10_000"),
    "binary digits": (training("steps: 0b11"), "0b11"),
    "a date": (training("steps: 2001-01-01"), "2001-01-01"),
    "no steps": (training("steps: 0"), "steps"),
    "half a step": (training("steps: 0.5"), "0.5"),
    "steps without end": (training("steps: 1000000000000000000"), "steps"),
    "steps of many digits": (training(f"steps: {'9' * 5000}"), "digits"),
    "infinite steps": (training("steps: .inf"), "steps"),
    "steps NaN": (training("steps: .nan"), "steps"),
    "a negative rate": (training("learning_rate: -1"), "learning_rate"),
    "an infinite rate": (training("learning_rate: .inf"), "learning_rate"),
    "no latents": (training("n_latents: -3"), "n_latents"),
    "an unknown key": (training("stepps: 3"), "stepps"),
    "an unknown section": (more("trainings: {}"), "trainings"),
    "an unknown objective": (more("objective: beta_vea"), "beta_vea"),
    "an unknown option": (more("objective: {name: beta_vae, betta: 3}"), "betta"),
    "a time for beta": (more("objective: {name: beta_vae, beta: 1:30}"), "1:30"),
    "an infinite beta": (more("objective: {name: beta_vae, beta: .inf}"), "beta"),
    "an objective in an objective": (more("objective: {name: {name: vae}}"), "name"),
    "unknown data": ("data: xy_sqares", "xy_sqares"),
    "data that is a number": ("data: 12", "data"),
    "data that is null": ("data: ", "data"),
    "data of no such user": ("data: ~nosuchuser/x", "nosuchuser"),
    "data with a zero byte": ('data: "a\\0b"', "x00"),
    "data of a long name": (f"data: {'x' * 5000}", "xxxx"),
    "a billion seeds": (more("seeds: 1000000000"), "1,000,000,000"),
    "seeds beyond counting": (more("seeds: 1000000000000000000"), "runs"),
    "negative seeds": (more("seeds: -1"), "seeds"),
    "no seeds": (more("seeds: []"), "seeds"),
    "text seeds": (more("seeds: [a, b]"), "seed"),
    "a seed too large": (more("seeds: [99999999999999999999]"), "seed"),
    "a grid without end": (more(f"grid: {{{NINES}}}"), "runs"),
    "an empty grid": (more("grid: {objective.beta: []}"), "grid"),
    "a grid of no list": (more("grid: {objective.beta: 4}"), "grid"),
    "a grid of a strange path": (more("grid: {objective..beta: [1]}"), "objective"),
    "lists of several lengths": (more("zip: [{a: [1], b: [1, 2]}]"), "zip"),
    "methods and an objective": (more("objective: vae\nmethods: {vae: }"), "methods"),
    "an empty method": (more("methods: {beta_vae: {beta: []}}"), "beta_vae"),
    "unknown metrics": (f"data: {DATA}\nevaluation: {{metrics: [migg]}}", "migg"),
    "a format of the future": (more("format: 99"), "99"),
    "a format of letters": (more("format: a"), "x.yaml"),
    "an unknown preset": ("preset: nothing", "nothing"),
    "a preset that is a list": ("preset: [dlib-2019]", "x.yaml"),
    "a scale alone": (more("scale: mini"), "scale"),
    "an unknown scale": ("preset: dlib-2019\nscale: huge", "huge"),
}


def written(text):
    return lambda: Path("x.yaml").write_bytes(text.encode())


FILES = {
    "a named pipe": lambda: os.mkfifo("x.yaml"),
    "a link to a device": lambda: Path("x.yaml").symlink_to("/dev/zero"),
    "a link to itself": lambda: Path("x.yaml").symlink_to("x.yaml"),
    "no text": lambda: Path("x.yaml").write_bytes(b"\xff\xfe\0\0data"),
    "a terabyte": sparse_text,
    "a folder that is no study": lambda: Path("x.yaml").mkdir(),
    "nothing": lambda: None,
}

DRY = ("study", "run", "x.yaml", "--dry-run", "--workers", 1)

CASES = [
    *(Case(name, DRY, culprit, written(text)) for name, (text, culprit) in BAD.items()),
    *(Case(name, DRY, "x.yaml", make) for name, make in FILES.items()),
    Case("good", DRY, None, written(MINI), "1 runs"),
]


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_yaml(case):
    assert faults(case) == []


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(
    ("text", "steps"), [("0100", 100), ("010", 10), ("0x10", 16), ("0o10", 8)]
)
def test_numbers_are_those_of_yaml_1_2(text, steps):
    Path("x.yaml").write_text(training(f"steps: {text}"))
    ended = run_whole(*DRY, "--json")
    assert f'"steps": {steps},' in ended.stdout, ended.stderr


def test_text_that_looks_like_a_number_survives_writing_and_reading():
    from unbraid.foundation import read_yaml, write_yaml

    texts = ["1e3", "010", "0o17", "yes", "null", "1:30", ".inf", "true", "", "~", "<<"]
    numbers = [1e-5, 100, 0.5, float("inf"), True, None]
    assert read_yaml(write_yaml(texts + numbers), "test") == texts + numbers
