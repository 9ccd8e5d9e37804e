"""Published sweeps by name: study files that need not be written."""

import difflib
import json
from collections.abc import Callable, Iterable
from typing import Any

from .presets import (
    SCALES,
    dlib_2019,
    estermann_2020_fig1,
    estermann_2020_fig2,
    estermann_2020_fig4,
    estermann_2020_fig4_plain,
    estermann_2020_fig5,
    estermann_2020_fig6,
    holtz_2022,
    michlo_2022_a3_1,
    michlo_2022_a3_2,
    michlo_2022_a3_3,
    michlo_2022_a4,
    michlo_2022_a5_1,
    michlo_2022_a5_2,
    michlo_2022_a5_3,
    michlo_2022_a6,
    michlo_2022_a7_1,
    michlo_2022_a7_2,
)

PRESETS: dict[str, Callable[[str], dict[str, Any]]] = {
    "dlib-2019": dlib_2019,
    "estermann-2020-fig1": estermann_2020_fig1,
    "estermann-2020-fig2": estermann_2020_fig2,
    "estermann-2020-fig4": estermann_2020_fig4,
    "estermann-2020-fig4-plain": estermann_2020_fig4_plain,
    "estermann-2020-fig5": estermann_2020_fig5,
    "estermann-2020-fig6": estermann_2020_fig6,
    "holtz-2022": holtz_2022,
    "michlo-2022-a3-1": michlo_2022_a3_1,
    "michlo-2022-a3-2": michlo_2022_a3_2,
    "michlo-2022-a3-3": michlo_2022_a3_3,
    "michlo-2022-a4": michlo_2022_a4,
    "michlo-2022-a5-1": michlo_2022_a5_1,
    "michlo-2022-a5-2": michlo_2022_a5_2,
    "michlo-2022-a5-3": michlo_2022_a5_3,
    "michlo-2022-a6": michlo_2022_a6,
    "michlo-2022-a7-1": michlo_2022_a7_1,
    "michlo-2022-a7-2": michlo_2022_a7_2,
}
"""Every preset: a function from the scale to the study as plain data."""


def preset(name: str, scale: str = "mini") -> dict[str, Any]:
    """A published sweep as the plain data of a study file.

    Args:
        name: One of ``PRESETS``. The tables of Michlo (2022) go by their number, with
            the number of the row where a table has several.
        scale: ``"mini"``: rendered miniatures and a small dense network, a run takes
            seconds. ``"small"``: rendered images of 64x64 and the published network, a
            run takes tens of minutes on one core. ``"paper"``: as published, on the
            published data. The two smaller ones keep what a sweep compares, and fewer
            values of what it averages over.

    Returns:
        A fresh dictionary, to be changed as one likes.

    Raises:
        ValueError: If there is no such preset or scale; names the nearest.

    Example:
        >>> study = preset("holtz-2022", "paper")
        >>> study["data"], study["grid"]["objective.beta"], study["seeds"]
        ('dsprites', [1, 2, 4, 8, 16], 25)
    """
    _check("name", name, PRESETS)
    _check("scale", scale, SCALES)
    # By way of text, so that no two parts of it are the same object.
    return json.loads(json.dumps(PRESETS[name](scale)))


def _check(what: str, given: str, known: Iterable[str]) -> None:
    if not isinstance(given, str) or given not in known:
        # The number of a table without that of its row is near to its first row.
        near = [name for name in known if name.startswith(f"{given}-")]
        near += difflib.get_close_matches(str(given), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"preset: expected a {what} among {', '.join(known)}, got {given!r}.{hint}"
        )
