"""Modules that are slow to import are imported where they are used.

Modules are counted, not seconds, so that a busy machine fails no test.
"""

import subprocess
import sys
from importlib import resources

import pytest

SLOW = {
    "h5py",
    "joblib",
    "matplotlib",
    "pandas",
    "requests",
    "scipy",
    "sklearn",
    "urllib3",
}


def imported_modules(statement):
    """All modules in a fresh interpreter after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("room", ["evolution", "metrics", "studies", "training"])
def test_rooms_for_everyone_import_nothing_slow_but_torch(room):
    modules = imported_modules(f"import unbraid.{room}")
    assert {"torch", f"unbraid.{room}"} <= modules
    assert modules & SLOW == set()


def test_the_package_imports_nothing_slow():
    modules = imported_modules("import unbraid")
    assert modules & (SLOW | {"torch", "numpy", "pydantic"}) == set()


def test_tables_import_pandas_when_they_are_made():
    modules = imported_modules(
        "import unbraid, numpy\n"
        "table = numpy.arange(8.0).reshape(4, 2) % 3\n"
        "card = unbraid.evaluate(table, table, metrics=['mig'], intervals=False)\n"
        "import sys\n"
        "assert 'pandas' not in sys.modules\n"
        "assert len(card.to_frame()) == 1"
    )
    assert "pandas" in modules


@pytest.mark.parametrize("package", ["unbraid", "unbraid_claims"])
def test_type_checkers_find_the_types_of_both_packages(package):
    assert resources.files(package).joinpath("py.typed").is_file()
