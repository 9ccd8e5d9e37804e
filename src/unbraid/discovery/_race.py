"""The race between configurations: rounds of training, judged without labels."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from unbraid.studies import Preview, StudyFolder, StudyResult, run_study

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


@dataclass(frozen=True)
class Race:
    """Runs the rounds of a plan in the folder of a discovery.

    Attributes:
        folder: Folder of the discovery.
        study: Folder of its study.
        executor: Executor that runs the jobs.
        device: Device of each run.
        observer: Notified of what happens.
    """

    folder: Path
    study: StudyFolder
    executor: AbstractExecutor
    device: str
    observer: RaceObserver

    def run_rounds(self, plan: Plan) -> Plan:
        """Train and judge every round but the last, as far as that is not done yet.

        The plan is written after each round, so that the same call continues with the
        next.

        Args:
            plan: The plan.

        Returns:
            The plan with the standings of these rounds.

        Raises:
            KeyboardInterrupt: If the runs were interrupted.
        """
        for number in range(len(plan.results), plan.last_rung):
            result = self.run_round(plan, number)
            previews: dict[str, list[Preview]] = {}
            for run in result.runs:
                own = previews.setdefault(name_configuration(run.cell.spec), [])
                if run.id in result.previews:
                    own.append(result.previews[run.id])
            n_kept = plan.rungs[number + 1].n_configurations
            plan = plan.with_result(
                judge(previews, n_kept=n_kept, always=plan.finalists)
            )
            plan.write(self.folder)
            self.observer.end_rung(plan, number)
        return plan

    def run_round(self, plan: Plan, number: int) -> StudyResult:
        """Train the runs of a round; those of the last round are also scored.

        Args:
            plan: The plan, with the standings of the rounds before.
            number: Number of the round, counted from 0.

        Raises:
            KeyboardInterrupt: If the runs were interrupted.
        """
        self.observer.begin_rung(plan, number)
        is_last = number == plan.last_rung
        result = run_study(
            plan.rung_study(number),
            self.study,
            executor=self.executor,
            device=self.device,
            observer=self.observer,
            until=None if is_last else plan.rungs[number].steps,
        )
        if result.left:
            raise KeyboardInterrupt(
                f"discover: {result.reason}, {result.left} runs left in {self.folder}"
            )
        return result


def judge(
    previews: dict[str, list[Preview]], *, n_kept: int, always: Sequence[str] = ()
) -> tuple[Standing, ...]:
    """Score configurations by what their seeds agree on, and keep the best.

    The score is the number of latents that another seed finds again, beyond what chance
    would give (see :func:`unbraid.selection.reproducible_latents`). Differences of less
    than 0.2 latents are decided by the ELBO. Configurations without two seeds that have
    an active latent come last.

    Args:
        previews: Previews of the seeds of each configuration, by its name.
        n_kept: Number of configurations to keep.
        always: Names of configurations that are kept whatever their score.

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
    names = [list(found)[index] for index in order]
    names.sort(key=lambda name: name not in always)
    kept = set(names[:n_kept])
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
    """Add up to ``_ELBO_WEIGHT`` for the rank by ELBO, from 0 (worst or unknown)."""
    known = [-np.inf if elbo is None else elbo for elbo in elbos.values()]
    ranks = (rankdata(known) - 1) / max(len(known) - 1, 1)
    return np.asarray(scores) + _ELBO_WEIGHT * ranks


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
