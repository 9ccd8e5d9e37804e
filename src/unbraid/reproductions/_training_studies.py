"""Studies that no published sweep gives: capacity, compute, size, other data."""

from collections.abc import Callable
from typing import Any

Plain = dict[str, Any]

OWN_STUDIES: dict[str, Callable[[str], Plain]] = {}
"""By name: a function from the preset to the study as plain data."""
