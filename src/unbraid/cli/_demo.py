"""``unbraid demo``: the main job of the package on data that it brings along."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import complain
from ._data import describe_datasets
from ._evaluate import print_scorecard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METRICS = "mig,sap,modularity,explicitness"


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write to.")
    ] = Path("demo"),
) -> None:
    """Show the built-in data, train a small model on some, and say how good it is.

    The model is kept, so that a second call trains nothing.

    Example: unbraid demo --out demo
    """
    from unbraid.data import RENDERED
    from unbraid.reports import draw_factor_traversals, factor_traversals

    describe_datasets()
    traversals = [factor_traversals(dataset()) for dataset in RENDERED.values()]
    path = out / "datasets.png"
    _write(draw_factor_traversals(traversals), path)
    typer.echo(f"What each factor does to a picture: {path}\n")
    _train(out)


def _train(out: Path) -> None:
    """Seconds on one core: a small dense network on pictures of 16x16 pixels."""
    from unbraid import encode, evaluate, fit
    from unbraid.data import XYObject
    from unbraid.models.networks import Dense
    from unbraid.models.objectives import BetaVAE
    from unbraid.reports import draw_latent_traversals, latent_traversals
    from unbraid.training import keep_freed_memory

    keep_freed_memory()
    data = XYObject(
        image_size=16,
        square_sizes=(3, 5, 7),
        spacing=1,
        palette="greys_4",
        rgb=False,
    )
    typer.echo(f"BetaVAE(beta=2) on {len(data):,} small pictures of one square:")
    run = fit(
        BetaVAE(beta=2.0),
        data,
        steps=1500,
        n_latents=6,
        network=Dense(widths=(128, 128)),
        learning_rate=2e-3,
        out=out / "model",
    )
    for warning in run.warnings:
        complain(ValueError(warning.message))
    print_scorecard(
        evaluate(encode(run.model, data), metrics=_METRICS, intervals=False)
    )
    path = out / "traversals.png"
    shown = latent_traversals(run.model, data, n_latents=4)
    _write(draw_latent_traversals(shown), path)
    typer.echo(f"What each latent does to a picture: {path}")
    typer.echo(f"The model, its history and its settings: {out / 'model'}")


def _write(figure: "Figure", path: Path) -> None:
    from unbraid.files import written_whole

    with written_whole(path) as file:
        figure.savefig(file, dpi=150, format="png")
