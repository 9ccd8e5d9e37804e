"""``unbraid data learn-loss``: a loss whose distances follow labeled factors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._console import print_json, print_table
from ._data import DataArgument, JsonOption, open_data
from ._data_distances import data

if TYPE_CHECKING:
    from unbraid.data import AbstractDataset
    from unbraid.models import AbstractLikelihood
    from unbraid.perception import LearnedLoss

_FIGURES = ("learning.png", "kernel.png", "traversals.png")
_PAIRS = 5_000
_LAST = 20
"""Steps over which the correlation at the end is averaged."""


@data.command("learn-loss")
def learn_loss(
    name: DataArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write the loss to, such as loss.json."
        ),
    ],
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            help="Learn a small convolutional network instead of a kernel, for data "
            "that vary in more than positions.",
        ),
    ] = False,
    radius: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Pixels from the center of the kernel to its edge (default: the "
            "largest that fits into the images).",
        ),
    ] = None,
    per_channel: Annotated[
        bool, typer.Option("--per-channel", help="Learn a kernel for each channel.")
    ] = False,
    filters: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of features per layer of the network (default: 16)."
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Weight of the features relative to the pixels (default: 8). A "
            "smaller one gives better reconstructions.",
        ),
    ] = None,
    direction: Annotated[
        Literal["help", "hinder"],
        typer.Option(
            help="help makes distances follow the factors; hinder makes them "
            "contradict, for adversarial losses."
        ),
    ] = "help",
    along_factors: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Weight of pairs that differ in one factor; the rest is the weight of "
            "random pairs (default: 0.5 if there are such pairs).",
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Number of training steps.")] = 500,
    batch_size: Annotated[
        int,
        typer.Option(
            min=3, help="Number of images per step; all pairs of them are compared."
        ),
    ] = 64,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the initial values and of the images of each step."
        ),
    ] = 0,
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Also draw figures to this folder: the correlation over the steps, "
            "the kernel, and images as the loss sees them."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Learn a reconstruction loss with which distances follow the labels.

    Combinations of factors and single labels may be missing. The loss can then be used
    without labels: unbraid train OTHER --likelihood loss.json --out run

    Example: unbraid data learn-loss xy_squares --steps 400 -o loss.json

    Example: unbraid data learn-loss images.npz --features --figures out -o loss.json
    """
    from unbraid.foundation import expand_user
    from unbraid.models import save_likelihood
    from unbraid.perception import learn_features
    from unbraid.perception import learn_loss as learn_kernel

    out = expand_user(out)
    _check_output(out, figures)
    _check_kind(features, radius, per_channel, filters, weight)
    dataset = open_data(name)
    options: dict[str, Any] = {
        "direction": direction,
        "along_factors": along_factors,
        "steps": steps,
        "batch_size": batch_size,
        "seed": seed,
        "progress": not json,
    }
    learned: LearnedLoss[Any]
    if features:
        learned = learn_features(
            dataset, n_filters=filters or 16, weight=weight or 8.0, **options
        )
    else:
        learned = learn_kernel(
            dataset, radius=radius, per_channel=per_channel, **options
        )
    save_likelihood(learned.likelihood, out)
    drawn = [] if figures is None else _draw(dataset, learned, figures)
    facts = {
        "file": str(out),
        "kind": "features" if features else "kernel",
        "direction": direction,
        **_summarize(dataset, learned),
        "figures": [str(path) for path in drawn],
    }
    if json:
        print_json(facts)
    else:
        _print(facts)


def _check_output(out: Path, figures: Path | None) -> None:
    """Refuse files that cannot be written, before anything is computed."""
    from unbraid.reports.figures import require_own_figure

    if out.suffix != ".json":
        raise typer.BadParameter(
            f"The file must end in .json, got {str(out)!r}.", param_hint="--out"
        )
    if out.exists():
        raise FileExistsError(f"{out} exists already. Choose another name.")
    if not out.absolute().parent.is_dir():
        raise typer.BadParameter(
            f"Cannot write {str(out)!r}: there is no folder "
            f"{str(out.absolute().parent)!r}.",
            param_hint="--out",
        )
    if figures is None:
        return
    if figures.exists() and not figures.is_dir():
        raise typer.BadParameter(
            f"{str(figures)!r} is a file, not a folder.", param_hint="--figures"
        )
    for file_name in _FIGURES:
        require_own_figure(figures / file_name)


