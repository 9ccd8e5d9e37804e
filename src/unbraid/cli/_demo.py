"""``unbraid demo``: the main job of the package on data that it brings along."""

from pathlib import Path
from typing import Annotated

import typer

from ._data import describe_datasets
from ._discover import announce, run_discovery

# Images that change gradually with every factor: three minutes are enough for them. On
# sets with hard edges or large steps they are not (benchmarks/README.md).
DATA = "discs"
BUDGET = "3m"


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write to.")
    ] = Path("demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first run of each configuration.")
    ] = 0,
) -> None:
    """Show the built-in data, train models on some, and choose one without labels.

    The models are kept, so that a second call trains nothing.

    Example: unbraid demo --out demo
    """
    from unbraid.data import RENDERED
    from unbraid.reports import draw_factor_traversals, factor_traversals
    from unbraid.reports.figures import require_own_figure, save_figure

    path = out / "datasets.png"
    require_own_figure(path)
    describe_datasets()
    datasets = [dataset() for dataset in RENDERED.values()]
    traversals = [factor_traversals(data) for data in datasets if data.is_grid]
    save_figure(draw_factor_traversals(traversals), path)
    typer.echo(f"What each factor does to a picture: {path}\n")
    folder = out / "found"
    typer.echo(f"unbraid discover {DATA} --out {folder} --budget {BUDGET}\n")
    found = run_discovery(DATA, folder, budget=BUDGET, seed=seed)
    announce(found)
