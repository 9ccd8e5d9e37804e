"""``unbraid data``: look at datasets, fetch published ones, check any."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_json, print_table

# The library is imported inside the commands: torch takes two seconds, and --help
# should not.
if TYPE_CHECKING:
    from unbraid.data import AbstractDataset, StatisticsComparison

data = typer.Typer(
    name="data", no_args_is_help=True, help="Look at, fetch and check datasets."
)

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A name with options (xy_squares:spacing=8), a folder of pictures, or an "
        ".npy, .npz or .h5 file; views follow after a plus (xy_squares+noise:p=0.1).",
    ),
]
_MUCH = 20_000_000_000
"""Bytes from which on reading all of them is announced, and is not done for info."""
_BYTES_PER_SECOND = 500_000_000

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def open_data(text: str) -> "AbstractDataset":
    """Dataset that a user named; a wrong name is wrong usage, a missing file is not."""
    from unbraid.data import open_dataset
    from unbraid.foundation import DataFormatError, UnbraidError

    announce_hidden(text)
    try:
        return open_dataset(text)
    except DataFormatError as error:
        # Options are written otherwise here than in Python.
        said = str(error).replace("pass on_error='skip'", "write DATA:on_error=skip")
        raise DataFormatError(said) from error
    except (UnbraidError, OSError):
        raise
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error), param_hint="DATA") from error


def find_model(folder: Path) -> Path:
    """Folder of a model; a discovery has it in a folder of its own."""
    from unbraid.foundation import expand_user

    inside = expand_user(folder) / "model"
    return inside if (inside / "model.json").is_file() else folder


def open_for_model(model: Any, text: str | None, folder: Path) -> "AbstractDataset":
    """Open data; pictures and arrays of images get the size that a model takes.

    Built-in datasets stay as they are: to resize them unasked would hide a mistake.

    Args:
        model: The model.
        text: Data that a user named; those that the model was trained on if ``None``.
        folder: Folder of the model.
    """
    from unbraid.data import ImageFolder, LabeledImages
    from unbraid.reports import find_training_data
    from unbraid.representation import prepare_data

    if text is None:
        known = find_training_data(folder)
        if known is None:
            raise typer.BadParameter(
                f"The data that the model was trained on are not available: "
                f"{str(folder)!r} does not lead to them. Name the data with --data.",
                param_hint="--data",
            )
        return known
    dataset = open_data(text)
    is_own = isinstance(dataset, ImageFolder | LabeledImages)
    return prepare_data(model, dataset) if is_own else dataset


def announce_hidden(text: str) -> None:
    """Say so if a name of a dataset is also that of a folder or file here."""
    from unbraid.data import hidden_path

    path = hidden_path(text)
    if path is not None:
        name = path.removeprefix("./")
        typer.echo(
            f"{name}: the built-in dataset is used. Write {path} for the folder or "
            "file of this name.",
            err=True,
        )


def announce_reading(dataset: "AbstractDataset") -> int:
    """Bytes of the images; before much is read, say how long that takes."""
    from math import prod

    from unbraid.foundation import format_bytes, format_duration

    size = 4 if len(dataset.image_shape) == 1 else 1
    n_bytes = len(dataset) * prod(dataset.image_shape) * size
    if n_bytes > _MUCH:
        typer.echo(
            f"{dataset.name}: {format_bytes(n_bytes)} of images; to read all of them "
            f"takes about {format_duration(n_bytes / _BYTES_PER_SECOND)}",
            err=True,
        )
    return n_bytes


@data.command("list")
def list_datasets(json: JsonOption = False) -> None:
    """List every dataset by name, with its images and factors.

    Example: unbraid data list
    """
    describe_datasets(json=json)


def describe_datasets(*, json: bool = False) -> None:
    """Print one line per dataset."""
    from unbraid.data import DATASETS

    rows = [_describe_named(name, dataset) for name, dataset in DATASETS.items()]
    if json:
        print_json(rows)
        return
    print_table(
        ("name", "images", "shape", "factors"),
        [
            (
                row["name"],
                f"{row['n_images']:,}" if row["n_images"] else "-",
                " x ".join(map(str, row["image_shape"])) if row["image_shape"] else "-",
                _factor_text(row),
            )
            for row in rows
        ],
    )


@data.command()
def info(name: DataArgument, json: JsonOption = False) -> None:
    """Show one dataset: its images, its factors, and its pixels in numbers.

    Example: unbraid data info xy_squares:spacing=4
    """
    import numpy as np

    from unbraid.data import channel_statistics

    dataset = open_data(name)
    n_bytes = announce_reading(dataset)
    # A gigabyte of images at most.
    most = max(1, 1_000_000_000 * len(dataset) // n_bytes)
    n_looked_at = min(len(dataset), 10_000, most)
    rows = np.linspace(0, len(dataset) - 1, n_looked_at).round().astype(np.int64)
    if n_bytes > _MUCH:
        # A disk gives neighbors many times as fast as rows that lie far apart.
        starts = np.linspace(0, len(dataset) - n_looked_at, 20).round()
        rows = np.concatenate(
            [
                start + np.arange(max(1, n_looked_at // 20))
                for start in starts.astype(np.int64)
            ]
        )
        rows = np.unique(rows)
        n_looked_at = len(rows)
    statistics = channel_statistics(dataset, rows)
    facts = _describe(dataset) | {
        "mean": statistics.mean,
        "std": statistics.std,
        "statistics_of": n_looked_at,
        "fingerprint": dataset.fingerprint() if json and n_bytes <= _MUCH else None,
        "verdicts": _verdicts(dataset),
    }
    if json:
        print_json(facts)
        return
    typer.echo(f"{facts['name']}: {facts['about']}")
    typer.echo(
        f"{len(dataset):,} images of {' x '.join(map(str, dataset.image_shape))} "
        "(channels, height, width)"
    )
    if facts["factors"]:
        expected = {row["factor"]: row for row in facts["verdicts"]}
        print_table(
            ("factor", "values", "kind", "will a VAE disentangle it?"),
            [
                (
                    row["name"],
                    str(row["size"] or "-"),
                    row["kind"],
                    "{expectation}: {words}".format(**expected[row["name"]])
                    if row["name"] in expected
                    else "-",
                )
                for row in facts["factors"]
            ],
        )
    else:
        typer.echo("no factors are known")
    typer.echo(f"pixels, as seen in {n_looked_at:,} images scaled to [0, 1]:")
    for label, values in (("mean", statistics.mean), ("std ", statistics.std)):
        typer.echo(f"  {label}  " + "  ".join(f"{value:.6f}" for value in values))


def _verdicts(dataset: "AbstractDataset") -> list[dict[str, Any]]:
    """Predict which factors a VAE with squared error will disentangle."""
    from unbraid.perception import disentanglement_verdicts, perceived_distances

    if not dataset.factor_names:
        return []
    try:
        found = perceived_distances(dataset, n_pairs=2_000)
    except ValueError:
        return []  # too few rows with labels: nothing to say, and nothing wrong
    return [
        {
            "factor": verdict.factor,
            "expectation": verdict.expectation,
            "words": verdict.reason,
        }
        for verdict in disentanglement_verdicts(found)
    ]


@data.command()
def fetch(
    name: Annotated[
        str,
        typer.Argument(help="Name of a published dataset, such as dsprites or mpi3d."),
    ],
    root: Annotated[
        Path | None,
        typer.Option(help="Folder of published data (default: $UNBRAID_DATA)."),
    ] = None,
) -> None:
    """Download the files of a published dataset, and check them.

    Example: unbraid data fetch shapes3d
    """
    dataset, options = _published(name)
    folder = options.pop("root", None) or root
    for path in dataset.fetch_files(folder, **options):
        typer.echo(f"{path}: here")


@data.command()
def check(name: DataArgument, json: JsonOption = False) -> None:
    """Read a dataset and check that it is what it should be.

    Checks size and checksum of published files; names the broken pictures of a folder,
    and checks what was kept of the others; then checks, on a sample of images, that the
    dataset keeps the contract every dataset has. Where normalization constants have
    been published, compares those of all images with them.

    Example: unbraid data check pictures/
    """
    from unbraid.data import AbstractPublishedDataset, ImageFolder, compare_statistics
    from unbraid.testing import check_dataset

    dataset = open_data(name)
    announce_reading(dataset)
    verified = []
    if isinstance(dataset, AbstractPublishedDataset):
        verified = [str(path) for path in dataset.verify_files()]
    if isinstance(dataset, ImageFolder):
        dataset.verify_cache()
    try:
        check_dataset(dataset)
    except AssertionError as error:
        raise ValueError(str(error)) from error
    statistics = compare_statistics(dataset, progress=not json)
    if json:
        facts = {"ok": True, "n_images": len(dataset), "verified_files": verified}
        facts["statistics"] = statistics.to_plain() if statistics else None
        print_json(facts)
        return
    for path in verified:
        typer.echo(f"{path}: size and checksum are right")
    if statistics is not None:
        _print_statistics(statistics)
    typer.echo(f"{dataset.name}: {len(dataset):,} images, no fault found")


def _print_statistics(statistics: "StatisticsComparison") -> None:
    published = statistics.published
    print_table(
        ("channel", "mean", "published", "std", "published"),
        [
            (str(channel), *(f"{value:.6f}" for value in row))
            for channel, row in enumerate(
                zip(
                    statistics.mean,
                    published.mean,
                    statistics.std,
                    published.std,
                    strict=True,
                )
            )
        ],
    )
    difference = f"{statistics.largest_difference:.2g}"
    if statistics.agrees:
        typer.echo(f"agrees with {published.source}, within {difference}")
    else:
        typer.echo(f"differs from {published.source} by up to {difference}")


def _published(text: str) -> tuple[Any, dict[str, Any]]:
    """Class and options of a published dataset that a user named."""
    from unbraid.data import PUBLISHED, AbstractPublishedDataset, DataSpec

    try:
        dataset, options = DataSpec.parse(text).resolve()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if not issubclass(dataset, AbstractPublishedDataset):
        raise typer.BadParameter(
            f"{text!r} is not a published dataset, so there is nothing to download. "
            f"Published datasets are {', '.join(PUBLISHED)}."
        )
    return dataset, options


def _describe(dataset: "AbstractDataset") -> dict[str, Any]:
    space = dataset.factor_space
    sizes = space.sizes if space else (None,) * len(dataset.factor_names)
    columns = zip(dataset.factor_names, sizes, dataset.factor_kinds, strict=True)
    return {
        "name": dataset.name,
        "about": _first_line(type(dataset)),
        "n_images": len(dataset),
        "image_shape": list(dataset.image_shape),
        "factors": [
            {"name": name, "size": size, "kind": kind} for name, size, kind in columns
        ],
        "here": True,
    }


def _describe_named(name: str, dataset: "type[AbstractDataset]") -> dict[str, Any]:
    """Describe a dataset by name, opened only if that takes no file."""
    from unbraid.data import RENDERED, AbstractPublishedDataset

    unopened = {
        "name": name,
        "about": _first_line(dataset),
        "n_images": None,
        "image_shape": None,
        "factors": [],
        "here": False,
        "how": "info",
    }
    if issubclass(dataset, AbstractPublishedDataset):
        # The first opening may take minutes. What no program can fetch is explained
        # by info.
        how = "fetch" if all(file.urls for file in dataset.files) else "info"
        return unopened | {"here": dataset.is_here(), "how": how}
    if name in RENDERED:
        return _describe(dataset())
    try:
        return _describe(dataset()) | {"name": name}
    except Exception:  # of another package: it may want options, or a file
        return unopened


def _factor_text(row: dict[str, Any]) -> str:
    if row["n_images"] is None:
        source = "here" if row["here"] else f"unbraid data {row['how']} {row['name']}"
        return f"{row['about']} ({source})"
    # A factor without a fixed number of values is shown with its kind.
    return ", ".join(
        f"{factor['name']} {factor['size'] or factor['kind']}"
        for factor in row["factors"]
    )


def _first_line(dataset: type) -> str:
    return (dataset.__doc__ or "").strip().split("\n")[0]