def _check_kind(
    features: bool,
    radius: int | None,
    per_channel: bool,
    filters: int | None,
    weight: float | None,
) -> None:
    """Refuse options of a kernel with features, and the other way around."""
    if features and (radius is not None or per_channel):
        raise typer.BadParameter(
            "--radius and --per-channel are options of a kernel. Leave out --features, "
            "or these.",
            param_hint="--features",
        )
    if not features and (filters is not None or weight is not None):
        raise typer.BadParameter(
            "--filters and --weight are options of a network. Add --features, or leave "
            "these out.",
            param_hint="--features",
        )


def _summarize(
    dataset: "AbstractDataset", learned: "LearnedLoss[Any]"
) -> dict[str, Any]:
    return {
        "steps": len(learned.correlations),
        "weight": learned.likelihood.weight,
        "correlation_first": float(learned.correlations[0]),
        "correlation_last": float(learned.correlations[-_LAST:].mean()),
        "rank_correlations": _measure(dataset, learned.likelihood),
    }


def _measure(
    dataset: "AbstractDataset", likelihood: "AbstractLikelihood"
) -> list[dict[str, Any]]:
    """Rank correlations along each factor and of random pairs, by both losses."""
    from unbraid.perception import perceived_distances

    try:
        before, after = (
            perceived_distances(dataset, loss, n_pairs=_PAIRS).to_plain()
            for loss in ("mse", likelihood)
        )
    except ValueError:
        return []  # too few images have all labels
    return [
        {"factor": old["factor"], "squared_error": old["rank"], "learned": new["rank"]}
        for old, new in zip(before, after, strict=True)
    ]


def _draw(
    dataset: "AbstractDataset", learned: "LearnedLoss[Any]", folder: Path
) -> list[Path]:
    """The course of learning, the kernel beside others, and traversals of a grid."""
    from unbraid.models import KernelAugmented
    from unbraid.reports import (
        augmented_traversals,
        draw_factor_traversals,
        draw_kernels,
        draw_loss_learning,
        factor_traversals,
    )
    from unbraid.reports.figures import save_figure

    learning, kernel, traversals = _FIGURES
    figures = {learning: draw_loss_learning(learned.correlations)}
    if isinstance(learned.likelihood, KernelAugmented):
        losses = {
            "box": KernelAugmented(),
            "gaussian": KernelAugmented(kernel="gaussian"),
            "learned": learned.likelihood,
        }
        _, height, width = dataset.image_shape
        figures[kernel] = draw_kernels(losses, image_sides=(height, width))
    if dataset.is_grid:
        seen = augmented_traversals(dataset, learned.likelihood)
        figures[traversals] = draw_factor_traversals(
            [factor_traversals(dataset), seen], n_columns=2
        )
    for file_name, figure in figures.items():
        save_figure(figure, folder / file_name)
    return [folder / file_name for file_name in figures]


def _print(facts: dict[str, Any]) -> None:
    from unbraid.reports.pages import number

    typer.echo(
        "soft rank correlation with the factors: "
        f"{facts['correlation_first']:.2f} at the start, "
        f"{facts['correlation_last']:.2f} at the end"
    )
    if facts["rank_correlations"]:
        print_table(
            ("rank correlation", "squared error", "learned"),
            [
                (
                    row["factor"],
                    number(row["squared_error"], 2),
                    number(row["learned"], 2),
                )
                for row in facts["rank_correlations"]
            ],
        )
    for path in (*facts["figures"], facts["file"]):
        typer.echo(f"{path}: written")
    typer.echo(f"To use it: unbraid train DATA --likelihood {facts['file']} --out run")
