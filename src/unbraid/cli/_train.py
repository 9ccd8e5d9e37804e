"""``unbraid train``: a model from data, kept in a folder."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_error, print_json
from ._data import DataArgument, JsonOption, announce_reading, open_data
from ._executor_options import DeviceOption, check_device
from ._interruption import resumable
from ._tables import check_metrics

if TYPE_CHECKING:
    from unbraid.data import AbstractDataset
    from unbraid.models import Decay
    from unbraid.models.objectives import AbstractObjective
    from unbraid.training import Run, TrainingSettings, TrainingSpec

_MANY_STEPS = 5_000
"""Steps from which on the time is estimated before a run starts."""


def train(
    data: DataArgument,
    out: Annotated[
        str, typer.Option("--out", "-o", help="Folder to write the run to.")
    ],
    objective: Annotated[
        str,
        typer.Option(
            help="Training objective; see `unbraid names objectives`. FILE.py:CLASS "
            "takes one from a file of your own."
        ),
    ] = "beta_vae",
    hyperparameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A hyperparameter of the objective, such as beta=4, or one that "
            "changes: 'beta={name: linear, start: 0, end: 4}'. May be repeated.",
        ),
    ] = None,
    decay: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Share of the run, at its end, over which the learning rate falls "
            "to zero; 0 keeps it constant.",
        ),
    ] = 0.0,
    device: DeviceOption = "auto",
    traces: Annotated[
        bool, typer.Option(help="Record activations of the decoder during training.")
    ] = False,
    score_every: Annotated[
        int | None,
        typer.Option(min=1, help="Score the model each time after this many steps."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="Metrics for --score-every, separated by commas, with options after a "
            "colon, such as mig:bins=10 (default: mig)."
        ),
    ] = None,
    logger: Annotated[
        list[str] | None,
        typer.Option(help="Also report to tensorboard, wandb or mlflow."),
    ] = None,
    json: JsonOption = False,
    *,
    settings: "TrainingSettings",
) -> None:
    """Train a model; the same command continues an interrupted run.

    Example: unbraid train xy_object --objective beta_vae --set beta=4 --out run
    """
    from unbraid.data import describe_source
    from unbraid.training import (
        ScoreSettings,
        keep_freed_memory,
        specify,
        train_run,
    )

    if not out:
        raise typer.BadParameter(
            "The name of the folder must not be empty.", param_hint="--out"
        )
    wanted = read_objective(objective, hyperparameters or [])
    dataset = open_data(data)
    announce_reading(dataset)
    check_device(device)
    _check_loggers(logger or [])
    scores = None
    if score_every is not None:
        metrics = metrics or "mig"
        check_metrics(metrics, have_factors=bool(dataset.factor_names))
        scores = ScoreSettings(every=score_every, metrics=metrics)
    elif metrics is not None:
        raise typer.BadParameter("--metrics needs --score-every.")
    rate = _add_decay(settings, decay, dataset) if decay else settings.learning_rate
    keep_freed_memory()
    try:
        with resumable():
            spec = specify(wanted, dataset, settings=settings, learning_rate=rate)
            _announce(spec, dataset)
            run = train_run(
                spec,
                dataset,
                device=device,
                out=out,
                traces=traces,
                scores=scores,
                loggers=logger or (),
                log_every=settings.log_every,
                source=describe_source(data),
            )
    except ImportError as error:  # a logger that is not installed
        print_error(error)
        raise typer.Exit(1) from None
    _report(run, as_json=json)


def _add_decay(
    settings: "TrainingSettings", share: float, dataset: "AbstractDataset"
) -> "Decay":
    """Return the learning rate that is given, or that of the recipe, with a decay."""
    from unbraid.models import Decay, schedule_ends
    from unbraid.training import choose_recipe

    rate = settings.learning_rate
    if rate is None and settings.recipe is not None:
        rate = choose_recipe(settings.recipe, dataset.image_shape).learning_rate
    return Decay(value=schedule_ends(rate)[0], share=share)


def read_objective(name: str, settings: list[str]) -> "AbstractObjective":
    """An objective from what a user typed; what is wrong with it is wrong usage."""
    from unbraid.foundation import from_plain
    from unbraid.models import RECORDS, choose_objective
    from unbraid.models.objectives import OBJECTIVES

    options: dict[str, Any] = {}
    for text in settings:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or key in options:
            raise typer.BadParameter(
                f"Write NAME=VALUE, each name once, got {text!r}.",
                param_hint="--set",
            )
        try:
            options[key] = from_plain(_read_value(value), RECORDS)
        except (ValueError, TypeError) as error:
            raise typer.BadParameter(str(error), param_hint="--set") from error
    try:
        return choose_objective(name, options)
    except (ValueError, TypeError) as error:
        hint = "--set" if options and name in OBJECTIVES else "--objective"
        raise typer.BadParameter(str(error), param_hint=hint) from error


def _read_value(text: str) -> Any:
    from unbraid.foundation import read_yaml

    try:
        return read_yaml(text, "--set")
    except ValueError as error:
        raise ValueError(f"{text[:80]!r} is not a value in YAML.") from error


def _check_loggers(names: list[str]) -> None:
    """Report an unknown logger as wrong usage, before anything is written."""
    from unbraid.training.loggers import choose_logger

    try:
        for name in names:
            choose_logger(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--logger") from error


def _announce(spec: "TrainingSpec", dataset: "AbstractDataset") -> None:
    """Say how long a long run will take, before it starts."""
    from unbraid.foundation import format_bytes, format_duration
    from unbraid.training import measure_training

    if spec.steps < _MANY_STEPS:
        return
    cost = measure_training(spec, dataset)
    typer.echo(
        f"{spec.steps:,} steps: about {format_duration(cost.per_step * spec.steps)} on "
        f"one core, {format_bytes(cost.n_bytes)} of disk",
        err=True,
    )


def _report(run: "Run", *, as_json: bool) -> None:
    # A history that was damaged is among the warnings.
    last = run.history[-1] if run.history else {}
    for warning in run.warnings:
        typer.echo(f"warning, {warning.name}: {warning.message}", err=True)
    if as_json:
        warnings = [warning.to_plain() for warning in run.warnings]
        record = {"folder": str(run.folder), "last": last, "warnings": warnings}
        print_json(record | ({"scores": run.scores} if run.scores else {}))
        return
    parts = [f"{run.spec.steps:,} steps"]
    if "total" in last:
        parts.append(f"loss {last['total']:.4g}")
    if "active_latents" in last:
        parts.append(
            f"{last['active_latents']} of {run.model.n_latents} latents active"
        )
    typer.echo(", ".join(parts))
    for name, curve in run.score_curves.items():
        typer.echo(
            f"{name} {curve.last:.4f}, best {curve.best:.4f} at step "
            f"{curve.best_step:,}"
        )
    typer.echo(f"The model, its history and its settings: {run.folder}")
