"""The section of a page that compares settings and scores."""

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
from unbraid.reports.figures._ranking import RankedSetting, draw_ranking
from unbraid.reports.figures._study import (
    draw_score_by_strength,
    draw_scores_by_method,
    draw_variance_explained,
    score_by_strength,
)
from unbraid.studies.analysis import (
    RankAgreement,
    VarianceExplained,
    default_metrics,
    downstream_agreement,
    metric_agreement,
    total_correlation_by_strength,
    unsupervised_agreement,
    variance_explained,
)

from ._embed import Gallery, picture
from ._page import Picture, Section


def main_score(table: pd.DataFrame) -> str:
    """Return the column by which the runs of a study are ranked; empty if none.

    This is the first available disentanglement metric, starting with ``mig``, or one of
    them with options, or else the ELBO.

    Args:
        table: Table of runs, one row per run.
    """
    names = ("mig", *default_metrics(table))
    variants = [
        str(column)
        for name in names
        for column in table.columns
        if str(column).startswith(f"score.{name}[")
    ]
    candidates = [*(f"score.{name}" for name in names), *variants, "final.elbo"]
    done = chosen_rows(table, is_done(table))
    known = (name for name in candidates if not np.isnan(numbers(done, name)).all())
    return next(known, "")


def ranking_block(
    ranked: tuple[RankedSetting, ...], score: str, *, of: str = "Settings"
) -> Picture:
    """Return a figure of the ranking of settings.

    Args:
        ranked: Settings in order.
        score: Name of the score.
        of: Plural noun for the settings in the title.
    """
    data = pd.DataFrame(
        [
            {
                "rank": row + 1,
                "name": setting.name,
                "score": setting.score,
                "low": setting.interval[0],
                "high": setting.interval[1],
                "group": setting.group + 1,
                "runs": setting.n_runs,
            }
            for row, setting in enumerate(ranked)
        ]
    )
    return picture(
        f"{of} ranked by {score}",
        draw_ranking(ranked, score=score),
        caption="Lines are 95% intervals of the score with other seeds. "
        f"{of} of one color do not differ significantly.",
        data=data,
        file="ranking",
    )


def comparison_section(table: pd.DataFrame, score: str) -> Section | None:
    """Return the section about what determines scores, and whether they agree.

    Args:
        table: Table of runs, one row per run.
        score: Column by which runs are ranked.
    """
    gallery = Gallery()
    name = score.split(".", 1)[-1]
    gallery.add(f"{name} by strength", lambda: _by_strength(table, score, name))
    # A few finished runs are not enough to compare.
    if is_done(table).sum() > 2 and score.startswith("score."):
        _add_questions(gallery, table)
    if not gallery.pictures:
        return None
    return Section(title="What determines the scores", blocks=tuple(gallery.pictures))


def _add_questions(gallery: Gallery, table: pd.DataFrame) -> None:
    variance = cache(lambda: variance_explained(table))
    gallery.add("Variance", lambda: _variance(variance()))
    gallery.add("Methods", lambda: _methods(variance()))
    questions: dict[str, tuple[Callable[..., RankAgreement], str]] = {
        "Do metrics agree?": (metric_agreement, "metrics"),
        "Do label-free scores predict metrics?": (unsupervised_agreement, "label-free"),
        "Do better scores help downstream tasks?": (downstream_agreement, "downstream"),
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
        caption="One point per run; the line is the mean. Points of one strength "
        "differ in the seed only.",
        data=found,
        file="by-strength",
    )


def _variance(found: VarianceExplained) -> Picture | None:
    if np.isnan(numbers(found.shares, "objective")).all():
        return None
    return picture(
        "What determines a score",
        draw_variance_explained(found),
        caption="Shares of the variance. Gray is due to the seed: the same settings "
        "with other random numbers.",
        data=found.shares,
        file="variance",
    )


def _methods(found: VarianceExplained) -> Picture | None:
    if count_different(found.runs, "method") < 2:
        return None
    return picture(
        "Scores by method",
        draw_scores_by_method(found),
        caption="Distribution over all strengths and seeds, with the median.",
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
        caption="Rank correlation in percent: 100 means the same order of runs, 0 an "
        "unrelated order.",
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
        caption="Stronger regularization makes sampled codes independent, but often "
        "not their means.",
        data=found.levels,
        file="total-correlation",
    )
