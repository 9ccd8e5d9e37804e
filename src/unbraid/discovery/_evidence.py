"""Evidence about the finished runs of a study, collected without labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, NewerFormatError, set_aside
from unbraid.reports import TrainingPaths
from unbraid.representation import encode
from unbraid.selection import (
    Evidence,
    chance_agreement,
    training_dynamics,
    unsupervised_disentanglement_ranking,
)
from unbraid.studies import RunRecord, StudyFolder
from unbraid.training import SavedModel, Trace, read_model

from ._configuration import name_configuration
from ._labels import FewLabels


@dataclass(frozen=True, eq=False)
class Population:
    """The finished runs of a study with their models, and the evidence about them.

    Attributes:
        runs: The runs, in the order of the evidence.
        models: Model of each run.
        evidence: Evidence by which the models are ranked.
        scores: MIG of each run if its data have labels, else NaN.
        paths: Training of the seeds of each configuration in a common space, by its
            name; only for configurations of which two seeds have traces.
    """

    runs: tuple[RunRecord, ...]
    models: tuple[SavedModel, ...] = field(repr=False)
    evidence: Evidence
    scores: NDArray[np.float64]
    paths: Mapping[str, TrainingPaths]

    def index(self, name: str) -> int:
        """Return the index of the run with a model of this name."""
        return self.evidence.names.index(name)


def collect_evidence(
    runs: Sequence[RunRecord],
    folder: StudyFolder,
    dataset: AbstractDataset,
    rows: NDArray[np.int64],
    *,
    labels: FewLabels | None = None,
) -> Population:
    """Load the models of all finished runs, and compare their codes and training.

    Args:
        runs: Runs of the study.
        folder: Folder of the study, which keeps agreements that were computed.
        dataset: Data that the runs were trained on.
        rows: Rows of the dataset on which codes are compared.
        labels: Labels of a few rows, if there are any.

    Raises:
        ValueError: If fewer than two runs are done.
        CheckpointFormatError: If models are damaged; running the study once more trains
            them again.
    """
    done = tuple(run for run in runs if run.state == "done")
    if len(done) < 2:
        raise ValueError(
            f"discover needs at least two finished runs to compare, got {len(done)}. "
            f"`unbraid study status {folder.path}` says why runs failed."
        )
    saved = _load_models(done)
    models = [each.model for each in saved]
    codes = [encode(model, dataset, rows=rows, progress=False) for model in models]
    owners = [name_configuration(run.cell.spec) for run in done]
    agreement = unsupervised_disentanglement_ranking(
        codes,
        similarity="spearman",
        groups=owners,
        cache=folder.path / "agreement.npz",
    )
    chance = chance_agreement(codes, owners, similarity="spearman")
    supervised = None
    if labels is not None:
        supervised = np.array([labels.score(model, dataset) for model in models])
    dynamics = _compare_training(done, owners, agreement.n_active > 0)
    fits = [run.scores["fit"] for run in done]
    evidence = Evidence(
        names=tuple(
            f"{owner}, seed {run.cell.spec.seed}"
            for owner, run in zip(owners, done, strict=True)
        ),
        specifications=tuple(owners),
        udr_pairs=agreement.pairs,
        active_latents=agreement.n_active,
        chance={name: each.level for name, each in chance.items()},
        chance_mean={name: each.mean for name, each in chance.items()},
        dynamics_pairs={name: each.pairs for name, each in dynamics.items()},
        elbo=_column(fits, "elbo"),
        reconstruction=_column(fits, "reconstruction"),
        supervised=supervised,
        n_labels=0 if labels is None else len(labels.rows),
    )
    migs = [run.scores["scores"].get("mig", {}) for run in done]
    paths = {name: each.paths for name, each in dynamics.items() if each.paths}
    return Population(done, saved, evidence, _column(migs, "value"), paths)


def _load_models(runs: Sequence[RunRecord]) -> tuple[SavedModel, ...]:
    """Load the models of runs; the scores of a damaged one are renamed."""
    models, damaged = [], []
    for run in runs:
        try:
            models.append(_load_model(run))
        except NewerFormatError:
            raise
        except CheckpointFormatError as error:
            set_aside(run.cell.files.scores)  # so that the run is computed again
            damaged.append(error)
    if damaged:
        raise CheckpointFormatError(f"{damaged[0]} The same call trains the run again.")
    return tuple(models)


def _load_model(run: RunRecord) -> SavedModel:
    saved, scored = read_model(run.cell.files.path), run.scores.get("model")
    # Scores and models of the first versions name no weights.
    if None not in (scored, saved.weights) and scored != saved.weights:
        raise CheckpointFormatError(
            f"{run.cell.files.scores}: these scores belong to another model than the "
            "one beside them."
        )
    return saved


def _load_trace(run: RunRecord) -> Trace | None:
    try:
        return Trace.load(run.cell.files.path)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # pruned or damaged: the other seeds are compared without it


@dataclass(frozen=True, eq=False)
class _Dynamics:
    """Training of the seeds of one configuration.

    Attributes:
        pairs: Discrepancy of every two seeds, ``(n_seeds, n_seeds)``; NaN for seeds
            without a trace or without an active latent.
        paths: Their training in a common space, if at least two can be compared.
    """

    pairs: NDArray[np.float64]
    paths: TrainingPaths | None = None


def _compare_training(
    runs: Sequence[RunRecord], owners: Sequence[str], is_active: NDArray[np.bool_]
) -> dict[str, _Dynamics]:
    """Compare how the seeds of each configuration learned."""
    dynamics = {}
    for name in dict.fromkeys(owners):
        own = np.flatnonzero(np.array(owners) == name)
        traces = {
            index: trace
            for index in np.flatnonzero(is_active[own])
            if (trace := _load_trace(runs[own[index]])) is not None
        }
        pairs = np.full((len(own), len(own)), np.nan)
        if len(traces) < 2:
            dynamics[name] = _Dynamics(pairs)
            continue
        score = training_dynamics(list(traces.values()))
        pairs[np.ix_(list(traces), list(traces))] = score.pairs
        first = next(iter(traces.values()))
        paths = TrainingPaths(
            seeds=tuple(runs[own[index]].cell.spec.seed for index in traces),
            steps=first.steps,
            rows=first.rows,
            embedding=score.embedding,
        )
        dynamics[name] = _Dynamics(pairs, paths)
    return dynamics


def _column(records: Sequence[Mapping[str, float]], name: str) -> NDArray[np.float64]:
    values = [record.get(name) for record in records]
    return np.array([np.nan if value is None else float(value) for value in values])
