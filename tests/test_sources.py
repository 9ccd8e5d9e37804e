"""Every name on the page of sources exists: of Python, commands, sweeps and files."""

import ast
import importlib
import inspect
import re
import shlex
from pathlib import Path

import pytest
from whole_command import run_whole

from unbraid.data import DATASETS, DataSpec
from unbraid.metrics import METRICS, choose_metrics
from unbraid.studies import PRESETS
from unbraid_claims import CLAIMS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "sources.md").read_text()
DOCUMENTS = (
    "Holtz, Mishne and Cloninger (2022)",
    "Lecture on Locatello et al. (2019)",
    "Estermann, Marks and Yanik (2020)",
    "Ottlik, Ram and Liss (2022)",
    "Michlo (2022)",
)
WORDS = {
    # Values, options and columns that the text of a row explains.
    *("stratified", "subspaces", "mini", "paper"),
    *("unbraid study preset NAME", "unbraid reproduce NAME"),
}


def find(dotted):
    """The object of a dotted name, which starts with a package."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        assert not any(part.startswith("_") for part in parts), f"{dotted} is private"
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(dotted)


def check_python(text):
    dotted, _, arguments = text.partition("(")
    found = find(dotted)
    names = getattr(inspect.getmodule(found), "__all__", None)
    assert callable(found) or names is None, text
    if not arguments:
        return
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call), text
    options = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    if inspect.isclass(found) and "image_size" not in options and "picture" not in text:
        found(**options)  # values are checked by the class itself
    else:
        inspect.signature(found).bind_partial(**options)


def check_command(text):
    # Commands and options are read before the help is printed.
    result = run_whole(*shlex.split(text)[1:], "--help")
    assert result.returncode == 0, f"{text}: {result.stderr}"
    is_group = "Commands" in result.stdout
    assert not is_group, f"{text} is a group of commands"


def check_name(text):
    """Check one name, as what it looks like; fail if it is nothing known."""
    if text in WORDS:
        return
    if text.startswith("unbraid "):
        check_command(text)
    elif re.match(r"unbraid(_claims)?\.", text):
        check_python(text)
    elif "/" in text:
        assert (ROOT / text).is_file(), text
    elif re.split("[:+]", text)[0] in DATASETS:
        DataSpec.parse(text).resolve()
    elif text.split(":")[0] in METRICS:
        choose_metrics([text], have_factors=True)
    else:
        assert text in PRESETS or text in CLAIMS, f"{text} is not known"


NAMES = list(dict.fromkeys(re.findall(r"`([^`]+)`", PAGE)))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_on_the_page_exists(name):
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "unbraid.metrics.no_such_score",
        "unbraid.models.objectives.TVAE(q=2)",
        "unbraid.models.objectives.TVAE(p=0.5)",
        "unbraid.metrics._catalog.METRICS",
        "unbraid study choose STUDY",
        "unbraid study select STUDY --sensible",
        "unbraid study",
        "mig:estimatr=posterior",
        "xy_squares:gap=4",
        "sprites2d+nois:p=0.1",
        "docs/nothing.md",
        "holtz-table-9",
    ],
)
def test_a_wrong_name_is_found(name):
    with pytest.raises((AssertionError, AttributeError, TypeError, ValueError)):
        check_name(name)


@pytest.mark.parametrize("name", [*PRESETS, *CLAIMS])
def test_every_sweep_and_claim_of_a_source_is_on_the_page(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_document_has_its_tables(document):
    section = PAGE.split(f"\n## {document}\n", 1)[1].split("\n## ", 1)[0]
    assert "### Not built" in section
    built, missing = section.split("### Not built")
    rows = [line for line in built.splitlines() if line.startswith("| ")]
    assert len(rows) > 20
    for row in rows:
        cells = re.sub(r"`[^`]*`", "", row).strip("|").split("|")
        assert len(cells) == 3, row
        described, where, deviation = (
            cell.strip() for cell in row.strip("|").split("|")
        )
        assert described
        # What is nowhere needs a reason.
        assert where or deviation, row
    reasons = [line for line in missing.splitlines() if line.startswith("| ")][1:]
    assert reasons
    assert all(len(row.strip("|").split("|")) == 2 for row in reasons)


def test_the_page_can_be_found_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    assert "\nsources\n" in index
    assert "(sources.md)" in index
