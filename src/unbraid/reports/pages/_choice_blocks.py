"""Why a model was chosen: scores and their parts, and the choice of each score."""

from typing import Any

import pandas as pd

from unbraid.reports.figures._score_parts import draw_score_parts
from unbraid.selection import SCORE_NAMES, Ranked

from ._embed import picture
from ._page import Picture, Table


def choice_blocks(ranking: dict[str, Any]) -> tuple[Picture | Table, ...]:
    """Return the figure of scores and the table of single choices.

    Empty for rankings of earlier versions, which did not keep the parts.

    Args:
        ranking: A ranking as plain data, from
            :meth:`unbraid.selection.Ranking.to_plain`.
    """
    models = [Ranked(**model) for model in ranking["models"]]
    if not models or not models[0].parts:
        return ()
    data = pd.DataFrame(
        [
            {
                "model": model.name,
                "score": model.score,
                "low": model.interval[0],
                "high": model.interval[1],
            }
            | dict(model.parts)
            for model in models
        ]
    )
    figure = picture(
        "Score of each model and its parts",
        draw_score_parts(models, chosen=ranking["chosen"]),
        caption="The parts of a bar add up to the score of the model. Models no better "
        "than chance come last, whatever their score; the chosen one is in bold.",
        data=data,
        file="score-parts",
    )
    return (figure, *_alone(ranking, [model.name for model in models]))


def _alone(ranking: dict[str, Any], names: list[str]) -> tuple[Table, ...]:
    alone = ranking.get("alone") or {}
    if not alone:
        return ()
    rows = tuple(
        (
            SCORE_NAMES.get(score, score),
            name,
            str(names.index(name) + 1),
            "yes" if name == ranking["chosen"] else "no",
        )
        for score, name in alone.items()
    )
    return (
        Table(
            title="What each score alone would choose",
            columns=("score", "model", "rank here", "same choice"),
            rows=rows,
            caption="Scores that point to one model support the choice; where they "
            "differ, look at the traversals of both models.",
        ),
    )
