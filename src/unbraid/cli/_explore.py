"""``unbraid explore``: a page on which the latents of a model are moved by hand."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.foundation import expand_user

from ._console import print_json
from ._data import JsonOption, find_model, open_for_model


def explore(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Folder of a run, a saved model or a discovery."
        ),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL2]", help="Folder of a second model to show beside it."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Data with pictures to start from; by default those that the model "
            "was trained on, if they are still there.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "explorer.html"
    ),
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="JSON",
            help="Names of the latents: a file saved with 'Save names' on the page.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=1, max=100, help="Number of pictures to start from.")
    ] = 12,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed with which the pictures are drawn.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Write a page that shows what each latent does; it opens without a network.

    Example: unbraid explore found/model -o explorer.html

    Example: unbraid explore run1 run2 --data xy_object --names names.json
    """
    from unbraid import load
    from unbraid.reports import read_latent_names, write_explorer

    if out.is_dir():
        raise typer.BadParameter(
            f"{str(out)!r} is a folder, not a file.", param_hint="--out"
        )
    if names is not None and not names.is_file():
        raise FileNotFoundError(f"--names: there is no file {str(names)!r}.")
    chosen = read_latent_names(names) if names is not None else None
    model = find_model(model)
    folders = [model] if other is None else [model, find_model(other)]
    models = [load(folder) for folder in folders]
    dataset = open_for_model(models[0], data, model)
    page = write_explorer(
        models[0],
        dataset,
        out,
        other=models[1] if other is not None else None,
        names=chosen,
        model_names=_labels(folders),
        n_examples=examples,
        seed=seed,
    )
    size = page.stat().st_size
    if json:
        about = {"models": [str(folder) for folder in folders], "data": dataset.name}
        print_json({"page": str(page), "bytes": size, **about})
    else:
        typer.echo(f"Open in a browser: {page} ({size / 1e6:.1f} MB)")


def _labels(folders: list[Path]) -> list[str]:
    """The shortest ends of the paths that differ."""
    parts = [expand_user(folder).absolute().parts for folder in folders]
    for n in range(1, max(map(len, parts))):
        labels = ["/".join(part[-n:]) for part in parts]
        if len(set(labels)) == len(labels):
            return labels
    return ["/".join(part) for part in parts]
