"""The part of a page that compares settings: what decides, and what agrees."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from unbraid.reports.figures._frames import (
    chosen_rows,
    count_different,
    is_done,
    numbers,
)
from unbraid.reports.figures._questions import (
    draw_rank_correlation,
    draw_total_correlation,
)
from unbraid.reports.figures._ranking import Place, draw_ranking
from unbraid.reports.figures._study import (
    draw_score_by_strength,
    draw_scores_by_method,
    draw_variance_explained,
    score_by_strength,
)
from unbraid.studies.analysis import (
    DISENTANGLEMENT_METRICS,
    RankAgreement,
    VarianceExplained,
    downstream_agreement,
    metric_agreement,
    total_correlation_by_strength,
    unsupervised_agreement,
    variance_explained,
)

from ._embed import Gallery, picture
from ._page import Picture, Section


def main_score(table: pd.DataFrame) -> str:
    """The column that orders the runs of a study; empty if none can.

    The first metric of disentanglement that is there, ``mig`` before all others, or
    how well the data are explained.

    Args:
        table: One row per run.
    """
    names = ("mig", *DISENTANGLEMENT_METRICS)
    wanted = [*(f"score.{name}" for name in names), "final.elbo"]
    done = chosen_rows(table, is_done(table))
    known = (name for name in wanted if not np.isnan(numbers(done, name)).all())
    return next(known, "")


def ranking_block(
    places: tuple[Place, ...], score: str, *, of: str = "Settings"
) -> Picture:
    """The order of settings as a picture.

    Args:
        places: In order.
        score: What orders them.
        of: What they are called.
    """
    data = pd.DataFrame(
        [
            {
                "place": row + 1,
                "name": place.name,
                "score": place.score,
                "low": place.interval[0],
                "high": place.interval[1],
                "group": place.group + 1,
                "runs": place.n_runs,
            }
            for row, place in enumerate(places)
        ]
    )
    return picture(
        f"{of} in order of {score}",
        draw_ranking(places, score=score),
        words="Lines are 95% intervals when seeds are drawn anew. Those of one colour "
        "cannot be told apart.",
        data=data,
        file="ranking",
    )


def comparison_section(table: pd.DataFrame, score: str) -> Section | None:
    """What decides scores, and whether they agree.

    Args:
        table: One row per run.
        score: Column that orders runs.
    """
    gallery = Gallery()
    name = score.split(".", 1)[-1]
    gallery.add(f"{name} by strength", lambda: _by_strength(table, score, name))
    # One finished run of every setting, or one setting, has nothing to compare.
    if is_done(table).sum() > 2 and score.startswith("score."):
        _add_questions(gallery, table)
    if not gallery.pictures:
        return None
    return Section(title="What decides", blocks=tuple(gallery.pictures))


def _add_questions(gallery: Gallery, table: pd.DataFrame) -> None:
    variance = cache(lambda: variance_explained(table))
    gallery.add("Variance", lambda: _variance(variance()))
    gallery.add("Methods", lambda: _methods(variance()))
    questions: dict[str, tuple[Callable[..., RankAgreement], str]] = {
        "Do metrics agree?": (metric_agreement, "metrics"),
        "Can scores without labels tell?": (unsupervised_agreement, "label-free"),
        "Do better scores make tasks easier?": (downstream_agreement, "downstream"),
    }
    for title, (ask, file) in questions.items():
        gallery.add(title, lambda t=title, a=ask, f=file: _agreement(table, t, a, f))
    gallery.add("Total correlation", lambda: _total_correlation(table))


def _by_strength(table: pd.DataFrame, score: str, name: str) -> Picture | None:
    found = score_by_strength(table, score)
    if len(found) < 2:
        return None
    return picture(
        f"{name} of every run",
        draw_score_by_strength(found, score=name),
        words="A point per run, the line is the mean. Points of one strength differ "
        "in the seed only.",
        data=found,
        file="by-strength",
    )


def _variance(found: VarianceExplained) -> Picture | None:
    if np.isnan(numbers(found.shares, "objective")).all():
        return None
    return picture(
        "What decides a score",
        draw_variance_explained(found),
        words="Shares of the variance. Grey is luck: the same settings with other "
        "seeds.",
        data=found.shares,
        file="variance",
    )


def _methods(found: VarianceExplained) -> Picture | None:
    if count_different(found.runs, "method") < 2:
        return None
    return picture(
        "Scores by method",
        draw_scores_by_method(found),
        words="Over all strengths and seeds, with the median.",
        data=found.runs,
        file="by-method",
    )


def _agreement(
    table: pd.DataFrame, title: str, ask: Callable[..., RankAgreement], file: str
) -> Picture | None:
    found = ask(table).pooled
    if found.values.size < 2 or not found.values.notna().to_numpy().any():
        return None
    return picture(
        title,
        draw_rank_correlation(found),
        words="Rank correlation in percent: 100 is the same order of runs, 0 an "
        "unrelated one.",
        data=found.values.reset_index(names="score"),
        file=file,
    )


def _total_correlation(table: pd.DataFrame) -> Picture | None:
    found = total_correlation_by_strength(table)
    if not len(found.levels):
        return None
    return picture(
        "Are codes independent?",
        draw_total_correlation(found),
        words="Stronger regularisation makes samples of codes independent, often "
        "without doing so for their means.",
        data=found.levels,
        file="total-correlation",
    )
