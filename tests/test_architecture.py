"""``docs/architecture.md`` agrees with the imports of the package."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import unbraid

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "unbraid"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def read_layers(page):
    """Rooms of the drawing, from the top, as sets of rooms beside each other."""
    drawing = re.search(r"```text\n(.*?)```", page, re.DOTALL).group(1)
    layers = []
    for line in drawing.splitlines():
        names = re.match(r"[a-z_]+( +\| [a-z_]+)?(?=  )", line)
        if names:
            layers.append({name.strip() for name in names.group().split("|")})
    return layers


def read_walks(page):
    """Modules of each walk, in order."""
    text = page.partition("## Three walks")[2]
    parts = re.split(r"^### (\w+)$", text, flags=re.MULTILINE)[1:]
    names = dict(zip(parts[::2], parts[1::2], strict=True))
    return {name: re.findall(r"`([\w/]+\.py)`", walk) for name, walk in names.items()}


def test_the_drawing_has_the_layers_that_import_linter_checks():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    checked = [
        {name.strip().removeprefix("unbraid.") for name in layer.split("|")}
        for layer in contract["layers"]
    ]
    assert read_layers(PAGE) == checked


def test_every_room_is_in_the_drawing():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.name[0] not in "_."}
    assert set.union(*read_layers(PAGE)) - {"unbraid_claims"} == rooms - {"py"}


@cache
def definitions(room):
    """File of each name that a room exports."""
    folder = PACKAGE / room
    if not folder.is_dir():
        return {}
    found = {}
    for node in ast.parse((folder / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            path = f"{room}/{node.module.replace('.', '/')}"
            inner = PACKAGE / path
            for alias in node.names:
                name = alias.asname or alias.name
                found[name] = f"{path}.py"
                if inner.is_dir():
                    found[name] = definitions(path).get(alias.name, "")
    return found


def imports(module):
    """Files of the package that a module imports names from."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level == 1:
            folder = Path(module).parent.as_posix()
            found.add(f"{folder}/{(node.module or '').replace('.', '/')}.py")
        elif node.module and node.module.split(".")[0] == "unbraid":
            room = "/".join(node.module.split(".")[1:]) or "."
            names = definitions(room)
            if room == ".":  # names that the package takes from its rooms
                names = {
                    name: definitions(home.split(".")[1]).get(name, "")
                    for name, home in unbraid._HOMES.items()
                }
            found |= {names.get(alias.name, "") for alias in node.names}
            found.add(f"{room}.py")
    return found


def unreached(walk):
    """Modules that are missing, or that no earlier module of the walk imports."""
    problems = []
    for place, module in enumerate(walk):
        if not (PACKAGE / module).is_file():
            problems.append(f"{module} does not exist")
        elif place and not any(module in imports(other) for other in walk[:place]):
            problems.append(f"{module} is not imported by a module before it")
    return problems


@pytest.mark.parametrize("name", ["Train", "Evaluate", "Discover"])
def test_each_module_of_a_walk_is_imported_by_one_before_it(name):
    assert unreached(read_walks(PAGE)[name]) == []


def test_a_walk_that_is_wrong_is_noticed():
    assert unreached(["cli/_train.py", "training/_nothing.py"]) == [
        "training/_nothing.py does not exist"
    ]
    assert unreached(["cli/_train.py", "geometry/_tangents.py"]) == [
        "geometry/_tangents.py is not imported by a module before it"
    ]
