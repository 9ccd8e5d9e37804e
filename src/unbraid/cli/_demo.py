"""``unbraid demo``: the main job of the package on data that it brings along."""

from pathlib import Path
from typing import Annotated

import typer

from ._data import describe_datasets


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write the picture to.")
    ] = Path("demo"),
) -> None:
    """Show the built-in datasets: a table of their factors and a picture of each.

    Example: unbraid demo --out demo
    """
    from unbraid.data import RENDERED
    from unbraid.files import written_whole
    from unbraid.reports import draw_factor_traversals, factor_traversals

    describe_datasets()
    traversals = [factor_traversals(dataset()) for dataset in RENDERED.values()]
    path = out / "datasets.png"
    with written_whole(path) as file:
        draw_factor_traversals(traversals).savefig(file, dpi=150, format="png")
    typer.echo(f"What each factor does to a picture: {path}")
