"""select_run: choose a run of a finished study without labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from unbraid.data import AbstractDataset, open_dataset
from unbraid.foundation import (
    CheckpointFormatError,
    check_count,
    numpy_generator,
    suggest,
)
from unbraid.representation import Representation, encode
from unbraid.selection import (
    SCORES,
    ComparedTraining,
    ScoredRun,
    compare_training,
    dynamics_pairs,
    dynamics_sensitivity,
    label_free_scores,
    measure_evidence,
    rank_models,
    training_dynamics,
)
from unbraid.training import RunFolder, Trace, read_model

from ._records import RunRecord, read_records
from ._selection import StudySelection, runs_table, scores_table
from ._store import StudyFolder, StudyPath
from ._table import make_table
from .analysis import setting_name, strengths

if TYPE_CHECKING:
    import pandas as pd

_REFERENCES = ("mig", "dci_disentanglement")
"""Supervised scores to compare with, the first that the runs have."""


def select_run(
    out: StudyPath,
    *,
    data: str | None = None,
    scores: Sequence[str] | None = None,
    rows: int = 2_000,
    dynamics: Mapping[str, Any] | None = None,
    layer: str = "",
    sensitivity: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> StudySelection:
    """Rank the finished runs of a study without labels, by every label-free score.

    The ranking is that of :func:`unbraid.selection.rank_models`. All runs are encoded
    on the same random rows. Labels are not used: if the runs have a supervised score,
    it is only shown next to the others.

    Args:
        out: Folder of the study.
        data: Dataset whose runs are compared; needed if the study has several.
        scores: Names of label-free scores, see :data:`unbraid.selection.SCORES`; all
            for which the runs have the inputs when not given.
        rows: Largest number of rows on which models are compared.
        dynamics: Options of :func:`unbraid.selection.training_dynamics`, such as
            ``{"steps": 4}`` for the diffusion time.
        layer: Recorded layer that training dynamics compare; the first when not given.
        sensitivity: Whether to also measure how the ranking by training dynamics
            depends on its options.
        seed: Seed of scores that draw at random.
        progress: Whether to show a progress bar.

    Raises:
        ValueError: If fewer than two runs are finished, or if a name is unknown.
        CheckpointFormatError: If a model is damaged.
    """
    check_count("rows", rows, least=2)
    folder = StudyFolder.at(out)
    runs, name = _find_runs(folder, data)
    names = _read_names(scores)
    configurations = _name_configurations(runs)
    dataset = open_dataset(runs[0].cell.spec.data)
    chosen_rows = _draw_rows(dataset, rows)
    scored = [
        _read_run(run, configuration, dataset, chosen_rows)
        for run, configuration in zip(
            tqdm(runs, desc="codes", disable=not progress), configurations, strict=True
        )
    ]
    options = {"seed": seed, **(dynamics or {})}
    read_trace = partial(_read_trace, runs, layer)
    evidence = measure_evidence(
        [run.name for run in scored],
        configurations,
        [run.codes for run in scored],
        decoders=[run.model for run in scored],
        seed=seed,
    )
    if sensitivity:
        _require_traces(runs, configurations)
    compared = compare_training(
        configurations,
        read_trace,
        is_active=evidence.is_alive,
        score=partial(training_dynamics, **options),
    )
    evidence = replace(
        evidence,
        dynamics_pairs=dynamics_pairs(configurations, compared) if compared else {},
        elbo=_fit(runs, "elbo"),
        reconstruction=_fit(runs, "reconstruction"),
    )
    known = {"dynamics": _spread(compared, len(runs)), "elbo": _fit(runs, "elbo")}
    if evidence.contrast is not None:
        known["jacobian_contrast"] = evidence.contrast
    values, skipped = _compute(scored, names, known, seed, progress=progress)
    ranking = rank_models(evidence)
    reference, labeled = _find_reference(runs)
    table = runs_table(runs, scored, ranking, values, {reference: labeled})
    selection = StudySelection(
        data=name,
        ranking=ranking,
        runs=table,
        scores=scores_table(names, table, skipped, reference),
        reference=reference,
    )
    if not sensitivity:
        return selection
    return replace(
        selection,
        sensitivity=_measure_sensitivity(
            runs, configurations, evidence.is_alive, labeled, options, layer
        ),
    )


def _find_runs(folder: StudyFolder, data: str | None) -> tuple[list[RunRecord], str]:
    """Return the finished runs on one dataset, and its name."""
    done = [run for run in read_records(folder) if run.state == "done"]
    names = list(dict.fromkeys(str(run.cell.spec.data) for run in done))
    if data is None and len(names) > 1:
        raise ValueError(
            f"The study has finished runs on {len(names)} datasets, whose codes cannot "
            f"be compared. Choose one of {', '.join(names)}."
        )
    if data is not None and data not in names:
        raise ValueError(
            f"The study has no finished run on {data!r}.{suggest(data, names)} "
            f"Datasets are {', '.join(names) or 'not known yet'}."
        )
    name = data or (names[0] if names else "")
    runs = [run for run in done if str(run.cell.spec.data) == name]
    if len(runs) < 2:
        raise ValueError(
            f"A ranking needs at least two finished runs, got {len(runs)}. `unbraid "
            f"study status {folder.path}` says how far the study is."
        )
    return runs, name


def _read_names(scores: Sequence[str] | None) -> list[str]:
    for name in scores or ():
        if name not in SCORES:
            raise ValueError(
                f"There is no label-free score {name!r}.{suggest(name, SCORES)} "
                f"Scores are {', '.join(SCORES)}."
            )
    return list(SCORES) if scores is None else list(dict.fromkeys(scores))


def _name_configurations(runs: Sequence[RunRecord]) -> list[str]:
    """Return a name for all settings of each run but the seed."""
    table = strengths(make_table(runs))
    labels = [
        setting_name(str(method), strength)
        for method, strength in zip(table["method"], table["strength"], strict=True)
    ]
    settings = [str({**run.cell.spec.to_plain(), "seed": None}) for run in runs]
    names: dict[str, str] = {}
    for label, key in zip(labels, settings, strict=True):
        if key in names:
            continue
        # Settings that are not in the label, such as those of the evaluation.
        n_others = sum(name.partition(" #")[0] == label for name in names.values())
        names[key] = f"{label} #{n_others + 1}" if n_others else label
    return [names[key] for key in settings]


def _draw_rows(dataset: AbstractDataset, rows: int) -> NDArray[np.int64]:
    generator = numpy_generator(0, "compared rows")
    n_rows = min(rows, len(dataset))
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))


def _read_run(
    run: RunRecord,
    configuration: str,
    dataset: AbstractDataset,
    rows: NDArray[np.int64],
) -> ScoredRun:
    model = read_model(run.cell.files.path).model
    codes: Representation = encode(model, dataset, rows=rows, progress=False)
    return ScoredRun(
        name=f"{configuration}, seed {run.cell.spec.seed}",
        configuration=configuration,
        codes=codes,
        model=model if model.has_decoder else None,
    )


def _read_trace(runs: Sequence[RunRecord], layer: str, index: int) -> Trace | None:
    try:
        return Trace.load(runs[index].cell.files.path, layer=layer)
    except (FileNotFoundError, CheckpointFormatError):
        return None  # not recorded, pruned or damaged


def _fit(runs: Sequence[RunRecord], name: str) -> NDArray[np.float64]:
    found = [run.scores["fit"].get(name) for run in runs]
    return np.array([np.nan if value is None else value for value in found])


def _spread(
    compared: Mapping[str, ComparedTraining], n_runs: int
) -> NDArray[np.float64]:
    values = np.full(n_runs, np.nan)
    for each in compared.values():
        values[each.runs] = each.per_run
    return values


def _compute(
    runs: Sequence[ScoredRun],
    names: Sequence[str],
    known: Mapping[str, NDArray[np.float64]],
    seed: int,
    *,
    progress: bool,
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Return the scores of the runs, and reasons for those that were not computed."""
    values, skipped = {}, {}
    for name in tqdm(names, desc="scores", disable=not progress):
        if name in known:
            values[name] = known[name]
            if np.isnan(known[name]).all():
                skipped[name] = (
                    "needs traces of two seeds (traces: true in the study file)"
                    if name == "dynamics"
                    else "the runs have none"
                )
            continue
        try:
            values |= label_free_scores(runs, [name], seed=seed)
        except (TypeError, ValueError) as error:
            values[name] = np.full(len(runs), np.nan)
            skipped[name] = str(error)
    return values, skipped


