"""The race between configurations: rounds of training, judged without labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.stats import rankdata

from unbraid.execution import AbstractExecutor, NullObserver, Observer
from unbraid.selection import (
    chance_agreement,
    reproducible_latents,
    unsupervised_disentanglement_ranking,
)
from unbraid.studies import Preview, StudyFolder, read_preview, run_study

from ._configuration import name_configuration
from ._plan import Plan, Standing

_NO_AGREEMENT = -1e6
"""Score of a configuration with nothing to compare, below all others."""

_ELBO_WEIGHT = 0.2
"""Reproducible latents that the best ELBO is worth. Early in training, agreement alone
favors strengths that are too large: their few latents settle first."""


class RaceObserver(Observer, Protocol):
    """Follows a discovery: its rounds, and the runs of each."""

    def begin_rung(self, plan: Plan, number: int) -> None:
        """A round begins or continues.

        Args:
            plan: The plan, with the standings so far.
            number: Number of the round, counted from 0.
        """
        ...

    def end_rung(self, plan: Plan, number: int) -> None:
        """A round is over, and its standings are the last in the plan."""
        ...


class NullRaceObserver(NullObserver):
    """An observer that shows nothing."""

    def begin_rung(self, plan: Plan, number: int) -> None:
        """Do nothing."""
        del plan, number

    def end_rung(self, plan: Plan, number: int) -> None:
        """Do nothing."""
        del plan, number


def run_rounds(
    plan: Plan,
    folder: Path,
    *,
    executor: AbstractExecutor,
    device: str,
    observer: RaceObserver,
) -> Plan:
    """Train and judge every round but the last, as far as that is not done yet.

    The plan is written after each round, so that the same call continues with the next.

    Args:
        plan: The plan.
        folder: Folder of the discovery.
        executor: Executor that runs the jobs.
        device: Device of each run.
        observer: Is told what happens.

    Returns:
        The plan with the standings of these rounds.

    Raises:
        KeyboardInterrupt: If the runs were interrupted.
    """
    runs = StudyFolder(folder / "study")
    for number in range(len(plan.results), len(plan.rungs) - 1):
        study, until = plan.rung_study(number), plan.rungs[number].steps
        observer.begin_rung(plan, number)
        end = run_study(
            study,
            runs.path,
            executor=executor,
            device=device,
            observer=observer,
            until=until,
        )
        if end.left:
            raise KeyboardInterrupt(
                f"discover: {end.reason}, {end.left} runs left in {folder}"
            )
        runs = StudyFolder(folder / "study")
        previews: dict[str, list[Preview]] = {}
        for cell in runs.cells:
            own = previews.setdefault(name_configuration(cell.spec), [])
            preview = read_preview(cell.files, step=until)
            if preview is not None:
                own.append(preview)
        n_kept = plan.rungs[number + 1].n_configurations
        plan = plan.with_result(judge(previews, n_kept=n_kept))
        plan.write(folder)
        observer.end_rung(plan, number)
    return plan


def judge(previews: dict[str, list[Preview]], *, n_kept: int) -> tuple[Standing, ...]:
    """Score configurations by what their seeds agree on, and keep the best.

    The score is the number of latents that another seed finds again, beyond what chance
    would give (see :func:`unbraid.selection.reproducible_latents`). Differences of less
    than 0.2 latents are decided by the ELBO. Configurations without two seeds that have
    an active latent come last.

    Args:
        previews: Previews of the seeds of each configuration, by its name.
        n_kept: Number of configurations to keep.

    Returns:
        One standing per configuration, in the order given.
    """
    found = {name: _measure(own) for name, own in previews.items()}
    elbos = {
        name: _mean([preview.fit["elbo"] for preview in own if "elbo" in preview.fit])
        for name, own in previews.items()
    }
    totals = _add_elbo([score for score, _, _ in found.values()], elbos)
    order = np.argsort(-totals, kind="stable")
    kept = {list(found)[index] for index in order[:n_kept]}
    return tuple(
        Standing(
            name=name,
            score=score,
            agreement=agreement,
            chance=chance,
            elbo=elbos[name],
            active_latents=_mean(
                [preview.fit["active_latents"] for preview in previews[name]]
            ),
            is_kept=name in kept,
        )
        for name, (score, agreement, chance) in found.items()
    )


def _measure(previews: Sequence[Preview]) -> tuple[float, float, float]:
    """Score, agreement and chance of the seeds of one configuration."""
    codes = [preview.codes for preview in previews]
    n_alive = sum(preview.fit["active_latents"] > 0 for preview in previews)
    if n_alive < 2:
        return _NO_AGREEMENT + n_alive + 0.1 * len(previews), 0.0, 0.0
    udr = unsupervised_disentanglement_ranking(codes, similarity="spearman")
    chance = chance_agreement(codes, [""] * len(codes), similarity="spearman")[""]
    latents = reproducible_latents(udr.scores, udr.n_active, chance.mean)
    return float(latents.mean()), float(udr.scores.mean()), chance.mean


def _add_elbo(scores: Sequence[float], elbos: dict[str, float | None]) -> np.ndarray:
    """Add up to ``_ELBO_WEIGHT`` for the place by ELBO, from 0 (worst or unknown)."""
    known = [-np.inf if elbo is None else elbo for elbo in elbos.values()]
    places = (rankdata(known) - 1) / max(len(known) - 1, 1)
    return np.asarray(scores) + _ELBO_WEIGHT * places


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
