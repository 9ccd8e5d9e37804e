"""Every claim by name."""

from ._reproduction import Reproduction
from .claims import ALL

REPRODUCTIONS: dict[str, Reproduction] = {claim.name: claim for claim in ALL}
"""Reproductions by name, in the order of the sources."""
