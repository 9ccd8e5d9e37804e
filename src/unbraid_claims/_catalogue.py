"""Claims of unbraid and of other packages, by name.

A package offers all claims in a folder with one line in its ``pyproject.toml``::

    [project.entry-points."unbraid.claims"]
    theirs = "their_package.claims"

Each file of the folder, except those that start with an underscore, has a ``CLAIM``.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from unbraid.foundation import PackageCatalog, suggest

from ._claim import Claim


def _load_claims(package: ModuleType) -> dict[str, Claim]:
    modules = [
        import_module(f"{package.__name__}.{module.name}")
        for module in iter_modules(package.__path__)
        if not module.name.startswith("_")
    ]
    for module in modules:
        if not isinstance(getattr(module, "CLAIM", None), Claim):
            raise ValueError(f"the file {module.__file__} has no CLAIM")
    claims = {module.CLAIM.name: module.CLAIM for module in modules}
    return {name: claims[name] for name in sorted(claims, key=_natural)}


def _natural(name: str) -> list[str | int]:
    """Sort Figure 10 after Figure 7."""
    parts = re.split(r"(\d+)", name)
    return [int(part) if part.isdecimal() else part for part in parts]


CLAIMS: Mapping[str, Claim] = PackageCatalog("unbraid.claims", _load_claims)
"""Claims of all installed packages, sorted by name."""


def find_claim(name: str) -> Claim:
    """Return the claim with a name.

    Raises:
        ValueError: If there is no such claim. The message suggests a similar name.
    """
    if name not in CLAIMS:
        raise ValueError(
            f"There is no claim {name!r}.{suggest(str(name), CLAIMS)} `unbraid "
            "reproduce` lists all claims."
        )
    return CLAIMS[name]
