"""``unbraid data distances``: how far apart images look to a reconstruction loss."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import print_json, print_table
from ._data import DataArgument, JsonOption, data, open_data

if TYPE_CHECKING:
    from unbraid.data import AbstractDataset
    from unbraid.perception import ImageLoss, PerceivedDistances

_FIGURES = ("cumulative.png", "matrices.png")


@data.command()
def distances(
    name: DataArgument,
    loss: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="mse, mae or bernoulli, optionally followed by -box or -gaussian "
            "(mse-box) to add the same loss of blurred images; or the .json file of a "
            "learned loss.",
        ),
    ] = "mse",
    pairs: Annotated[
        int, typer.Option(min=2, help="Number of pairs per factor.")
    ] = 50_000,
    subset: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Draw random pairs with replacement from subsets of this many images; "
            "32 reproduces the published numbers (default: uniformly from all images).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random pairs.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the plots (default: distances; with --json, none).",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure how far apart images look that differ in one factor.

    Mean and spread are those of two different images, per pixel. Correlations are with
    the distance of the factors.

    Example: unbraid data distances xy_squares --loss mse-box
    """
    from unbraid.perception import perceived_distances
    from unbraid.reports.figures import require_own_figure

    measure = _loss(loss)
    folder = out if out is not None or json else Path("distances")
    if folder is not None and folder.exists() and not folder.is_dir():
        raise typer.BadParameter(
            f"{str(folder)!r} is a file, not a folder.", param_hint="--out"
        )
    if folder is not None:
        for file_name in _FIGURES:
            require_own_figure(folder / file_name)
    dataset = open_data(name)
    found = perceived_distances(
        dataset, measure, n_pairs=pairs, subset_size=subset, seed=seed
    )
    drawn = [] if folder is None else _draw(dataset, measure, found, folder)
    if json:
        print_json(found.to_plain())
        return
    _print(found)
    for path in drawn:
        typer.echo(f"{path}: written")


def _loss(text: str) -> "ImageLoss":
    """A wrong name is wrong usage, a missing or broken file is not."""
    from unbraid.foundation import UnbraidError
    from unbraid.perception import choose_loss

    try:
        return choose_loss(text)
    except (UnbraidError, OSError):
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--loss") from error


def _print(found: "PerceivedDistances") -> None:
    from unbraid.perception import disentanglement_verdicts
    from unbraid.reports.pages import number

    verdicts = {row.factor: row for row in disentanglement_verdicts(found)}
    lines = []
    unseen = [row.factor for row in found.factors if row.factor not in found.importance]
    for factor in (*found.importance, *unseen, found.random.factor):
        row = found[factor]
        verdict = verdicts.get(row.factor)
        digits = ((row.mean, 4), (row.std, 4), (row.linear, 2), (row.rank, 2))
        expected = f"{verdict.expectation}: {verdict.reason}" if verdict else ""
        numbers = [number(value, n_digits) for value, n_digits in digits]
        lines.append((row.factor, *numbers, expected))
    columns = ("factor", "mean", "std", "linear", "rank", "will a VAE disentangle it?")
    print_table(columns, lines)


def _draw(
    dataset: "AbstractDataset",
    loss: "ImageLoss",
    found: "PerceivedDistances",
    folder: Path,
) -> list[Path]:
    """Matrices along factors of a grid, and cumulative curves of anything."""
    from unbraid.perception import distance_matrices
    from unbraid.reports import draw_cumulative_distances, draw_distance_matrices
    from unbraid.reports.figures import cumulative_of, save_figure

    cumulative, matrices = _FIGURES
    figures = {cumulative: draw_cumulative_distances(cumulative_of(found))}
    if dataset.is_grid:
        tables = distance_matrices(dataset, loss=loss)
        figures[matrices] = draw_distance_matrices(tables)
    for file_name, figure in figures.items():
        save_figure(figure, folder / file_name)
    return [folder / file_name for file_name in figures]
