"""Runs of a discovery that failed to learn, each with the reason."""

from collections.abc import Sequence

from unbraid.studies import RunRecord, RunSpec, StudyFolder
from unbraid.training import HISTORY_DAMAGED

from ._configuration import name_configuration
from ._discovery import FailedRun
from ._plan import Plan

_NOT_ACTIVE = "No latent is active, so that the codes say nothing about the images."


def find_failures(
    plan: Plan, study: StudyFolder, runs: Sequence[RunRecord], fingerprint: str
) -> tuple[FailedRun, ...]:
    """Return the runs of all rounds that failed to learn.

    These are runs that ended with an error, finished runs without an active latent or
    with a warning, and configurations that left the race without an active latent.

    Args:
        plan: The plan, with the results of its rounds.
        study: Folder of the study.
        runs: Runs of the last round.
        fingerprint: Fingerprint of the data that the runs were trained on.
    """
    found = [
        FailedRun(_name(run.cell.spec), reason)
        for run in runs
        if (reason := _explain(run))
    ]
    known = {run.id for run in runs}
    for number, standings in enumerate(plan.results):
        specs = plan.rung_study(number).runs()
        cells = study.cells_of(specs, {str(spec.data): fingerprint for spec in specs})
        for cell in cells:
            if cell.id not in known and cell.files.failure.is_file():
                known.add(cell.id)
                error = cell.files.read_failure().get("error", "")
                found.append(FailedRun(_name(cell.spec), error))
        found += [
            FailedRun(
                standing.name,
                f"No latent of any seed is active at step {plan.rungs[number].steps:,},"
                " where it left the race.",
            )
            for standing in standings
            if standing.active_latents == 0 and not standing.is_kept
        ]
    return tuple(found)


def _name(spec: RunSpec) -> str:
    return f"{name_configuration(spec)}, seed {spec.seed}"


def _explain(run: RunRecord) -> str:
    """Return why a run of the last round failed to learn; empty if it did not."""
    if run.state == "failed":
        return run.error or "It failed, and no reason was recorded."
    warned = run.scores.get("warnings", ())
    if any(name != HISTORY_DAMAGED for name in warned):
        messages = [w.message for w in run.warnings if w.name != HISTORY_DAMAGED]
        return " ".join(messages) or _NOT_ACTIVE
    return "" if run.is_active or run.state != "done" else _NOT_ACTIVE