def _find_reference(runs: Sequence[RunRecord]) -> tuple[str, NDArray[np.float64]]:
    for name in _REFERENCES:
        found = [run.scores["scores"].get(name, {}).get("value") for run in runs]
        if None not in found:
            return name, np.array(found, dtype=np.float64)
    return "", np.full(len(runs), np.nan)


def _require_traces(runs: Sequence[RunRecord], configurations: Sequence[str]) -> None:
    """Raise an error if no configuration has two seeds with traces."""
    traced = [
        name
        for run, name in zip(runs, configurations, strict=True)
        if RunFolder(run.cell.files.path).traces.is_file()
    ]
    if len(traced) == len(set(traced)):
        raise ValueError(
            "The sensitivity of training dynamics needs traces of two seeds of a "
            "configuration. Record them with `traces: true` in the study file."
        )


def _measure_sensitivity(
    runs: Sequence[RunRecord],
    configurations: Sequence[str],
    is_active: NDArray[np.bool_],
    labeled: NDArray[np.float64],
    options: Mapping[str, Any],
    layer: str,
) -> "pd.DataFrame":
    read: Callable[[int], Trace | None] = partial(_read_trace, runs, "")
    traces: dict[str, list[Trace]] = {}
    means: dict[str, float] = {}
    for name in dict.fromkeys(configurations):
        own = [
            k for k, each in enumerate(configurations) if each == name and is_active[k]
        ]
        found = [trace for k in own if (trace := read(k)) is not None]
        if len(found) > 1:
            traces[name] = found
            means[name] = float(np.mean(labeled[own]))
    return dynamics_sensitivity(
        traces,
        reference=None if np.isnan(labeled).any() else means,
        usual={**options, "layer": layer} if layer else options,
    )
