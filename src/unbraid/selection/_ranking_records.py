"""Records of a ranking: models and configurations in order, and the choice."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from unbraid.foundation import html_table

if TYPE_CHECKING:
    import pandas as pd

SCORE_NAMES = {
    "contrast": "independent effects on the image",
    "reproducible": "latents that other seeds find",
    "across": "agreement with other configurations",
    "udr": "agreement of seeds",
    "dynamics": "training dynamics",
    "elbo": "ELBO",
    "reconstruction": "reconstruction",
    "active_latents": "active latents",
    "supervised": "labels",
}
"""Label-free scores of a ranking in words, for figures, tables and summaries."""

_MODELS_SHOWN = 20


@dataclass(frozen=True)
class Ranked:
    """A model or a configuration in a ranking.

    Attributes:
        name: Name of the model or configuration.
        specification: Configuration of the model, or the configuration itself.
        score: Score from 0 (worst in everything) to 1 (best in everything).
        interval: 95% interval of the score if other seeds had been trained.
        group: 0 for the best and all that are not clearly worse, then 1, and so on.
        better_than_chance: Whether the seeds of the configuration agree more than codes
            with randomly rotated axes.
        parts: Contribution of each label-free score, by name; they add up to the score.
    """

    name: str
    specification: str
    score: float
    interval: tuple[float, float]
    group: int
    better_than_chance: bool
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelEffect:
    """Effect of labels on a ranking.

    Attributes:
        n_labels: Number of labels.
        weight: Share of the score that depends on labels.
        agreement: Spearman correlation of the rankings with and without labels.
        chosen_without: Model that would have been chosen without labels.
    """

    n_labels: int
    weight: float
    agreement: float
    chosen_without: str | None


@dataclass(frozen=True)
class Ranking:
    """Ranking of models and configurations, the best first.

    Attributes:
        models: All models.
        specifications: All configurations.
        chosen: Name of the best model, or ``None`` if there is no reason to prefer one.
        reason: Reason of the choice, in one or two sentences.
        labels: Effect of labels, if there are any.
        alone: Model that each label-free score alone would choose, by the name of the
            score.
    """

    models: tuple[Ranked, ...]
    specifications: tuple[Ranked, ...]
    chosen: str | None
    reason: str
    labels: LabelEffect | None = None
    alone: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Ranking({len(self.models)} models of {len(self.specifications)} "
            f"configurations, chosen={self.chosen!r})"
        )

    def _repr_html_(self) -> str:
        """The best models and the reason for the choice, for notebooks."""
        columns = ("model", "configuration", "score", "95 % interval", "group")
        rows = [
            (
                model.name,
                model.specification,
                f"{model.score:.3f}",
                "{:.3f} - {:.3f}".format(*model.interval),
                str(model.group),
                "yes" if model.better_than_chance else "no",
            )
            for model in self.models[:_MODELS_SHOWN]
        ]
        n_more = len(self.models) - len(rows)
        notes = [f"{n_more} more models: see to_frame()."] if n_more > 0 else []
        return html_table(
            (*columns, "better than chance"),
            rows,
            title=f"Chosen: {self.chosen or 'no model'}. {self.reason}",
            notes=notes,
        )

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return asdict(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return the models as a table, the best first, with the ends of intervals.

        Example:
            >>> first = Ranked("a1", "a", 0.9, (0.8, 1.0), 0, True)
            >>> ranking = Ranking((first,), (), "a1", "It agrees.")
            >>> ranking.to_frame()[["name", "score", "low", "is_chosen"]]
              name  score  low  is_chosen
            0   a1    0.9  0.8       True
        """
        import pandas as pd

        rows = [
            {
                "name": model.name,
                "configuration": model.specification,
                "score": model.score,
                "low": model.interval[0],
                "high": model.interval[1],
                "group": model.group,
                "better_than_chance": model.better_than_chance,
                "is_chosen": model.name == self.chosen,
            }
            for model in self.models
        ]
        return pd.DataFrame(rows)
