"""Evidence about the finished runs of a study, collected without labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.foundation import CheckpointFormatError, NewerFormatError, set_aside
from unbraid.reports import TrainingPaths
from unbraid.representation import encode
from unbraid.selection import (
    Evidence,
    compare_training,
    dynamics_pairs,
    measure_evidence,
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
    n_tried: int | None = None,
    labels: FewLabels | None = None,
) -> Population:
    """Load the models of all finished runs, and compare their codes and training.

    Args:
        runs: Runs of the study.
        folder: Folder of the study, which keeps agreements that were computed.
        dataset: Data that the runs were trained on.
        rows: Rows of the dataset on which codes are compared.
        n_tried: Number of configurations at the start of the race.
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
    evidence = measure_evidence(
        [
            f"{owner}, seed {run.cell.spec.seed}"
            for owner, run in zip(owners, done, strict=True)
        ],
        owners,
        codes,
        decoders=[model if model.has_decoder else None for model in models],
        n_tried=n_tried,
        cache=folder.path / "agreement.npz",
    )
    supervised = None
    if labels is not None:
        supervised = np.array([labels.score(model, dataset) for model in models])
    axes: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def read_trace(index: int) -> Trace | None:
        trace = _load_trace(done[index])
        if trace is not None:
            axes[index] = trace.steps, trace.rows
        return trace

    compared = compare_training(owners, read_trace, is_active=evidence.is_alive)
    fits = [run.scores["fit"] for run in done]
    evidence = replace(
        evidence,
        dynamics_pairs=dynamics_pairs(owners, compared),
        elbo=_column(fits, "elbo"),
        reconstruction=_column(fits, "reconstruction"),
        supervised=supervised,
        n_labels=0 if labels is None else len(labels.rows),
    )
    migs = [run.scores["scores"].get("mig", {}) for run in done]
    paths = {
        name: TrainingPaths(
            seeds=tuple(done[index].cell.spec.seed for index in each.runs),
            steps=axes[each.runs[0]][0],
            rows=axes[each.runs[0]][1],
            embedding=each.score.embedding,
        )
        for name, each in compared.items()
    }
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


def _column(records: Sequence[Mapping[str, float]], name: str) -> NDArray[np.float64]:
    values = [record.get(name) for record in records]
    return np.array([np.nan if value is None else float(value) for value in values])
