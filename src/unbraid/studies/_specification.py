"""RunSpec: everything that decides one run and its scores, as plain data."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any

import pydantic

from unbraid.evolution import EvolvingSettings
from unbraid.foundation import Section, Whole
from unbraid.metrics import choose_metrics
from unbraid.training import ScoreSettings, TraceSettings, hash_plain

_WRITTEN = (
    *("data", "objective", "network", "likelihood", "training"),
    *("evaluation", "traces", "evolution", "seed"),
)
"""Keys in the order of files and of the columns of a study's table."""


class Evaluation(Section):
    """How a run is scored: which metrics, on how many random rows, with which seed.

    A metric with options is a text, ``mig:estimator=posterior``, or a mapping, ``{name:
    mig, estimator: posterior}``, which is written as text.

    Attributes:
        metrics: Metrics by name.
        rows: Largest number of rows of the data to encode.
        seed: Seed of the rows and of metrics that draw at random.
        score_every: Steps between scores during training; none if not given.
    """

    metrics: str | list[str] = "standard"
    rows: Whole = 10_000
    seed: Annotated[int, pydantic.Field(ge=0)] = 0
    score_every: Whole | None = None

    @pydantic.field_validator("metrics", mode="before")
    @classmethod
    def _write_options(cls, metrics: Any) -> Any:
        if isinstance(metrics, Mapping):
            metrics = [metrics]
        if not isinstance(metrics, list):
            return metrics
        return [_write_entry(entry) for entry in metrics]

    @pydantic.field_validator("metrics")
    @classmethod
    def _known(cls, metrics: str | list[str]) -> str | list[str]:
        choose_metrics(metrics, have_factors=True)
        return metrics

    @pydantic.model_serializer(mode="wrap")
    def _write(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Leave out what is not given, so that runs from before it keep their ids."""
        return {name: part for name, part in write(self).items() if part is not None}


def _write_entry(entry: Any) -> Any:
    """Write a metric with options as text, the same for the same options."""
    if isinstance(entry, Mapping) or (isinstance(entry, str) and "=" in entry):
        return choose_metrics([entry], have_factors=True)[0]
    return entry


class Traces(Section):
    """Activations to record during training; the fields of ``TraceSettings``."""

    layer: str | list[str] = ""
    n_observations: Whole = 64
    n_snapshots: Whole = 10


class RunSpec(EvolvingSettings):
    """One run of a study: how it is trained, and how it is scored.

    Attributes:
        evaluation: Metrics by which the run is scored, and on how many rows.
        traces: Activations to record during training, if any.

    The other fields are those of :class:`unbraid.training.RunSettings`.

    Example:
        >>> spec = RunSpec.read({"data": "xy_squares", "objective": "vae"}, "example")
        >>> spec.objective
        {'name': 'vae', 'scale': 'sum'}
        >>> again = {"data": "xy_squares", "objective": {"name": "vae"}, "seed": 0}
        >>> spec.id("f") == RunSpec.read(again, "example").id("f")
        True
    """

    evaluation: Evaluation = Evaluation()
    traces: Traces | None = None

    @pydantic.field_validator("traces", mode="before")
    @classmethod
    def _read_traces(cls, value: Any) -> Any:
        """``true`` asks for the defaults, ``false`` for none."""
        if isinstance(value, bool):
            return Traces() if value else None
        return value

    @cached_property
    def _plain(self) -> dict[str, Any]:
        plain = super()._plain
        if self.evolution is None:  # as runs were written before there was any
            del plain["evolution"]
        return {name: plain[name] for name in _WRITTEN if name in plain}

    def id(self, fingerprint: str) -> str:
        """Return the id of the run: a hash of everything that decides the outcome.

        Args:
            fingerprint: Fingerprint of the data.
        """
        return hash_plain(self.to_plain(), fingerprint)[:16]

    @pydantic.model_validator(mode="after")
    def _check_scores(self) -> "RunSpec":
        if self.evolution is not None and self.evaluation.score_every is not None:
            raise ValueError(
                "evaluation.score_every needs a run without evolution: the models of a "
                "population are not scored during training."
            )
        return self

    def score_settings(self) -> ScoreSettings | None:
        """Return the argument ``scores`` of :func:`unbraid.training.train_run`."""
        evaluation = self.evaluation
        if evaluation.score_every is None:
            return None
        return ScoreSettings(
            every=evaluation.score_every,
            metrics=evaluation.metrics,
            rows=evaluation.rows,
            seed=evaluation.seed,
        )

    def trace_settings(self) -> TraceSettings | bool:
        """Return the argument ``traces`` of :func:`unbraid.training.train_run`."""
        if self.traces is None:
            return False
        return TraceSettings(**self.traces.model_dump())
