"""``unbraid names``: what can be asked for, also of other packages."""

from typing import Annotated, Any, Literal

import typer

from ._console import print_json, print_table
from ._data import JsonOption

Kind = Literal["objectives", "metrics", "datasets"]


def names(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            help="Kind of names: objectives, metrics or datasets (default: all)."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List objectives, metrics and datasets, with those of installed packages.

    Example: unbraid names objectives
    """
    from unbraid.data import DATASETS
    from unbraid.metrics import METRICS
    from unbraid.models.objectives import OBJECTIVES

    catalogs = {"objectives": OBJECTIVES, "metrics": METRICS, "datasets": DATASETS}
    rows = [
        {"kind": each, **row, **_options(each, row)}
        for each, catalog in catalogs.items()
        if kind in (None, each)
        for row in _rows(catalog)
    ]
    if json:
        print_json(rows)
        return
    columns = ["kind", "name", "from", "about"]
    columns += ["options"] if kind == "metrics" else []
    print_table(columns, [tuple(row[column] for column in columns) for row in rows])


def _rows(catalog: Any) -> list[dict[str, Any]]:
    rows = [
        {"name": name, "from": "unbraid", "about": _about(value), "usable": True}
        for name, value in catalog.built_in.items()
    ]
    return rows + [
        {
            "name": extension.name,
            "from": extension.package,
            "about": extension.fault or _about(extension.value),
            "usable": not extension.fault,
        }
        for extension in catalog.extensions
    ]


def _options(kind: str, row: dict[str, Any]) -> dict[str, str]:
    """Names of the options of a metric, with its defaults."""
    from unbraid.metrics import METRICS

    if kind != "metrics" or not row["usable"]:
        return {"options": ""} if kind == "metrics" else {}
    return {"options": ", ".join(METRICS[row["name"]].option_types)}


def _about(value: Any) -> str:
    described = getattr(value, "function", value)  # that of a metric
    return (described.__doc__ or "").strip().split("\n")[0]
