"""Writing pages and figures, without overwriting files of others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.foundation import atomic_write, require_own_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEAD = 20_000
"""Number of bytes at the start of a page that contain its title."""

_MARKS = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}
_AS_WRITTEN = (b"Software\0unbraid", b"<dc:title>unbraid<", b"/Creator (unbraid)")


def require_own_page(target: Path) -> None:
    """Raise an error if a file exists that is not a page written by unbraid."""
    require_own_file(target, _is_page, "a page")


def _is_page(content: bytes) -> bool:
    titles = (b"unbraid report</title>", b"<title>Latent explorer</title>")
    return any(title in content[:_HEAD] for title in titles)


def require_own_figure(target: Path) -> None:
    """Raise an error if a file exists that is not a figure written by unbraid."""
    require_own_file(target, _is_figure, "a picture")


def _is_figure(content: bytes) -> bool:
    return any(mark in content for mark in _AS_WRITTEN)


def save_figure(figure: Figure, target: Path) -> None:
    """Write a figure, with metadata that mark it as written by unbraid.

    Args:
        figure: Figure to write.
        target: Path that ends in ``.png``, ``.svg`` or ``.pdf``.
    """
    kind = target.suffix.lower()
    with atomic_write(target, follow=True) as file:
        metadata = {_MARKS[kind]: "unbraid"}
        figure.savefig(file, dpi=150, format=kind[1:], metadata=metadata)
