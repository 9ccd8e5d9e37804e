"""Find names, messages and docstring entries that are not plain English.

Run by ``make check``. Prints one line per finding and exits with 1 if there are any::

    python tools/plain_english.py            # the package
    python tools/plain_english.py --count    # number of findings per folder
    python tools/plain_english.py src/unbraid/data

The rules are those of CONTRIBUTING.md: an entry in a docstring or a help text can be
understood without the argument's name, a message says what is wrong and what to do,
names are the usual ones of the field, and spelling is American.
"""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# "seconds: That they will take." needs the name of the argument to be understood.
_FRAGMENT = re.compile(r"(Of|That|Where|How|From|To|What|Likewise|Whose|Which)\b")
_ENTRY = re.compile(r"^\s+\*{0,2}\w+: (?P<text>.*)$")
_TEMPLATE = re.compile(r"(^|: )[Ee]xpected\b|^got ")
_BRITISH = re.compile(
    r"optimis|normalis|standardis|realis|initialis|generalis|regularis|visualis|"
    r"serialis|summaris|parametris|neighbour|colour|behaviour|favour|learnt|grey|"
    r"catalogue|centre|modell|labell",
)
# Words of an idiom that the project has given up, as parts of names.
_RETIRED = {
    "words": "text, description, names",
    "place": "path, folder, position, index",
    "places": "paths, folders, positions, indices",
    "who": "name, caller",
    "hear": "notify, handle",
    "nobody": "no_op",
    "settle": "finish, resolve",
    "settled": "finished, resolved",
    "grow": "train, evolve",
    "grown": "trained, evolved",
    "opened": "open_*, dataset",
    "aright": "correct",
    "thereof": "-",
}

# Names of fields on disk, which keep the spelling that older files have.
_ON_DISK = {"centre", "initialisation"}


def find_in(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and description of every finding in a Python file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        yield from _find_in_names(node)
        yield from _find_in_docstring(node)
        yield from _find_in_help(node)
        yield from _find_in_text(node)


def _find_in_names(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.arg):
        name = node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        name = node.id
    else:
        return
    parts = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+", name)}
    for part in sorted(parts & _RETIRED.keys()):
        yield node.lineno, f"name {name}: instead of '{part}', use {_RETIRED[part]}"
    if name not in _ON_DISK and _BRITISH.search(name.lower()):
        yield node.lineno, f"name {name}: use American spelling"


def _find_in_docstring(node: ast.AST) -> Iterator[tuple[int, str]]:
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
        return
    docstring = ast.get_docstring(node, clean=False)
    if not docstring:
        return
    first = node.body[0].lineno
    for offset, line in enumerate(docstring.splitlines()):
        entry = _ENTRY.match(line)
        if entry and _FRAGMENT.match(entry["text"]):
            yield first + offset, f"fragment: {line.strip()}"


def _find_in_help(node: ast.AST) -> Iterator[tuple[int, str]]:
    if not isinstance(node, ast.keyword) or node.arg not in ("help", "description"):
        return
    text = _start_of(node.value)
    if _FRAGMENT.match(text):
        yield node.value.lineno, f"help: {text}"


def _find_in_text(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        if _TEMPLATE.search(text) and "\n" not in text:
            yield node.lineno, f"message: {text}"


def _start_of(value: ast.expr) -> str:
    """Return the first literal part of a string, or an empty string."""
    if isinstance(value, ast.JoinedStr) and value.values:
        value = value.values[0]
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return ""


def main() -> int:
    """Print the findings and return the exit code."""
    parser = argparse.ArgumentParser(description="Find text that is not plain English.")
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("src")])
    parser.add_argument(
        "--count", action="store_true", help="print the number of findings per folder"
    )
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for root in arguments.paths:
        files = [root] if root.is_file() else sorted(root.rglob("*.py"))
        for path in files:
            for line, text in sorted(find_in(path)):
                counts["/".join(path.parts[:3])] += 1
                if not arguments.count:
                    print(f"{path}:{line}: {text}")
    if arguments.count:
        for folder, count in sorted(counts.items()):
            print(f"{count:6d} {folder}")
    if counts:
        print(f"{counts.total()} findings. See 'Plain English' in CONTRIBUTING.md.")
    return 1 if counts else 0


if __name__ == "__main__":
    raise SystemExit(main())
