"""The report of a study."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from unbraid.data import AbstractDataset, DataSpec, open_dataset
from unbraid.reports.figures._frames import count_different, is_done, numbers, texts
from unbraid.reports.figures._ranking import RankedSetting, rank_settings
from unbraid.studies import RunRecord, StudyFolder, make_table, read_records
from unbraid.studies.analysis import setting_name, strengths, values_of

from ._comparison_section import comparison_section, main_score, ranking_block
from ._dynamics_block import dynamics_picture, read_paths, trace_picture
from ._embed import CANNOT_DRAW, Gallery
from ._evolution_section import evolution_section
from ._model_section import model_section
from ._page import Notice, Page, Picture, Section, Table
from ._score_curves_section import study_score_section
from ._scores_table import number, scores_table
from ._settings_section import settings_section
from ._study_sections import run_notices, runs_section, setup_section


def study_page(path: Path) -> Page:
    """Return the report of a study.

    Args:
        path: Folder of the study.
    """
    folder = StudyFolder(path)
    runs = read_records(folder)
    table = make_table(runs)
    notices = run_notices(runs, table)
    n_done = int(is_done(table).sum())
    n_failed = texts(table, "status").count("failed")
    facts = (
        ("runs", number(len(table))),
        ("done", number(n_done)),
        ("failed", number(n_failed)),
        ("methods", number(count_different(strengths(table), "method"))),
        ("seeds", number(count_different(table, "seed"))),
    )
    setup = setup_section([run.cell.spec for run in runs])
    settings = settings_section(folder.study, runs)
    score = main_score(table)
    during = study_score_section(runs, table, score)
    if not n_done or not score:
        lead = "The finished runs have no score to compare."
        if not n_done:
            lead = "No run is finished, so there is nothing to compare yet."
        return Page(
            kind="Study",
            title=folder.study.name,
            lead=lead,
            facts=facts,
            notices=notices,
            sections=(
                setup,
                *(() if during is None else (during,)),
                runs_section(table),
                settings,
            ),
        )
    ranked = rank_settings(table, score)
    best = _find_best_run(runs, table, score)
    dataset, why = open_data(best.cell.spec.data)
    sections = [
        setup,
        _ranking_section(ranked, score, count_different(table, "data")),
        _best_section(best, runs, table, score, dataset, (why,) if why else ()),
        evolution_section(best, dataset),
        during,
        comparison_section(table, score),
        runs_section(table),
        settings,
    ]
    return Page(
        kind="Study",
        title=folder.study.name,
        lead=_lead(ranked, score),
        facts=facts,
        notices=(*notices, *_caution(score)),
        sections=tuple(section for section in sections if section is not None),
    )


def open_data(data: DataSpec | str) -> tuple[AbstractDataset | None, str]:
    """Open a dataset, or return ``None`` and the reason why that failed.

    Args:
        data: Name or path of the dataset with its options.
    """
    try:
        return open_dataset(data), ""
    except CANNOT_DRAW as error:
        return None, f"The data cannot be read, so some figures are missing: {error}"


def _caution(score: str) -> tuple[Notice, ...]:
    if score.startswith("score."):
        return ()
    message = (
        "There are no scores of disentanglement, because the data have no factors or "
        "no metrics were requested. Settings are in order of the ELBO, which measures "
        "the fit to the data, not disentanglement. Use `unbraid discover` to choose a "
        "model without labels."
    )
    return (Notice(level="note", title=message),)


def _lead(ranked: tuple[RankedSetting, ...], score: str) -> str:
    name = score.split(".", 1)[-1]
    first = ranked[0]
    n_best = sum(setting.group == 0 for setting in ranked)
    low, high = first.interval
    text = f"{first.name} has the highest {name}: {number(first.score)}"
    if first.n_runs > 1:
        text += f" on average (95% interval {number(low)} to {number(high)})"
    if len(ranked) == 1:
        return text + "; it is the only setting."
    if n_best == 1:
        return text + ", significantly better than all others."
    return text + f"; the best {n_best} of {len(ranked)} do not differ significantly."


def _ranking_section(
    ranked: tuple[RankedSetting, ...], score: str, n_datasets: int
) -> Section:
    name = score.split(".", 1)[-1]
    rows = tuple(
        (
            str(row + 1),
            setting.name,
            number(setting.score),
            _format_interval(setting),
            str(setting.group + 1),
            str(setting.n_runs),
        )
        for row, setting in enumerate(ranked)
    )
    table = Table(
        title="All settings",
        columns=("rank", "setting", name, "95% interval", "group", "runs"),
        rows=rows,
        caption="Settings of one group do not differ significantly.",
        is_folded=len(rows) > 40,
    )
    text = (f"Scores are means over {n_datasets} datasets.",) if n_datasets > 1 else ()
    blocks = (ranking_block(ranked, name), table)
    return Section(title="Ranking", paragraphs=text, blocks=blocks)


def _format_interval(setting: RankedSetting) -> str:
    if setting.n_runs < 2:
        return "one run only"  # the spread over seeds is unknown
    return f"{number(setting.interval[0])} to {number(setting.interval[1])}"


def _find_best_run(
    all_runs: Sequence[RunRecord], table: pd.DataFrame, score: str
) -> RunRecord:
    """Return the run with the highest score."""
    values = np.where(is_done(table), numbers(table, score), np.nan)
    return all_runs[int(np.nanargmax(values))]


def _best_section(
    best: RunRecord,
    all_runs: Sequence[RunRecord],
    table: pd.DataFrame,
    score: str,
    dataset: AbstractDataset | None,
    notes: tuple[str, ...],
) -> Section:
    cell = best.cell
    row = texts(table, "id").index(cell.id)
    runs = strengths(table)
    strength = values_of(runs, "strength")[row]
    name = setting_name(texts(runs, "method")[row], strength)
    value = number(float(numbers(table, score)[row]))
    summary = (
        f"{name}, seed {cell.spec.seed}, run {cell.id}: "
        f"{score.split('.', 1)[-1]} {value}."
    )
    section = model_section(
        "The best run",
        cell.files.path,
        dataset,
        name=f"{name}, seed {cell.spec.seed}",
        paragraphs=(summary, *notes),
    )
    gallery = Gallery()
    gallery.add("Training dynamics", lambda: _dynamics(best, all_runs))
    gallery.add("M-PHATE", lambda: trace_picture(cell.files.path))
    scores = scores_table(best.scores.get("scores", {}))
    return Section(
        title=section.title,
        paragraphs=(*section.paragraphs, *gallery.explanations),
        blocks=(
            *section.blocks,
            *gallery.pictures,
            *(() if scores is None else (scores,)),
        ),
    )


def _dynamics(best: RunRecord, all_runs: Sequence[RunRecord]) -> Picture | None:
    """Draw the training dynamics of a run and the same run with other seeds."""
    own = best.cell.spec.model_copy(update={"seed": 0})
    paths = read_paths(
        [
            run
            for run in all_runs
            if run.is_active and run.cell.spec.model_copy(update={"seed": 0}) == own
        ]
    )
    title = "Training dynamics of the seeds of this setting"
    return None if paths is None else dynamics_picture(title, paths)
