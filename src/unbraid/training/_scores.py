"""Scores during training: metrics of the codes of fixed rows every so many steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.foundation import check_count, check_seed
from unbraid.metrics import choose_metrics, evaluate, is_higher_better
from unbraid.models import Autoencoder

from ._history import HistoryFile, read_history


@dataclass(frozen=True, kw_only=True)
class ScoreSettings:
    """Which scores are computed during training, and when.

    Args:
        every: Steps between scores. There are also scores after the last step.
        metrics: Metrics, as for :func:`unbraid.metrics.choose_metrics`.
        rows: Largest number of rows of the dataset to encode. They depend on the
            dataset and the seed alone, and are the same every time.
        seed: Seed of the rows and of metrics that draw at random.

    Example:
        >>> ScoreSettings(every=400, metrics="mig,mig:bins=10").steps_of(1_000)
        (400, 800, 1000)
    """

    every: int
    metrics: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = "mig"
    rows: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("score_every", self.every)
        check_count("score_rows", self.rows, least=2)
        check_seed(self.seed)
        choose_metrics(self.metrics, have_factors=True)  # raises if there is none

    def steps_of(self, n_steps: int) -> tuple[int, ...]:
        """Return the steps of a run after which it is scored."""
        return (*range(self.every, n_steps, self.every), n_steps)

    def to_plain(self, dataset: AbstractDataset) -> dict[str, Any]:
        """Convert to JSON types, with the metrics that a dataset allows."""
        return {
            "every": self.every,
            "metrics": self.choose(dataset),
            "rows": self.rows,
            "seed": self.seed,
        }

    def choose(self, dataset: AbstractDataset) -> list[str]:
        """Return the names of the metrics for a dataset.

        Raises:
            ValueError: If a metric needs factors, and the dataset has none.
        """
        return choose_metrics(self.metrics, have_factors=bool(dataset.factor_names))


class ScoreRecorder:
    """Scores a model at chosen steps, and keeps the scores in memory and in a file.

    Args:
        settings: Settings of the scores.
        dataset: Data to score on.
        model: Model that is being trained.
        n_steps: Number of steps of the run.
        path: File to write to, if any.

    Attributes:
        wanted: Steps after which the model is scored, in ascending order.
        records: A ``"step"`` and the value of each score, one record per step. Scores
            that cannot be computed are missing.
        failures: Reasons why metrics had no score the last time, by name.
    """

    def __init__(
        self,
        settings: ScoreSettings,
        dataset: AbstractDataset,
        model: Autoencoder,
        *,
        n_steps: int,
        path: Path | None = None,
    ) -> None:
        self.wanted = settings.steps_of(n_steps)
        self.records: list[dict[str, Any]] = []
        self.failures: Mapping[str, str] = {}
        self._settings, self._dataset, self._model = settings, dataset, model
        self._metrics = settings.choose(dataset)
        self._path = path
        self._file: HistoryFile | None = None

    def resume(self, step: int) -> None:
        """Continue with the scores in the file.

        Args:
            step: Step from which training continues; later scores are dropped.
        """
        if self._path is not None:
            self.records = read_history(self._path, until=step)
            self._file = HistoryFile(self._path, self.records)

    def record(self, step: int) -> None:
        """Score the model now, if this step is wanted and not recorded yet."""
        if step not in self.wanted or any(r["step"] == step for r in self.records):
            return
        values, self.failures = self._score()
        known = {name: value for name, value in values.items() if np.isfinite(value)}
        self.records.append({"step": step, **known})
        if self._file is not None:
            self._file.append(self.records[-1])

    def _score(self) -> tuple[dict[str, float], Mapping[str, str]]:
        """Return the scores of the model now, and reasons where there are none."""
        try:
            card = evaluate(
                self._model,
                self._dataset,
                metrics=self._metrics,
                rows=self._settings.rows,
                seed=self._settings.seed,
                intervals=False,
                levels=False,
                n_jobs=1,
                progress=False,
            )
        except ValueError as error:  # such as constant factors; training goes on
            return {}, dict.fromkeys(self._metrics, str(error))
        return {name: float(score) for name, score in card.items()}, card.failures

    def sync(self) -> None:
        """Wait until all scores are on the disk."""
        if self._file is not None:
            self._file.sync()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """A score during training.

    Attributes:
        name: Name of the score.
        steps: Steps after which it was computed, ``(n_scores,)``.
        values: Its values, ``(n_scores,)``.
        higher_is_better: Direction of the score.

    Example:
        >>> records = [{"step": s, "mig": m} for s, m in ((1, 0.2), (2, 0.5), (3, 0.4))]
        >>> curve = score_curves(records)["mig"]
        >>> curve.best, curve.best_step, curve.last, round(curve.decay, 6)
        (0.5, 2, 0.4, 0.1)
    """

    name: str
    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    higher_is_better: bool

    @property
    def best(self) -> float:
        """Best value during training."""
        return float(self.values[self._best_index])

    @property
    def best_step(self) -> int:
        """First step with the best value."""
        return int(self.steps[self._best_index])

    @property
    def last(self) -> float:
        """Value after the last step."""
        return float(self.values[-1])

    @property
    def decay(self) -> float:
        """How much worse the last value is than the best one, at least 0."""
        return abs(self.best - self.last)

    @property
    def _best_index(self) -> int:
        sign = 1.0 if self.higher_is_better else -1.0
        return int(np.argmax(sign * self.values))


def score_curves(records: Sequence[Mapping[str, Any]]) -> dict[str, ScoreCurve]:
    """Return the curve of each score by name.

    Args:
        records: Records of a run, such as :attr:`unbraid.Run.scores`.
    """
    names = dict.fromkeys(name for record in records for name in record)
    curves = {}
    for name in names:
        if name == "step":
            continue
        known = [record for record in records if _is_score(record.get(name))]
        if not known:
            continue
        curves[name] = ScoreCurve(
            name=name,
            steps=np.array([record["step"] for record in known], dtype=np.int64),
            values=np.array([record[name] for record in known], dtype=np.float64),
            higher_is_better=is_higher_better(name),
        )
    return curves


def _is_score(value: Any) -> bool:
    """Return whether a value is a finite number; a damaged file may hold anything."""
    return isinstance(value, int | float) and bool(np.isfinite(value))
