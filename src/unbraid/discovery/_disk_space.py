"""Deleting training states that a finished discovery no longer needs."""

from unbraid.studies import RunFiles, StudyFolder, prune

from ._extension import is_extensible
from ._plan import Plan


def delete_spare_states(plan: Plan, study: StudyFolder, fingerprint: str) -> None:
    """Delete the training states from which no run will continue.

    A state has three times the size of its model. Finished runs do not need theirs,
    and neither do runs of an earlier plan. Runs that left the race continue only if
    the budget is extended, so that their states are kept as long as that is possible.
    Models, traces, histories and scores are always kept.

    Args:
        plan: The plan, whose runs are finished.
        study: Folder of the study.
        fingerprint: Fingerprint of the data that the runs were trained on.
    """
    if plan.study.runs()[0].evolution is not None:
        prune(study)  # the generations of its populations as well
        return
    wanted = plan.study if is_extensible(plan) else plan.rung_study(plan.last_rung)
    kept = {spec.id(fingerprint) for spec in wanted.runs()}
    for path in sorted(study.runs.iterdir()):
        files = RunFiles(path)
        if files.state == "done" or (path.name not in kept and files.state == "begun"):
            files.training_state.unlink(missing_ok=True)
