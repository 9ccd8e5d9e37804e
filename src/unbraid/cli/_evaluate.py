"""``unbraid evaluate``: scores of a model, or of codes that were made anywhere."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_table
from ._data import open_data

if TYPE_CHECKING:
    from unbraid.metrics import Scorecard


def evaluate(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="Folder of a run, or of a saved model."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Data to encode with the model, with factors.")
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
            "only one) or .csv."
        ),
    ] = None,
    factors: Annotated[
        Path | None,
        typer.Option(help="Factors of the same rows: .npy, .npz or .csv, or nothing."),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            help="'standard', 'all', or names between commas; see `unbraid names "
            "metrics`."
        ),
    ] = "standard",
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is random.")] = 0,
    intervals: Annotated[
        bool, typer.Option(help="Estimate intervals, at five times the work.")
    ] = True,
    levels: Annotated[
        bool, typer.Option(help="Measure chance and ideal levels, at twice the work.")
    ] = True,
    json: Annotated[
        Path | None, typer.Option(help="Also write everything to this JSON file.")
    ] = None,
) -> None:
    """Score a model on data, or codes with factors: every metric out.

    Example: unbraid evaluate run --data xy_object

    Example: unbraid evaluate --codes z.npy --factors v.csv --json scores.json
    """
    from unbraid.foundation import expand_user, naming, require_own_file
    from unbraid.metrics import evaluate as score

    _check_usage(model, data, codes, factors)
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(
            f"Expected a file in a folder that exists, got {str(json)!r}.",
            param_hint="--json",
        )
    if json is not None:
        require_own_file(expand_user(json), _is_scorecard, "a file of scores")
    _check_metrics(metrics, have_factors=model is not None or factors is not None)
    if model is not None and data is not None:
        table, labels = _open(model, data)
    else:
        table, labels = _read_tables(codes, factors)
    with naming(str(model if codes is None else codes)):
        card = score(
            table,
            labels,
            metrics=metrics,
            rows=rows,
            seed=seed,
            intervals=intervals,
            levels=levels,
        )
    print_scorecard(card)
    if json is not None:
        card.to_json(os.path.realpath(expand_user(json)))  # a link stays a link
        typer.echo(f"Everything, with matrices and parts per factor: {json}")
    if not card.scores:
        raise typer.Exit(1)


def _is_scorecard(content: bytes) -> bool:
    """Whether a file is one that ``--json`` wrote."""
    import json

    try:
        words = json.loads(content)
    except (RecursionError, ValueError):
        return False
    known = {"n_rows", "n_latents", "scores", "failures"}
    return isinstance(words, dict) and known <= set(words)


def _check_usage(
    model: Path | None, data: str | None, codes: Path | None, factors: Path | None
) -> None:
    if (model is None) == (codes is None):
        raise typer.BadParameter(
            "Expected a MODEL with --data, or --codes, and not both."
        )
    if (model is None) != (data is None):
        raise typer.BadParameter("Expected MODEL and --data together.")
    if model is not None and factors is not None:
        raise typer.BadParameter(
            "Expected --factors with --codes only: a dataset brings its own."
        )


def _check_metrics(metrics: str, *, have_factors: bool) -> None:
    from unbraid.metrics import choose_metrics

    try:
        choose_metrics(metrics, have_factors=have_factors)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metrics") from error


def _open(model: Path, data: str) -> tuple[Any, Any]:
    """A model and a dataset with images of the right shape for it."""
    from unbraid import load

    network, dataset = load(model), open_data(data)
    if tuple(dataset.image_shape) != network.image_shape:
        raise ValueError(
            f"evaluate: expected data of shape {network.image_shape}, for which the "
            f"model was made, got {tuple(dataset.image_shape)}."
        )
    return network, dataset


def _read_tables(codes: Path | None, factors: Path | None) -> tuple[Any, Any]:
    from unbraid.metrics import Factors

    assert codes is not None
    table, _ = read_table(codes, "codes", "--codes")
    if factors is None:
        return table, None
    values, names = read_table(factors, "factors", "--factors")
    return table, Factors(values, names=names)


def print_scorecard(card: "Scorecard") -> None:
    """The scores as a table, and the metrics that gave none with their reason."""
    typer.echo(card.headline)
    rows = []
    for score in card.values():
        interval = "{:.3f} to {:.3f}".format(*score.interval) if score.interval else ""
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
    for name, reason in card.failures.items():
        typer.echo(f"no {name}: {reason}", err=True)


def read_table(path: Path, name: str, option: str) -> tuple[Any, list[str] | None]:
    """Table of numbers in a file, and the names of its columns if it has some.

    Args:
        path: Of a .npy, .npz or .csv file.
        name: Of the array in an .npz file that has several.
        option: What to call the file in complaints.
    """
    from unbraid.data import array_names, read_array
    from unbraid.foundation import (
        DataFormatError,
        expand_user,
        naming,
        require_memory,
        require_regular_file,
    )

    path = expand_user(path)
    if not path.exists():
        raise FileNotFoundError(
            f"{option}: expected a .npy, .npz or .csv file, got {str(path)!r}, and "
            "there is no such file."
        )
    kind = path.suffix.lower()
    if kind not in (".npy", ".npz", ".csv"):
        raise ValueError(
            f"{option}: expected a .npy, .npz or .csv file, got {str(path)!r}."
        )
    n_bytes = require_regular_file(path)
    if kind == ".csv":
        # What pandas makes of a text takes several times its size.
        require_memory(4 * n_bytes, str(path))
        with naming(str(path)):
            return _read_csv(path)
    keys = array_names(path)
    key = name if name in keys else keys[0] if len(keys) == 1 else None
    if key is None:
        raise DataFormatError(
            f"{option}: expected an array called {name!r} or only one in "
            f"{str(path)!r}, got {', '.join(keys) or 'none'}."
        )
    table = read_array(path, key)
    # Tables are copied as float64.
    require_memory(8 * table.size, str(path))
    return table, None


def _read_csv(path: Path) -> tuple[Any, list[str] | None]:
    """Numbers and names of the columns; a first line of numbers is a row, not names."""
    import pandas as pd

    from unbraid.foundation import DataFormatError

    try:
        first = pd.read_csv(path, header=None, nrows=1)
        if all(kind.kind in "iuf" for kind in first.dtypes):
            return pd.read_csv(path, header=None).to_numpy(), None
        frame = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise DataFormatError(
            f"{path}: expected a table of numbers in CSV, got something else "
            f"({str(error).strip()})."
        ) from error
    return frame.to_numpy(), [str(column) for column in frame.columns]
