"""StudySelection: result of choosing a run of a study without labels, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.selection import SCORES, Ranking, ScoredRun

from ._records import RunRecord
from .analysis import correlate_ranks

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class StudySelection:
    """Runs of a study in the order of a ranking without labels.

    Attributes:
        data: Dataset of the runs.
        ranking: Ranking of the runs and their configurations.
        runs: One row per run, the best first, with ``run``, its id; ``name``;
            ``configuration``; ``seed``; ``rank_score``; ``group``; a column for each
            label-free score; and, if there is one, the supervised ``reference``.
        scores: One row per label-free score, with ``score``; ``better``, ``high`` or
            ``low``; ``chosen``, the run that the score alone chooses; with a reference
            ``chosen_reference``, that of the chosen run, and ``correlation``, the rank
            correlation over runs (positive where a better score goes with a higher
            reference); and ``skipped``, the reason if it was not computed.
        reference: Name of a supervised score, which is shown but not used; empty if
            there is none.
        sensitivity: Result of :func:`unbraid.selection.dynamics_sensitivity`, if it was
            requested.
    """

    data: str
    ranking: Ranking
    runs: "pd.DataFrame"
    scores: "pd.DataFrame"
    reference: str
    sensitivity: "pd.DataFrame | None" = None

    @property
    def chosen(self) -> str | None:
        """Id of the chosen run; ``None`` if none is better than chance."""
        if self.ranking.chosen is None:
            return None
        return str(self.runs.set_index("name").loc[self.ranking.chosen, "run"])

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "data": self.data,
            "chosen": self.chosen,
            "reason": self.ranking.reason,
            "reference": self.reference,
            "runs": _plain_rows(self.runs),
            "scores": _plain_rows(self.scores),
            "configurations": self.ranking.to_plain()["specifications"],
            "sensitivity": None
            if self.sensitivity is None
            else _plain_rows(self.sensitivity),
        }


def runs_table(
    runs: Sequence[RunRecord],
    scored: Sequence[ScoredRun],
    ranking: Ranking,
    values: Mapping[str, NDArray[np.float64]],
    labeled: Mapping[str, NDArray[np.float64]],
) -> "pd.DataFrame":
    """Return one row per run in the order of the ranking, see StudySelection.runs."""
    import pandas as pd

    ranked = {model.name: model for model in ranking.models}
    table = pd.DataFrame(
        {
            "run": [run.id for run in runs],
            "name": [run.name for run in scored],
            "configuration": [run.configuration for run in scored],
            "seed": [run.cell.spec.seed for run in runs],
            "rank_score": [ranked[run.name].score for run in scored],
            "group": [ranked[run.name].group for run in scored],
            **values,
            **{name: column for name, column in labeled.items() if name},
        }
    )
    order = {name: position for position, name in enumerate(ranked)}
    positions = [order[name] for name in table["name"]]
    return table.iloc[np.argsort(positions)].reset_index(drop=True)


def scores_table(
    names: Sequence[str],
    table: "pd.DataFrame",
    skipped: Mapping[str, str],
    reference: str,
) -> "pd.DataFrame":
    """Return one row per label-free score, see StudySelection.scores."""
    import pandas as pd

    one_group = np.zeros(len(table))
    rows = []
    for name in names:
        is_high = SCORES[name].higher_is_better
        signed = table[name].to_numpy() * (1 if is_high else -1)
        best = None if np.isnan(signed).all() else int(np.nanargmax(signed))
        row: dict[str, Any] = {
            "score": name,
            "better": "high" if is_high else "low",
            "chosen": "" if best is None else table["name"][best],
        }
        if reference:
            labeled = table[reference].to_numpy()
            row["chosen_reference"] = np.nan if best is None else labeled[best]
            found = correlate_ranks((name, reference), (signed, labeled), one_group)
            row["correlation"] = found[0]
        rows.append(row | {"skipped": skipped.get(name, "")})
    return pd.DataFrame(rows)


def _plain_rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    missing = table.astype(object).where(table.notna(), None)
    return missing.to_dict(orient="records")
