"""The report of a study."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from unbraid.data import AbstractDataset, DataSpec, open_dataset
from unbraid.reports.figures._frames import count_different, is_done, numbers, texts
from unbraid.reports.figures._ranking import Place, rank_settings, setting_name
from unbraid.studies import RunRecord, StudyFolder, make_table, read_records
from unbraid.studies.analysis import strengths, values_of

from ._comparison_section import comparison_section, main_score, ranking_block
from ._dynamics_block import dynamics_picture, read_paths
from ._embed import CANNOT_DRAW, Gallery
from ._evolution_section import evolution_section
from ._model_section import model_section
from ._page import Notice, Page, Picture, Section, Table
from ._scores_table import number, scores_table
from ._settings_section import settings_section
from ._study_sections import asked_section, run_notices, trained_section


def study_page(path: Path) -> Page:
    """Everything about a study that its folder tells.

    Args:
        path: Its folder.
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
    asked = asked_section([run.cell.spec for run in runs])
    settings = settings_section(folder.study, runs)
    score = main_score(table)
    if not n_done or not score:
        nothing = "No run is finished, so that there is nothing to compare yet."
        lead = nothing if not n_done else "The finished runs have no score to compare."
        return Page(
            kind="Study",
            title=folder.study.name,
            lead=lead,
            facts=facts,
            notices=notices,
            sections=(asked, trained_section(table), settings),
        )
    places = rank_settings(table, score)
    best = _best_run(runs, table, score)
    dataset, why = open_data(best.cell.spec.data)
    sections = [
        asked,
        _ranking_section(places, score, count_different(table, "data")),
        _best_section(best, runs, table, score, dataset, (why,) if why else ()),
        evolution_section(best, dataset),
        comparison_section(table, score),
        trained_section(table),
        settings,
    ]
    return Page(
        kind="Study",
        title=folder.study.name,
        lead=_lead(places, score),
        facts=facts,
        notices=(*notices, *_caution(score)),
        sections=tuple(section for section in sections if section is not None),
    )


def open_data(data: DataSpec | str) -> tuple[AbstractDataset | None, str]:
    """A dataset, or ``None`` and why it cannot be read.

    Args:
        data: Name or path, and options; or their text.
    """
    try:
        return open_dataset(data), ""
    except CANNOT_DRAW as error:
        return (
            None,
            f"The data cannot be read, so that some pictures are left out: {error}",
        )


def _caution(score: str) -> tuple[Notice, ...]:
    if score.startswith("score."):
        return ()
    words = (
        "The data have no factors, or their scores were not asked for: settings are in "
        "order of the ELBO, which says how well images are explained and nothing about "
        "disentanglement. `unbraid discover` chooses without labels."
    )
    return (Notice(level="note", title=words),)


def _lead(places: tuple[Place, ...], score: str) -> str:
    name = score.split(".", 1)[-1]
    first = places[0]
    n_best = sum(place.group == 0 for place in places)
    low, high = first.interval
    words = f"{first.name} has the highest {name}: {number(first.score)}"
    if first.n_runs > 1:
        words += f" on average ({number(low)} to {number(high)})"
    if len(places) == 1:
        return words + "; it is the only setting."
    if n_best == 1:
        return words + ", and can be told from all others."
    return (
        words + f"; {n_best} of {len(places)} settings cannot be told apart at the top."
    )


def _ranking_section(places: tuple[Place, ...], score: str, n_datasets: int) -> Section:
    name = score.split(".", 1)[-1]
    rows = tuple(
        (
            str(row + 1),
            place.name,
            number(place.score),
            _interval(place),
            str(place.group + 1),
            str(place.n_runs),
        )
        for row, place in enumerate(places)
    )
    table = Table(
        title="All settings",
        columns=("place", "setting", name, "95% interval", "group", "runs"),
        rows=rows,
        words="A group holds what cannot be told apart.",
        is_folded=len(rows) > 40,
    )
    words = (f"Scores are means over {n_datasets} datasets.",) if n_datasets > 1 else ()
    blocks = (ranking_block(places, name), table)
    return Section(title="Ranking", words=words, blocks=blocks)


def _interval(place: Place) -> str:
    if place.n_runs < 2:
        return "one run only"  # which says nothing about others
    return f"{number(place.interval[0])} to {number(place.interval[1])}"


def _best_run(
    all_runs: Sequence[RunRecord], table: pd.DataFrame, score: str
) -> RunRecord:
    """The run with the highest score."""
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
    words = (
        f"{name}, seed {cell.spec.seed}, run {cell.id}: "
        f"{score.split('.', 1)[-1]} {value}.",
    )
    section = model_section(
        "The best run",
        cell.files.path,
        dataset,
        name=f"{name}, seed {cell.spec.seed}",
        words=(*words, *notes),
    )
    gallery = Gallery()
    gallery.add("How seeds learnt", lambda: _dynamics(best, all_runs))
    missing = [f"{title}: not drawn. {why}" for title, why in gallery.missing]
    scores = scores_table(best.scores.get("scores", {}))
    return Section(
        title=section.title,
        words=(*section.words, *missing),
        blocks=(
            *section.blocks,
            *gallery.pictures,
            *(() if scores is None else (scores,)),
        ),
    )


def _dynamics(best: RunRecord, all_runs: Sequence[RunRecord]) -> Picture | None:
    """Of the run and those that differ from it in the seed alone."""
    own = best.cell.spec.model_copy(update={"seed": 0})
    paths = read_paths(
        [
            run
            for run in all_runs
            if run.is_active and run.cell.spec.model_copy(update={"seed": 0}) == own
        ]
    )
    title = "How the seeds of this setting learnt"
    return None if paths is None else dynamics_picture(title, paths)
