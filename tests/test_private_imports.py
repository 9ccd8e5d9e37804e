"""Rooms are used through their public names: private imports may only become fewer.

A room is a package or module directly under ``src/unbraid``, or all of
``src/unbraid_claims``. A private import names a module of another room that begins with
an underscore.
"""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lower these numbers when imports are removed; never raise them.
ALLOWED = {"src": 0, "tests": 100}

# Parts of a dotted name that name the room.
DEPTHS = {"unbraid": 2, "unbraid_claims": 1}


def private_imports(source, room=None):
    """Private modules that a source text imports from other rooms.

    Args:
        source: Text of a Python file.
        room: Room of the file; ``None`` for a file outside of the packages.

    Returns:
        Pairs of a line number and a private module. A module counts once per statement,
        however many names are imported from it.
    """
    imports = []
    for node in ast.walk(ast.parse(source)):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module]
            if not is_private(node.module, room):
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
        imports += [(node.lineno, name) for name in modules if is_private(name, room)]
    return imports


def is_private(module, room):
    """Whether a dotted name is a private part of a room other than the given one."""
    own = room_of(module)
    if own is None or own == room:
        return False
    return any(part.startswith("_") for part in module.removeprefix(own).split("."))


def room_of(module):
    """Room of a module, as a dotted name; ``None`` for other packages."""
    parts = module.split(".")
    return ".".join(parts[: DEPTHS[parts[0]]]) if parts[0] in DEPTHS else None


def module_of(path):
    """Dotted name of a file."""
    parts = path.with_suffix("").relative_to(ROOT).parts
    return ".".join(parts[1:] if parts[0] == "src" else parts)


def find_private_imports(folder):
    """Private imports of all files of a folder, grouped by the room imported from."""
    by_room = defaultdict(list)
    for path in sorted((ROOT / folder).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for line, module in private_imports(source, room_of(module_of(path))):
            place = path.relative_to(ROOT).as_posix()
            by_room[room_of(module)].append(f"{place}:{line}: {module}")
    return by_room


def check(folder, by_room, allowed):
    count = sum(map(len, by_room.values()))
    listing = "\n".join(
        f"{room} ({len(lines)}):\n  " + "\n  ".join(lines)
        for room, lines in sorted(by_room.items())
    )
    assert count <= allowed, (
        f"{folder} has {count} imports of private modules of other rooms; at most "
        f"{allowed} are allowed. Use the room's public names.\n{listing}"
    )
    assert count >= allowed, (
        f"{folder} has only {count} imports of private modules of other rooms. Lower "
        f"ALLOWED[{folder!r}] in {Path(__file__).name} from {allowed} to {count}."
        f"\n{listing}"
    )


@pytest.mark.parametrize("folder", ALLOWED)
def test_private_imports_across_rooms_do_not_increase(folder):
    check(folder, find_private_imports(folder), ALLOWED[folder])


@pytest.mark.parametrize(
    "line",
    [
        "from unbraid.data._catalog import RENDERED",
        "from unbraid.data import _catalog",
        "from unbraid.data.own._picture import open_picture",
        "from unbraid.data.own import _picture",
        "import unbraid.data._catalog",
        "import unbraid.data.own._picture as picture",
        "def f():\n    from unbraid.data._catalog import RENDERED",
    ],
)
def test_an_import_of_a_private_module_counts_outside_of_its_room(line):
    assert len(private_imports(line, "unbraid.models")) == 1
    assert len(private_imports(line)) == 1
    assert private_imports(line, "unbraid.data") == []


@pytest.mark.parametrize(
    "line",
    [
        "from unbraid.data import XYSquares",
        "from unbraid.training.loggers import AbstractLogger",
        "import unbraid.data",
        "from unbraid import __version__",
        "from ._catalogue import RENDERED",
        "from torch._utils import something",
    ],
)
def test_public_relative_and_foreign_imports_do_not_count(line):
    assert private_imports(line, "unbraid.models") == []


def test_a_number_that_is_too_high_must_be_lowered():
    with pytest.raises(AssertionError, match=r"Lower ALLOWED\['src'\] .* from 2 to 1"):
        check("src", {"data": ["a.py:1: unbraid.data._catalog"]}, 2)


def test_a_new_private_import_is_listed_under_its_room():
    with pytest.raises(AssertionError, match=r"(?s)public names.*data \(1\):\n +a.py"):
        check("src", {"data": ["a.py:1: unbraid.data._catalog"]}, 0)


def test_the_claims_are_one_room():
    line = "from unbraid_claims._evidence import Evidence"
    assert private_imports(line, "unbraid_claims") == []
    assert private_imports(line, "unbraid.cli") == [(1, "unbraid_claims._evidence")]
    core = "from unbraid.studies._store import Cell"
    assert len(private_imports(core, "unbraid_claims")) == 1
