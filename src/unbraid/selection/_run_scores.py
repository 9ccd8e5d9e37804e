"""Label-free scores of several runs, one function per entry of the catalog."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.metrics import (
    active_units,
    evidence_lower_bound,
    gaussian_total_correlation,
    read_codes,
)
from unbraid.metrics.unsupervised import read_log_variances
from unbraid.training import Trace

from ._comparable import Coded, coded_parts
from ._compared_training import compare_training
from ._jacobian_contrast import jacobian_contrast
from ._model_access import EncoderDecoder, read_active
from ._model_centrality import model_centrality
from ._pipe import pipe_score
from ._self_mig import self_mig
from ._standardized_agreement import standardized_agreement
from ._training_dynamics import training_dynamics
from ._udr import Partners, Similarity, unsupervised_disentanglement_ranking

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredRun:
    """Inputs of label-free scores from a trained run.

    Attributes:
        name: Name of the run, different from those of other runs.
        configuration: Configuration of the run; its seeds share it.
        codes: Representation, codes ``(n_rows, n_latents)``, or tuple of codes and
            log-variances, of the same rows for all runs.
        model: Trained model with ``encode`` and ``decode``, or ``None``.
        trace: Activations during training, or ``None``.
        reconstruction: Reconstruction loss of each row in nats, ``(n_rows,)``, or
            ``None``.
    """

    name: str
    configuration: str
    codes: Coded
    model: EncoderDecoder | None = None
    trace: Trace | NDArray[np.floating] | None = None
    reconstruction: ArrayLike | None = None


def list_missing(runs: Sequence[ScoredRun], needs: Sequence[str]) -> str:
    """Return the inputs that at least one run lacks, as text; empty if none."""
    has: dict[str, Callable[[ScoredRun], bool]] = {
        "log_variances": lambda run: coded_parts(run.codes)[1] is not None,
        "reconstruction": lambda run: run.reconstruction is not None,
        "model": lambda run: run.model is not None,
        "traces": lambda run: run.trace is not None,
    }
    lacking = [need for need in needs if need in has and not all(map(has[need], runs))]
    if "runs" in needs and len(runs) < 2:
        lacking.append("several runs")
    return " and ".join(lacking)


def agreement(
    runs: Sequence[ScoredRun],
    seed: int,
    *,
    similarity: Similarity,
    partners: Partners = "same",
) -> Floats:
    """Return the UDR among seeds of one configuration, or with other configurations."""
    del seed
    return unsupervised_disentanglement_ranking(
        [run.codes for run in runs],
        similarity=similarity,
        groups=[run.configuration for run in runs],
        partners=partners,
    ).scores


def agreement_above_chance(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the standardized agreement among seeds of one configuration."""
    return standardized_agreement(
        [run.codes for run in runs],
        groups=[run.configuration for run in runs],
        seed=seed,
    )


def centrality(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the ModelCentrality among all runs."""
    models: list[Any] = [run.model for run in runs]
    return model_centrality(models, [run.codes for run in runs], seed=seed).scores


def dynamics(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the mean discrepancy of each run's training from other seeds.

    Runs without active latents are left out, see :func:`compare_training`.
    """
    compared = compare_training(
        [run.configuration for run in runs],
        lambda k: runs[k].trace,
        is_active=[
            read_active("dynamics", run.codes, kl_threshold=0.01).n_active > 0
            for run in runs
        ],
        score=partial(training_dynamics, seed=seed),
    )
    scores = np.full(len(runs), np.nan)
    for each in compared.values():
        scores[each.runs] = each.per_run
    return scores


def pipe(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the PIPE of each run."""
    return _each(runs, lambda run: pipe_score(_model(run), run.codes, seed=seed))


def contrast(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the Jacobian contrast of each run."""
    return _each(runs, lambda run: jacobian_contrast(_model(run), run.codes, seed=seed))


def own_information_gap(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the self-MIG of each run."""
    del seed
    return _each(runs, lambda run: self_mig(run.codes))


def elbo(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the evidence lower bound of each run."""
    del seed
    return _each(runs, _elbo)


def total_correlation(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the total correlation of each run's codes; infinite if it is singular."""
    del seed
    return _each(runs, _total_correlation)


def active_latents(runs: Sequence[ScoredRun], seed: int) -> Floats:
    """Return the number of active units of each run."""
    del seed
    return _each(runs, lambda run: active_units(coded_parts(run.codes)[0]))


def _each(runs: Sequence[ScoredRun], score: Callable[[ScoredRun], float]) -> Floats:
    return np.array([float(score(run)) for run in runs])


def _model(run: ScoredRun) -> Any:
    return run.model


def _elbo(run: ScoredRun) -> float:
    assert run.reconstruction is not None
    means, logs, _ = coded_parts(run.codes)
    codes = read_codes("elbo", means)
    logs = read_log_variances("elbo", codes, logs)
    divergence = 0.5 * (codes**2 + np.expm1(logs) - logs)
    return evidence_lower_bound(run.reconstruction, divergence)


def _total_correlation(run: ScoredRun) -> float:
    codes = read_codes("total_correlation", coded_parts(run.codes)[0])
    try:
        return gaussian_total_correlation(codes)
    except ValueError:  # codes are valid, so it is infinite
        return np.inf
