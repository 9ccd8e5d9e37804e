"""``unbraid encode``: codes of pictures or other data, as a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import print_json
from ._data import DataArgument, JsonOption, announce_hidden, find_model

if TYPE_CHECKING:
    import pandas as pd

    from unbraid.data import AbstractDataset
    from unbraid.representation import Representation

_SUFFIXES = (".csv", ".npy", ".parquet")


def encode(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Folder of a run, a saved model or a discovery."
        ),
    ],
    data: DataArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .csv or .parquet for a table with one row per image "
            "(its file name or row number, then one column per latent), or .npy for "
            "the codes alone.",
        ),
    ],
    variances: Annotated[
        bool,
        typer.Option(help="Add the log-variance of each latent to the table."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option(help="Replace the file if it exists.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    json: JsonOption = False,
) -> None:
    """Encode images with a trained model, and write their codes to a file.

    Pictures are cut and scaled in the same way as those that the model learned from.

    Example: unbraid encode found/model pictures -o codes.csv
    """
    from unbraid import load
    from unbraid.foundation import expand_user
    from unbraid.representation import encode as encode_data
    from unbraid.representation import prepare_data
    from unbraid.training import choose_device

    out = expand_user(out)
    _check_output(out, variances=variances, overwrite=overwrite)
    try:
        chosen = choose_device(device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device") from error
    announce_hidden(data)
    trained = load(find_model(model), device=chosen)
    dataset = prepare_data(trained, data)
    codes = encode_data(trained, dataset)
    write_codes(out, codes, dataset, variances=variances)
    n_rows, n_latents = codes.codes.shape
    if json:
        print_json({"file": str(out), "rows": n_rows, "latents": n_latents})
    else:
        typer.echo(f"Codes of {n_rows:,} images in {n_latents} latents: {out}")


def write_codes(
    path: Path,
    codes: "Representation",
    dataset: "AbstractDataset",
    *,
    variances: bool = False,
) -> None:
    """Write codes as a table or an array, by the suffix of the file.

    Args:
        path: File with the suffix ``.csv``, ``.npy`` or ``.parquet``.
        codes: Codes of the dataset.
        dataset: Dataset that was encoded; a folder of pictures gives the file names.
        variances: Whether to add the log-variances, if the model has them.
    """
    import io

    import numpy as np

    from unbraid.foundation import atomic_write

    content = io.BytesIO()
    if path.suffix == ".npy":
        np.save(content, codes.codes)
    elif path.suffix == ".csv":
        _make_table(codes, dataset, variances).to_csv(content, index=False)
    else:
        _make_table(codes, dataset, variances).to_parquet(content, index=False)
    with atomic_write(path) as file:
        file.write(content.getbuffer())


def _make_table(
    codes: "Representation", dataset: "AbstractDataset", variances: bool
) -> "pd.DataFrame":
    import pandas as pd

    from unbraid.data import ImageFolder
    from unbraid.foundation import printable_name

    columns: dict[str, object] = {"row": codes.rows}
    if isinstance(dataset, ImageFolder):
        columns = {"file": [printable_name(dataset.paths[row]) for row in codes.rows]}
    for number, column in enumerate(codes.codes.T):
        columns[f"latent_{number}"] = column
    if variances and codes.log_variances is not None:
        for number, column in enumerate(codes.log_variances.T):
            columns[f"log_variance_{number}"] = column
    return pd.DataFrame(columns)


def _check_output(out: Path, *, variances: bool, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    if out.suffix not in _SUFFIXES:
        raise typer.BadParameter(
            f"The file must end in {', '.join(_SUFFIXES)}, got {str(out)!r}.",
            param_hint="--out",
        )
    if variances and out.suffix == ".npy":
        raise typer.BadParameter(
            "Log-variances need a .csv or .parquet file.", param_hint="--variances"
        )
    if not out.absolute().parent.is_dir():
        raise typer.BadParameter(
            f"Cannot write {str(out)!r}: there is no folder "
            f"{str(out.absolute().parent)!r}.",
            param_hint="--out",
        )
    if out.exists() and not (overwrite and out.is_file()):
        raise FileExistsError(
            f"{out} exists already. Choose another name, or replace it with "
            "--overwrite."
        )
    if out.suffix == ".parquet":
        from unbraid.foundation import import_extra

        import_extra("pyarrow", "parquet", feature="parquet files")
