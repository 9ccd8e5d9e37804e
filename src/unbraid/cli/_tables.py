"""Tables of codes and factors in files, and the options that describe them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

if TYPE_CHECKING:
    import pandas as pd

    from unbraid.metrics import Factors

_SUFFIXES = (".npy", ".npz", ".csv", ".parquet")
_CODE = "latent_"

FactorsOption = Annotated[
    Path | None,
    typer.Option(
        help="Factors of the same rows: .csv or .parquet with a column per factor "
        "(text columns are categorical), .npy or .npz."
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Names of the factors to use, separated by commas (default: all)."
    ),
]
KindsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=KIND,...",
        help="Kinds of factors, such as hour=cyclic,age=continuous: ordinal, "
        "categorical, cyclic or continuous.",
    ),
]
MetricsOption = Annotated[
    str,
    typer.Option(
        help="Metrics: standard, all, or names separated by commas, with options after "
        "a colon (mig:estimator=posterior); see `unbraid names metrics`."
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Time limit, such as 30s or 5m. Scores that do not fit are listed as "
        "skipped.",
    ),
]
ProgressOption = Annotated[
    bool | None,
    typer.Option(
        help="Print each score when it is done (default: on a terminal only)."
    ),
]
WriteJsonOption = Annotated[
    Path | None, typer.Option(help="Also write all results to this JSON file.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(help="Also draw the scores to this file (.png, .pdf or .svg)."),
]


def check_metrics(metrics: str, *, have_factors: bool) -> None:
    """Treat unknown metrics as wrong usage."""
    from unbraid.metrics import choose_metrics

    try:
        choose_metrics(metrics, have_factors=have_factors)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metrics") from error


def check_budget(budget: str | None) -> None:
    """Treat a budget that is no duration as wrong usage."""
    from unbraid.foundation import parse_duration

    try:
        if budget is not None:
            parse_duration(budget)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--budget") from error


def check_outputs(json: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written, before anything is computed."""
    from unbraid.foundation import expand_user

    for option, path in (("--json", json), ("--plot", plot)):
        if path is not None and not expand_user(path).absolute().parent.is_dir():
            raise typer.BadParameter(
                f"Cannot write {str(path)!r}: there is no folder "
                f"{str(path.absolute().parent)!r}.",
                param_hint=option,
            )
    if plot is not None and plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise typer.BadParameter(
            f"The file must end in .png, .pdf or .svg, got {str(plot)!r}.",
            param_hint="--plot",
        )
    if plot is not None:
        from unbraid.reports.figures import require_own_figure

        require_own_figure(expand_user(plot))


def write_plot(figure: Any, path: Path) -> None:
    """Write a figure to a file, and say where."""
    from unbraid.foundation import expand_user
    from unbraid.reports.figures import save_figure

    save_figure(figure, expand_user(path))
    typer.echo(f"Figure: {path}")


def parse_kinds(text: str | None) -> dict[str, Any]:
    """Kinds by name from ``name=kind,name=kind``; anything else is wrong usage."""
    from unbraid.data import Kind

    kinds = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, kind = (piece.strip() for piece in part.rpartition("="))
        if not equals or not name or kind not in get_args(Kind):
            raise typer.BadParameter(
                f"Write NAME=KIND with a kind among {', '.join(get_args(Kind))}, got "
                f"{part.strip()!r}.",
                param_hint="--kinds",
            )
        kinds[name] = kind
    return kinds


def check_kinds(kinds: Mapping[str, Any], names: Iterable[str]) -> None:
    """Treat kinds of factors that are not there as wrong usage."""
    _check_names(kinds, names, "--kinds")


def _check_names(names: Iterable[str], known: Iterable[str], option: str) -> None:
    from unbraid.foundation import suggest

    known = list(known)
    for name in names:
        if name not in known:
            raise typer.BadParameter(
                f"There is no factor {name!r}, only {', '.join(known) or 'none'}."
                f"{suggest(name, known)}",
                param_hint=option,
            )


def read_factors(path: Path, columns: str | None, kinds: str | None) -> "Factors":
    """Factors in a file, with the names of its columns.

    Args:
        path: File with one row per observation.
        columns: Names of the columns to use, between commas; all if ``None``.
        kinds: Text of ``--kinds``.
    """
    from unbraid.foundation import naming
    from unbraid.metrics import Factors

    declared = parse_kinds(kinds)
    frame = read_frame(path, "factors", "--factors")
    chosen = list(frame.columns)
    if columns is not None:
        chosen = [name.strip() for name in columns.split(",") if name.strip()]
        _check_names(chosen, frame.columns, "--columns")
    check_kinds(declared, chosen)
    with naming(str(path)):
        try:
            return Factors(frame[chosen], kinds=declared)
        except ValueError as error:
            hint = " Choose the other columns with --columns."
            raise ValueError(
                str(error) + (hint if "column" in str(error) else "")
            ) from None


