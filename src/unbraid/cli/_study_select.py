"""``unbraid study select``: choose a run of a study without labels."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_json, print_table
from ._data import JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from unbraid.studies import StudySelection

_MOST_RUNS = 20

FolderArgument = Annotated[
    Path, typer.Argument(metavar="STUDY", help="Folder of a study with finished runs.")
]


def select(
    folder: FolderArgument,
    data: Annotated[
        str | None,
        typer.Option(help="Dataset whose runs are compared, if the study has several."),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="Names of label-free scores, separated by commas (default: all)."
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=2, help="Largest number of rows to compare models on.")
    ] = 2_000,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the drawn rows and of scores that use random numbers."
        ),
    ] = 0,
    diffusion_time: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Training dynamics: number of steps of the random walk (default: 2).",
        ),
    ] = None,
    neighbors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Training dynamics: the bandwidth is the distance to the n-th nearest "
            "image; this is n (default: 5).",
        ),
    ] = None,
    slice_neighbors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Training dynamics: the same n among the snapshots of an image "
            "(default: 5).",
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Training dynamics: number of coordinates to compare (default: 5).",
        ),
    ] = None,
    layer: Annotated[
        str,
        typer.Option(
            help="Training dynamics: name of the recorded layer (default: the first)."
        ),
    ] = "",
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also print how the ranking by training dynamics depends on these "
            "options.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write a table of all runs (.csv)."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Rank the runs of a finished study without labels, and choose one.

    Every label-free score is computed for every run. The ranking combines the agreement
    of seeds, their training dynamics and the ELBO. Labels are not used: a supervised
    score of the runs, such as MIG, is shown for comparison only.

    Example: unbraid study select study --sensitivity

    Example: unbraid study select study --scores dynamics --diffusion-time 4
    """
    from unbraid.foundation import atomic_write, require_own_file
    from unbraid.selection import SCORES
    from unbraid.studies import select_run

    names = None
    if scores is not None:
        names = [name.strip() for name in scores.split(",")]
        for name in names:
            _check_score(name, SCORES)
    if out is not None:
        if out.suffix != ".csv":
            raise typer.BadParameter(
                f"The name must end in .csv, got {str(out)!r}.", param_hint="--out"
            )
        require_own_file(out, _is_ours, "a table of runs")
    options: dict[str, Any] = {
        "steps": diffusion_time,
        "n_neighbors": neighbors,
        "n_slice_neighbors": slice_neighbors,
        "n_components": components,
    }
    selection = select_run(
        folder,
        data=data,
        scores=names,
        rows=rows,
        dynamics={name: value for name, value in options.items() if value is not None},
        layer=layer,
        sensitivity=sensitivity,
        seed=seed,
        progress=sys.stderr.isatty(),
    )
    if out is not None:
        text = selection.runs.to_csv(index=False, lineterminator="\n")
        with atomic_write(Path(os.path.realpath(out))) as file:  # a link stays a link
            file.write(text.encode(errors="backslashreplace"))
    if json:
        print_json(selection.to_plain())
        return
    _print(selection)


def _check_score(name: str, known: Any) -> None:
    from unbraid.foundation import suggest

    if name not in known:
        raise typer.BadParameter(
            f"There is no label-free score {name!r}.{suggest(name, known)} Scores are "
            f"{', '.join(known)}.",
            param_hint="--scores",
        )


def _is_ours(content: bytes) -> bool:
    return content.startswith(b"run,name,configuration,seed,rank_score,group")


def _print(selection: "StudySelection") -> None:
    reference = selection.reference
    ranked = selection.ranking.models
    rows = []
    for position, (model, run) in enumerate(
        zip(ranked[:_MOST_RUNS], selection.runs.to_dict("records"), strict=False), 1
    ):
        interval = "{:.2f} to {:.2f}".format(*model.interval)
        row = [str(position), model.name, run["run"], f"{model.score:.3f}", interval]
        row.append(str(model.group + 1))
        rows.append([*row, _number(run[reference])] if reference else row)
    columns = ["rank", "name", "run", "score", "95% interval", "group"]
    print_table([*columns, reference] if reference else columns, rows)
    n_more = len(ranked) - len(rows)
    if n_more:
        typer.echo(f"{n_more} more runs: --out or --json has all of them.")
    _print_scores(selection)
    if selection.sensitivity is not None:
        _print_sensitivity(selection.sensitivity, reference)
    chosen = selection.chosen
    typer.echo(
        f"Chosen: {selection.ranking.chosen} (run {chosen})."
        if chosen
        else "Chosen: no run."
    )
    typer.echo(selection.ranking.reason)
    if reference:
        typer.echo(f"{reference} needs labels. It is shown, but was not used.")


def _print_scores(selection: "StudySelection") -> None:
    reference = selection.reference
    columns = ["label-free score", "better", "run that it chooses"]
    if reference:
        columns += [f"its {reference}", f"rank correlation with {reference}"]
    rows, notes = [], []
    for score in selection.scores.to_dict("records"):
        row = [score["score"], score["better"], score["chosen"] or "-"]
        if reference:
            row.append(_number(score["chosen_reference"]))
            row.append(_number(score["correlation"], 2))
        rows.append(row)
        if score["skipped"]:
            notes.append(f"{score['score']}: not computed, {score['skipped']}")
    print_table(columns, rows)
    for note in notes:
        typer.echo(note)


def _print_sensitivity(table: "pd.DataFrame", reference: str) -> None:
    columns = ["training dynamics", "value", "most stable", "agreement", "separation"]
    has_reference = "correlation" in table
    if has_reference:
        columns.append(f"rank correlation with {reference}")
    rows = []
    for row in table.to_dict("records"):
        value = f"{row['value']} (used)" if row["is_usual"] else row["value"]
        cells = [row["option"], value, row["most_stable"]]
        cells += [_number(row["agreement"], 2), _number(row["separation"], 2)]
        if has_reference:
            cells.append(_number(row["correlation"], 2))
        rows.append(cells)
    print_table(columns, rows)
    typer.echo(
        "Agreement: rank correlation of all configurations with the ranking that was "
        "used."
    )


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None or value != value else f"{value:.{digits}f}"
