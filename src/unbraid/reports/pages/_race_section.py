"""The section of a page about the rounds of a discovery."""

from typing import Any

import pandas as pd

from ._page import Section, Table
from ._scores_table import number

_COLUMNS = (
    "round",
    "configuration",
    "latents found again",
    "active latents",
    "agreement",
    "chance",
    "ELBO",
    "continues",
)

_NUMBERS = {"active_latents": 1, "agreement": 2, "chance": 2, "elbo": 1}


def race_section(plan: dict[str, Any]) -> Section | None:
    """Return the section about the rounds of a discovery.

    Args:
        plan: Content of ``plan.json``.

    Returns:
        Section; ``None`` if the discovery has no rounds.
    """
    rungs = plan.get("rungs") or ()
    if not rungs:
        return None
    paragraphs = [*plan.get("notes", ()), *map(_describe, range(len(rungs)), rungs)]
    rows = [
        (
            str(index + 1),
            standing["name"],
            number(max(standing["score"], 0.0), 1),
            *(number(standing[name], digits) for name, digits in _NUMBERS.items()),
            "yes" if standing["is_kept"] else "no",
        )
        for index, standings in enumerate(plan.get("results") or ())
        for standing in sorted(standings, key=lambda each: -each["score"])
    ]
    table = Table(
        title="Standings",
        columns=_COLUMNS,
        rows=tuple(rows),
        caption="Latents found again: active latents of a run that runs with other "
        "seeds also find, minus the number expected by chance. Labels are not used.",
        data=pd.DataFrame(rows, columns=list(_COLUMNS)),
        file="race.csv",
    )
    return Section(
        title="Rounds", paragraphs=tuple(paragraphs), blocks=(table,) if rows else ()
    )


def _describe(index: int, rung: dict[str, Any]) -> str:
    n_configurations = rung["n_configurations"]
    plural = "s" if n_configurations > 1 else ""
    return (
        f"Round {index + 1}: {n_configurations} configuration{plural} with "
        f"{rung['n_seeds']} seeds, trained up to step {rung['steps']:,}."
    )
