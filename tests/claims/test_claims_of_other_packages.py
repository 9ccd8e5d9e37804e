"""Claims of other packages, as a user meets them."""

import json

import pytest
from extension_package import install, run_commands

from unbraid_claims import CLAIMS

OURS = """
[project]
name = "arithmetic"
version = "1.0"

[project.entry-points."unbraid.claims"]
sums = "arithmetic.claims"
"""
BROKEN = """
[project]
name = "broken"
version = "2.0"

[project.entry-points."unbraid.claims"]
nothing = "broken_claims"
one = "broken_claims.empty"
"""
SOURCES = {
    "arithmetic/__init__.py": "",
    "arithmetic/claims/_four.py": "FOUR = 4.0\n",
    "arithmetic/claims/two_and_two.py": """
from unbraid_claims import Check, Claim, Measured
from ._four import FOUR

def measure(evidence):
    check = Check(quantity="sum", expected="4", value=2.0 + 2.0, least=FOUR)
    return Measured(checks=[check])

CLAIM = Claim(
    name="two-and-two",
    source="Somebody (2026)",
    text="Two and two are four.",
    measure=measure,
)
""",
    "broken_claims/empty.py": "",
}
COMMANDS = {
    "list": ("reproduce", "--json"),
    "measure": ("reproduce", "two-and-two", "--preset", "smoke", "--json"),
    "unknown": ("reproduce", "two-and-too"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What commands say that find a package with a claim, and one without."""
    packages = tmp_path_factory.mktemp("packages")
    install(packages, SOURCES, OURS)
    install(packages, {}, BROKEN)
    cwd = tmp_path_factory.mktemp("cwd")
    done = run_commands(list(COMMANDS.values()), extra=packages, cwd=cwd)
    return dict(zip(COMMANDS, done, strict=True))


def test_a_claim_of_a_package_is_listed_beside_those_of_unbraid(said):
    names = [row["name"] for row in json.loads(said["list"].out)]
    assert "two-and-two" in names
    assert set(CLAIMS) < set(names)


def test_a_claim_of_a_package_is_measured(said):
    assert said["measure"].code == 0, said["measure"].err
    (finding,) = json.loads(said["measure"].out)
    assert finding["claim"] == "Two and two are four."
    assert finding["checks"][0]["verdict"] == "holds"


def test_a_claim_of_a_package_is_suggested(said):
    assert said["unknown"].code == 2
    assert "Did you mean 'two-and-two'?" in said["unknown"].words


def test_a_package_without_claims_is_told_and_hides_no_others(said):
    lines = said["list"].err.splitlines()
    assert "empty.py has no CLAIM" in lines[0]
    assert "'broken_claims.empty'" in lines[1]
    assert "is not a package" in lines[1]
