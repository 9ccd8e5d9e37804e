"""``unbraid compare``: two or more encoders on the same rows."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import print_table
from ._tables import (
    BudgetOption,
    ColumnsOption,
    FactorsOption,
    KindsOption,
    MetricsOption,
    PlotOption,
    ProgressOption,
    WriteJsonOption,
    check_budget,
    check_metrics,
    check_outputs,
    parse_kinds,
    read_codes,
    read_factors,
    write_plot,
)

if TYPE_CHECKING:
    from unbraid.metrics import Comparison


def compare(
    codes: Annotated[
        list[Path],
        typer.Argument(
            metavar="CODES CODES...",
            help="Codes of the same rows by two or more encoders, the baseline first: "
            ".npy, .npz, .csv or .parquet.",
        ),
    ],
    factors: FactorsOption = None,
    columns: ColumnsOption = None,
    kinds: KindsOption = None,
    names: Annotated[
        str | None,
        typer.Option(
            help="Names of the encoders, separated by commas (default: file names)."
        ),
    ] = None,
    metrics: MetricsOption = "standard",
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the metrics and of the rows drawn for intervals."
        ),
    ] = 0,
    intervals: Annotated[
        bool, typer.Option(help="Estimate the 95% intervals of the differences.")
    ] = True,
    budget: BudgetOption = None,
    progress: ProgressOption = None,
    json: WriteJsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Compare the scores of encoders, with paired intervals of the differences.

    Example: unbraid compare a.npy b.npy --factors v.csv --plot comparison.png
    """
    from unbraid.foundation import expand_user, require_own_file
    from unbraid.metrics import compare as compare_scores

    labels = _choose_names(codes, names)
    check_outputs(json, plot)
    check_budget(budget)
    check_metrics(metrics, have_factors=factors is not None)
    parse_kinds(kinds)
    if factors is None and (columns or kinds):
        raise typer.BadParameter("--columns and --kinds describe --factors: give both.")
    if json is not None:
        require_own_file(expand_user(json), _is_comparison, "a file of scores")
    tables = {
        label: read_codes(path, str(path))
        for label, path in zip(labels, codes, strict=True)
    }
    result = compare_scores(
        tables,
        read_factors(factors, columns, kinds) if factors else None,
        metrics=metrics,
        seed=seed,
        intervals=intervals,
        budget=budget,
        progress=progress,
    )
    print_comparison(result)
    if plot is not None:
        write_plot(result.plot(), plot)
    if json is not None:
        result.to_json(os.path.realpath(expand_user(json)))
        typer.echo(f"Everything, with matrices and parts per factor: {json}")
    if not result.differences:
        raise typer.Exit(1)


def print_comparison(result: "Comparison") -> None:
    """The comparison as a table, and what is missing on stderr."""
    typer.echo(result.headline)
    line = result.cards[result.baseline].factors_line
    if line:
        typer.echo(line)
    print_table(result.columns, result.cells())
    for note in result.notes:
        typer.echo(note, err=True)


def _choose_names(codes: list[Path], names: str | None) -> list[str]:
    if len(codes) < 2:
        raise typer.BadParameter("Give the codes of at least two encoders.")
    labels = [path.stem for path in codes]
    if names is not None:
        labels = [name.strip() for name in names.split(",")]
    elif len(set(labels)) < len(labels):
        labels = [str(path) for path in codes]
    if len(labels) != len(codes) or len(set(labels)) < len(labels) or "" in labels:
        raise typer.BadParameter(
            f"Give {len(codes)} different names, one for each file, got "
            f"{', '.join(labels)!r}.",
            param_hint="--names",
        )
    return labels


def _is_comparison(content: bytes) -> bool:
    """Whether a file is one that ``--json`` wrote."""
    import json

    try:
        record = json.loads(content)
    except (RecursionError, ValueError):
        return False
    return isinstance(record, dict) and {"baseline", "cards"} <= set(record)
