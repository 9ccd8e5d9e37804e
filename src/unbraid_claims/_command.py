"""``unbraid reproduce``: measure whether published claims hold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unbraid.cli.commands import (
    ExecutorOptions,
    JsonOption,
    StudyView,
    add_executor_options,
    announce_cost,
    check_device,
    print_error,
    print_json,
    print_table,
    report_interruption,
)

if TYPE_CHECKING:
    from unbraid.execution import AbstractExecutor
    from unbraid_claims import Finding


@add_executor_options
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names of claims. Without a name, list all claims.",
        ),
    ] = None,
    preset: Annotated[
        Literal["smoke", "mini", "paper"] | None,
        typer.Option(
            help="Size of the studies. smoke: seconds, only tests the code. mini: "
            "minutes to an hour on two cores (default). paper: published sizes. With "
            "--preset and without a NAME, all claims are measured."
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for studies, figures and findings."),
    ] = Path("reproductions"),
    findings: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE.md",
            help="Only write this page, from the findings in the folder of the same "
            "name.",
        ),
    ] = None,
    json: JsonOption = False,
    *,
    where: ExecutorOptions,
) -> None:
    """Measure whether published claims hold. The same command continues.

    Example: unbraid reproduce michlo-table-4-2 --preset mini

    Example: unbraid reproduce --preset smoke
    """
    if findings is not None:
        _write_page(findings, names, preset)
        return
    if not names and preset is None:
        _list_claims(as_json=json)
        return
    chosen = _check_names(names)
    size = preset or "mini"
    if where.executor == "local":
        check_device(where.device)
    # Training a few steps is faster than starting worker processes.
    executor = None
    if size != "smoke" or where.workers or where.executor != "local":
        executor = where.make()
    done, failed = [], 0
    for name in chosen:
        finding = _reproduce(name, size, out, executor, where.device)
        if finding is None:
            failed += 1
            continue
        done.append(finding)
        if not json:
            _print_finding(finding, out)
    if json:
        print_json([_read_json(finding, out) for finding in done])
    if failed:
        raise typer.Exit(1)


def _check_names(names: list[str] | None) -> list[str]:
    from unbraid_claims import CLAIMS, find_claim

    try:
        return [find_claim(name).name for name in names or CLAIMS]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error


def _list_claims(*, as_json: bool) -> None:
    from unbraid_claims import CLAIMS

    claims = list(CLAIMS.values())
    if as_json:
        print_json(
            [
                {
                    "name": claim.name,
                    "source": claim.source,
                    "claim": claim.text,
                    "studies": list(claim.studies),
                }
                for claim in claims
            ]
        )
        return
    print_table(
        ("name", "claim", "source"),
        [(claim.name, claim.text, claim.source) for claim in claims],
    )


def _reproduce(
    name: str,
    preset: Any,
    out: Path,
    executor: "AbstractExecutor | None",
    device: str,
) -> "Finding | None":
    """Return the finding of a claim; None after printing the error if it failed."""
    from unbraid_claims import reproduce as run

    try:
        if preset != "smoke":
            _announce(name, preset, out, executor)
        with StudyView() as view:
            return run(
                name, preset, out=out, executor=executor, device=device, observer=view
            )
    except (KeyboardInterrupt, InterruptedError):
        raise report_interruption() from None
    except (OSError, ValueError, ArithmeticError) as error:
        print_error(RuntimeError(f"{name}: {error}"))
        return None


def _announce(
    name: str, preset: Any, out: Path, executor: "AbstractExecutor | None"
) -> None:
    """Print what is left to train, and how long that takes."""
    from unbraid.studies import study_from_plain
    from unbraid_claims import CLAIMS, study_of

    for study in CLAIMS[name].studies_at(preset):
        settings = study_from_plain(study_of(study, preset))
        folder = out / "studies" / settings.name
        n_workers = executor.n_workers if executor else None
        announce_cost(settings, folder, n_workers, as_json=False)


def _print_finding(finding: "Finding", out: Path) -> None:
    typer.echo(f"{finding.name} ({finding.source})")
    typer.echo(f"  {finding.claim}")
    print_table(
        ("quantity", "claimed", "measured", "interval", "verdict"),
        [
            (
                check.quantity,
                check.expected,
                f"{check.value:.3g}",
                _format_interval(check.interval),
                check.verdict,
            )
            for check in finding.checks
        ],
    )
    if finding.remark:
        typer.echo(f"  {finding.remark}")
    typer.echo(f"  {finding.verdict.upper()}, see {_folder(finding, out)}\n")


def _format_interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3g} to {interval[1]:.3g}"


def _folder(finding: "Finding", out: Path) -> Path:
    return out / finding.preset / finding.name


def _read_json(finding: "Finding", out: Path) -> dict[str, Any]:
    import json

    return json.loads((_folder(finding, out) / "finding.json").read_text())


def _write_page(page: Path, names: list[str] | None, preset: str | None) -> None:
    from unbraid_claims import write_findings

    if names or preset:
        raise typer.BadParameter(
            "--findings takes no names and no preset, because it shows all stored "
            "findings.",
            param_hint="--findings",
        )
    if page.suffix != ".md":
        raise typer.BadParameter(
            f"The page must end in .md, got {str(page)!r}.",
            param_hint="--findings",
        )
    n_findings = write_findings(page)
    typer.echo(f"{n_findings} findings: {page}")
