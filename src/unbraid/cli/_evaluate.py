"""``unbraid evaluate``: scores of a model, or of codes that were made anywhere."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_table
from ._data import find_model, open_for_model
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
    check_kinds,
    check_metrics,
    check_outputs,
    parse_kinds,
    read_codes,
    read_factors,
    write_plot,
)

if TYPE_CHECKING:
    from unbraid.metrics import Scorecard


def evaluate(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]", help="Folder of a run, a saved model or a discovery."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Data to encode with the model, with factors; by default those that "
            "it was trained on, if they are still there."
        ),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Images to encode, drawn at random if there are more. Metrics along "
            "traversals encode up to 256 complete traversals per factor as well.",
        ),
    ] = 50_000,
    codes: Annotated[
        Path | None,
        typer.Option(
            help="Codes, one row per observation: .npy, .npz (array 'codes' or the "
            "only one), .csv or .parquet."
        ),
    ] = None,
    factors: FactorsOption = None,
    columns: ColumnsOption = None,
    kinds: KindsOption = None,
    metrics: MetricsOption = "standard",
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the drawn rows, the metrics and the intervals."
        ),
    ] = 0,
    intervals: Annotated[
        bool | None,
        typer.Option(
            help="Intervals of all scores (about five times the work) or of none; by "
            "default those that take a few seconds."
        ),
    ] = None,
    levels: Annotated[
        bool, typer.Option(help="Measure chance and ideal levels, at twice the work.")
    ] = True,
    budget: BudgetOption = None,
    progress: ProgressOption = None,
    json: WriteJsonOption = None,
    plot: PlotOption = None,
) -> None:
    """Score a model on data, or codes from anywhere with their factors.

    Example: unbraid evaluate run --data xy_object

    Example: unbraid evaluate --codes z.npy --factors v.csv --kinds hour=cyclic
    """
    from unbraid.foundation import expand_user, naming, require_own_file
    from unbraid.metrics import evaluate as score

    _check_usage(model, data, codes, factors)
    if factors is None and columns is not None:
        raise typer.BadParameter("--columns chooses factors: give --factors.")
    check_outputs(json, plot)
    check_budget(budget)
    declared = parse_kinds(kinds)
    if json is not None:
        require_own_file(expand_user(json), _is_scorecard, "a file of scores")
    check_metrics(metrics, have_factors=model is not None or factors is not None)
    if model is not None:
        table, labels = _open(model, data)
        check_kinds(declared, labels.factor_names)
    else:
        assert codes is not None
        table = read_codes(codes, "--codes")
        labels = read_factors(factors, columns, kinds) if factors else None
    with naming(str(model if codes is None else codes)):
        card = score(
            table,
            labels,
            metrics=metrics,
            rows=rows,
            seed=seed,
            kinds=declared if model is not None else None,
            intervals=intervals,
            levels=levels,
            budget=budget,
            progress=progress,
        )
    print_scorecard(card)
    if plot is not None:
        write_plot(card.plot(), plot)
    if json is not None:
        card.to_json(os.path.realpath(expand_user(json)))  # a link stays a link
        typer.echo(f"Everything, with matrices and parts per factor: {json}")
    if not card.scores:
        raise typer.Exit(1)


def _is_scorecard(content: bytes) -> bool:
    """Whether a file is one that ``--json`` wrote."""
    import json

    try:
        record = json.loads(content)
    except (RecursionError, ValueError):
        return False
    known = {"n_rows", "n_latents", "scores", "failures"}
    return isinstance(record, dict) and known <= set(record)


def _check_usage(
    model: Path | None, data: str | None, codes: Path | None, factors: Path | None
) -> None:
    if (model is None) == (codes is None):
        raise typer.BadParameter("Give a MODEL, or --codes, but not both.")
    if model is None and data is not None:
        raise typer.BadParameter("--data is for a MODEL, which encodes them.")
    if model is not None and factors is not None:
        raise typer.BadParameter(
            "--factors is for --codes only: a dataset has its own factors."
        )


def _open(model: Path, data: str | None) -> tuple[Any, Any]:
    """A model and a dataset with images of the right shape for it."""
    from unbraid import load

    folder = find_model(model)
    network = load(folder)
    dataset = open_for_model(network, data, folder)
    if tuple(dataset.image_shape) != network.image_shape:
        raise ValueError(
            f"evaluate: the model takes images of shape {network.image_shape}, but the "
            f"data have shape {tuple(dataset.image_shape)}."
        )
    return network, dataset


def print_scorecard(card: "Scorecard") -> None:
    """The scores as a table, and the metrics that gave none with their reason."""
    typer.echo(card.headline)
    if card.factors_line:
        typer.echo(card.factors_line)
    rows = []
    for score in card.values():
        interval = "{:.3f} to {:.3f}".format(*score.interval) if score.interval else "-"
        rows.append(
            (
                score.name,
                f"{score:.4f}",
                interval,
                "" if score.chance is None else f"{score.chance:.3f}",
                "" if score.ideal is None else f"{score.ideal:.3f}",
                score.factors_text,
                score.variant,
                score.note,
            )
        )
    columns = ("score", "value", "interval", "chance", "ideal", "factors")
    print_table((*columns, "variant", "note"), rows)
    for note in card.notes:
        typer.echo(note, err=True)
