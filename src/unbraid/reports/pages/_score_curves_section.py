"""Scores during training on a page of a run or a study."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from unbraid.reports.figures._frames import settings_of, texts
from unbraid.reports.figures._score_curves import draw_score_curves
from unbraid.studies import RunRecord
from unbraid.studies.analysis import setting_name, strengths
from unbraid.training import ScoreCurve

from ._embed import Gallery, picture
from ._page import Picture, Section, Table
from ._scores_table import number

_TITLE = "Scores during training"
_MARKS = "A circle marks the best value of a curve, and a square the last one."
_CAUTION = (
    "Nothing was chosen by these scores: rankings and the best run use the scores "
    "after the last step."
)


def run_score_blocks(curves: Mapping[str, ScoreCurve]) -> tuple[Picture | Table, ...]:
    """Return the curves of a run, and a table of their best and last values.

    Args:
        curves: Curves by name of the score; may be empty.
    """
    if not curves:
        return ()
    rows = [
        (
            name,
            number(curve.best),
            number(curve.best_step),
            number(curve.last),
            number(curve.decay),
        )
        for name, curve in curves.items()
    ]
    drawn = picture(
        _TITLE,
        draw_score_curves({name: [curve] for name, curve in curves.items()}),
        caption=_MARKS,
        data=_numbers({name: [curve] for name, curve in curves.items()}, "score"),
        file="scores_during_training",
    )
    columns = ("score", "best", "at step", "last", "worse by")
    table = Table(title="Best and last values", columns=columns, rows=tuple(rows))
    return drawn, table


def study_score_section(
    runs: Sequence[RunRecord], table: pd.DataFrame, score: str
) -> Section | None:
    """Return the section about scores during training; ``None`` if there are none.

    Args:
        runs: Runs of the study.
        table: Table of runs, one row per run.
        score: Column by which runs are ranked.
    """
    names = dict.fromkeys(name for run in runs for name in run.score_curves)
    if not names:
        return None
    name = score.split(".", 1)[-1]
    name = name if name in names else next(iter(names))
    known = {run.id: run.score_curves.get(name) for run in runs}
    groups: dict[str, list[ScoreCurve]] = {}
    for method, strength, part in settings_of(strengths(table)):
        curves = [known[id] for id in texts(part, "id")]
        found = [curve for curve in curves if curve is not None]
        if found:
            groups.setdefault(setting_name(method, strength), []).extend(found)
    gallery = Gallery()
    gallery.add(_TITLE, lambda: _draw_settings(groups, name))
    gallery.add("Best and last values", lambda: _compare_settings(groups, name))
    return Section(
        title=_TITLE,
        paragraphs=(_CAUTION, *gallery.explanations),
        blocks=tuple(gallery.pictures),
    )


def _draw_settings(groups: Mapping[str, Sequence[ScoreCurve]], name: str) -> Picture:
    return picture(
        f"{name} during training",
        draw_score_curves(groups, score=name),
        caption=f"One line per run, one color per setting. {_MARKS}",
        data=_numbers(groups, "setting"),
        file="scores_during_training",
    )


def _compare_settings(groups: Mapping[str, Sequence[ScoreCurve]], name: str) -> Table:
    rows = [
        (
            setting,
            number(len(curves)),
            number(float(np.mean([curve.best for curve in curves]))),
            number(round(float(np.mean([curve.best_step for curve in curves])))),
            number(float(np.mean([curve.last for curve in curves]))),
            number(float(np.mean([curve.decay for curve in curves]))),
        )
        for setting, curves in groups.items()
    ]
    return Table(
        title=f"Best and last {name}",
        columns=("setting", "runs", "best", "at step", "last", "worse by"),
        rows=tuple(rows),
        caption="Means over runs. The last column is how much worse the last value is "
        "than the best one.",
        is_folded=len(rows) > 12,
    )


def _numbers(groups: Mapping[str, Sequence[ScoreCurve]], group: str) -> pd.DataFrame:
    rows = [
        {group: name, "run": position, "step": int(step), "value": float(value)}
        for name, curves in groups.items()
        for position, curve in enumerate(curves)
        for step, value in zip(curve.steps, curve.values, strict=True)
    ]
    return pd.DataFrame(rows)