def read_codes(path: Path, option: str, name: str = "codes") -> Any:
    """Codes in a file; of a table by ``unbraid encode``, the columns of latents.

    Args:
        path: File with one row per observation.
        option: Name of the option, for messages.
        name: Name of the array in an .npz file that has several.
    """
    import numpy as np

    from unbraid.foundation import DataFormatError

    frame = read_frame(path, name, option)
    latents = [name for name in frame.columns if name.startswith(_CODE)]
    if latents:
        frame = frame[latents]
    for column in frame.columns:
        if np.asarray(frame[column]).dtype.kind not in "biuf":
            raise DataFormatError(
                f"{path}: column {column!r} is not numbers. Codes are a table of "
                "numbers with one row per observation."
            )
    return frame.to_numpy()


def read_frame(path: Path, name: str, option: str) -> "pd.DataFrame":
    """Table in a file; columns without names are called ``factor_0``, ...

    Args:
        path: File of one of the known types.
        name: Name of the array in an .npz file that has several.
        option: Name of the option, for messages.
    """
    import pandas as pd

    from unbraid.foundation import DataFormatError, naming, require_memory

    path, n_bytes = _find_file(path, option)
    if path.suffix.lower() in (".csv", ".parquet"):
        # What pandas makes of a file takes several times its size.
        require_memory(4 * n_bytes, str(path))
        with naming(str(path)):
            return _read_table(path)
    table = _read_array(path, name, option)
    if table.ndim not in (1, 2) or 0 in table.shape:
        raise ValueError(
            f"{path} must hold a table (n_rows, n_columns), got shape {table.shape}."
        )
    if table.dtype.names is not None:
        raise DataFormatError(
            f"{path} holds records with the fields {', '.join(table.dtype.names)}. "
            "Give a table of numbers or text."
        )
    frame = pd.DataFrame(table.reshape(len(table), -1))
    frame.columns = [f"factor_{i}" for i in range(frame.shape[1])]
    return frame


def read_points(path: Path, option: str) -> Any:
    """Points in a file: a table, or an array of any shape, as it is.

    Args:
        path: File with one row per point.
        option: Name of the option, for messages.
    """
    path, _ = _find_file(path, option)
    if path.suffix.lower() in (".npy", ".npz"):
        return _read_array(path, "points", option)
    return read_codes(path, option, "points")


def _find_file(path: Path, option: str) -> tuple[Path, int]:
    """Return a file that exists and has a known type, and its size in bytes."""
    from unbraid.foundation import expand_user, require_regular_file

    path = expand_user(path)
    kinds = ", ".join(_SUFFIXES)
    if not path.exists():
        raise FileNotFoundError(
            f"{option}: there is no file {str(path)!r}. Give a file of type {kinds}."
        )
    if path.suffix.lower() not in _SUFFIXES:
        raise ValueError(f"{option}: {path} must be a file of type {kinds}.")
    return path, require_regular_file(path)


def _read_array(path: Path, name: str, option: str) -> Any:
    from unbraid.data import array_names, read_array
    from unbraid.foundation import DataFormatError, require_memory

    keys = array_names(path)
    key = name if name in keys else keys[0] if len(keys) == 1 else None
    if key is None:
        raise DataFormatError(
            f"{option}: {str(path)!r} has several arrays ({', '.join(keys) or 'none'}) "
            f"and none is called {name!r}."
        )
    table = read_array(path, key)
    # Tables are copied as float64.
    require_memory(8 * table.size, str(path))
    return table


def _read_table(path: Path) -> "pd.DataFrame":
    """A table with names; a first line of numbers in a CSV file is a row, not names."""
    import pandas as pd

    from unbraid.foundation import DataFormatError

    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path).rename(columns=str)
        first = pd.read_csv(path, header=None, nrows=1)
        has_names = any(kind.kind not in "iuf" for kind in first.dtypes)
        frame = pd.read_csv(path, header=0 if has_names else None)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise DataFormatError(
            f"{path}: this is not a table in CSV or Parquet ({str(error).strip()})."
        ) from error
    if not has_names:
        return frame.rename(columns=lambda i: f"factor_{i}")
    return frame.rename(columns=str)
