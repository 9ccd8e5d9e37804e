"""RunSpec: everything that decides one run and its scores, as plain data."""

from functools import cached_property
from typing import Annotated, Any

import pydantic

from unbraid.evolution import EvolvingSettings
from unbraid.foundation import Section, Whole
from unbraid.metrics import choose_metrics
from unbraid.training import TraceSettings, hash_plain

_WRITTEN = (
    *("data", "objective", "network", "likelihood", "training"),
    *("evaluation", "traces", "evolution", "seed"),
)
"""Keys in the order of files and of the columns of a study's table."""


class Evaluation(Section):
    """How a run is scored: which metrics, on how many random rows, with which seed."""

    metrics: str | list[str] = "standard"
    rows: Whole = 10_000
    seed: Annotated[int, pydantic.Field(ge=0)] = 0

    @pydantic.field_validator("metrics")
    @classmethod
    def _known(cls, metrics: str | list[str]) -> str | list[str]:
        choose_metrics(metrics, have_factors=True)
        return metrics


class Traces(Section):
    """Activations to record during training; the fields of ``TraceSettings``."""

    layer: str = ""
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

    def trace_settings(self) -> TraceSettings | bool:
        """Return the argument ``traces`` of :func:`unbraid.training.train_run`."""
        if self.traces is None:
            return False
        return TraceSettings(**self.traces.model_dump())
