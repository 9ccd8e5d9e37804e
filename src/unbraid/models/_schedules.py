"""Schedules: hyperparameters that change during training, as functions of the step."""

import abc
import dataclasses
import math
from dataclasses import dataclass
from typing import Any, TypeVar

from unbraid.foundation import OMIT_DEFAULT, check_number


class AbstractSchedule(abc.ABC):
    """A hyperparameter as a function of the step."""

    @abc.abstractmethod
    def at(self, step: int) -> float:
        """Return the value at a step, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class Constant(AbstractSchedule):
    """The same value at every step.

    Example:
        >>> Constant(value=4.0).at(1000)
        4.0
    """

    value: float

    def at(self, step: int) -> float:
        """Return the value."""
        del step
        return self.value


@dataclass(frozen=True, kw_only=True)
class AbstractRamp(AbstractSchedule):
    """A transition from one value to another, constant before and after."""

    start: float
    end: float
    steps: int | None = None
    first_step: int = 0
    share: float = 1.0

    def __post_init__(self) -> None:
        _check_length(self.steps, self.share)
        check_number("first_step", self.first_step, least=0)

    def at(self, step: int) -> float:
        """Return the value at a step."""
        passed = _share(step, self.first_step, self.steps)
        return self.start + (self.end - self.start) * self._rise(passed)

    @abc.abstractmethod
    def _rise(self, passed: float) -> float:
        """Return the share of the difference reached after a share of the steps."""


@dataclass(frozen=True, kw_only=True)
class Linear(AbstractRamp):
    """A linear transition from one value to another, constant before and after.

    Args:
        start: Value until ``first_step``.
        end: Value from ``first_step + steps`` on.
        steps: Length of the transition. Default: ``share`` of the rest of the run.
        first_step: Step at which the transition starts.
        share: Share of the steps after ``first_step`` that the transition takes if
            ``steps`` is not given, above 0 and at most 1.

    Example:
        >>> rise = Linear(start=0.0, end=10.0, steps=100)
        >>> rise.at(0), rise.at(50), rise.at(200)
        (0.0, 5.0, 10.0)
    """

    def _rise(self, passed: float) -> float:
        return passed


@dataclass(frozen=True, kw_only=True)
class Cosine(AbstractRamp):
    """A transition from one value to another along half a cosine wave.

    Args:
        start: Value until ``first_step``.
        end: Value from ``first_step + steps`` on.
        steps: Length of the transition. Default: ``share`` of the rest of the run.
        first_step: Step at which the transition starts.
        share: Share of the steps after ``first_step`` that the transition takes if
            ``steps`` is not given, above 0 and at most 1.

    Example:
        >>> round(Cosine(start=0.0, end=10.0, steps=100).at(50), 6)
        5.0
    """

    def _rise(self, passed: float) -> float:
        return 0.5 - 0.5 * math.cos(math.pi * passed)


@dataclass(frozen=True, kw_only=True)
class Cyclic(AbstractSchedule):
    """Repeated cycles of a linear rise followed by a constant value.

    Args:
        start: Value at the beginning of every cycle.
        end: Value at the end of each rise.
        period: Number of steps of a cycle.
        rising: Share of the cycle that the rise takes, above 0 and at most 1.

    Example:
        >>> waves = Cyclic(start=0.0, end=1.0, period=100, rising=0.5)
        >>> waves.at(25), waves.at(75), waves.at(125)
        (0.5, 1.0, 0.5)

    References:
        Fu et al. (2019), Cyclical Annealing Schedule, Eq. 6.
        https://arxiv.org/abs/1903.10145
    """

    start: float
    end: float
    period: int
    rising: float = 0.5

    def __post_init__(self) -> None:
        check_number("period", self.period, least=1)
        check_number("rising", self.rising, above=0.0, most=1.0)

    def at(self, step: int) -> float:
        """Return the value at a step."""
        share = min(1.0, step % self.period / (self.rising * self.period))
        return self.start + (self.end - self.start) * share


@dataclass(frozen=True, kw_only=True)
class Decay(AbstractSchedule):
    """A constant value that decays along half a cosine wave, and stays at its end.

    Before the decay, a long run is the same as a short one, so that a run can be
    continued with a larger number of steps.

    Args:
        value: Value before the decay.
        end: Value after the decay.
        share: Share of the run that the decay takes, above 0 and at most 1.
        steps: Number of steps of the run. Default: set by the run.
        until: Share of the run at which the decay ends, at least ``share`` and at
            most 1. The value stays at ``end`` afterwards.

    Example:
        >>> rate = Decay(value=0.001, share=0.5, steps=100)
        >>> rate.at(0), rate.at(50), rate.at(75), rate.at(100)
        (0.001, 0.001, 0.0005, 0.0)
        >>> beta = Decay(value=8.0, end=2.0, share=0.25, until=0.75, steps=100)
        >>> beta.at(50), beta.at(75), beta.at(100)
        (8.0, 2.0, 2.0)
    """

    value: float
    end: float = 0.0
    share: float = 0.3
    steps: int | None = None
    until: float = dataclasses.field(default=1.0, metadata=OMIT_DEFAULT)

    def __post_init__(self) -> None:
        _check_length(self.steps, self.share)
        check_number("until", self.until, least=self.share, most=1.0)

    def at(self, step: int) -> float:
        """Return the value at a step."""
        if self.steps is None:
            return _share(step, 0, None)
        length = self.share * self.steps
        passed = _share(step - (self.until * self.steps - length), 0, length)
        return self.end + (self.value - self.end) * (
            0.5 + 0.5 * math.cos(math.pi * passed)
        )


SCHEDULES: dict[str, type[AbstractSchedule]] = {
    "constant": Constant,
    "linear": Linear,
    "cosine": Cosine,
    "cyclic": Cyclic,
    "decay": Decay,
}

Number = float | AbstractSchedule
"""A hyperparameter: a constant, or a schedule."""

_Record = TypeVar("_Record")


def value_at(number: Number, step: int) -> float:
    """Return the value of a hyperparameter at a step."""
    return number.at(step) if isinstance(number, AbstractSchedule) else number


def schedule_ends(value: Any) -> list[Any]:
    """Return the value of a hyperparameter, or the first and last of its schedule."""
    if not isinstance(value, AbstractSchedule):
        return [value]
    names = ("value", "start", "end")
    return [getattr(value, name) for name in names if hasattr(value, name)]


def fill_steps(record: _Record, n_steps: int) -> _Record:
    """Return a record in which schedules of unknown length end with the run.

    Args:
        record: Dataclass whose fields, and those of nested dataclasses, are searched
            for schedules.
        n_steps: Number of steps of the run.
    """
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        return record
    changed = {}
    if isinstance(record, AbstractRamp) and record.steps is None:
        left = max(0, n_steps - record.first_step)
        changed["steps"] = max(1, round(record.share * left))
    if isinstance(record, Decay) and record.steps is None:
        changed["steps"] = n_steps
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        filled = fill_steps(value, n_steps)
        if filled is not value:
            changed[field.name] = filled
    return dataclasses.replace(record, **changed) if changed else record


def _check_length(steps: int | None, share: float) -> None:
    if steps is not None:
        check_number("steps", steps, least=1)
    check_number("share", share, above=0.0, most=1.0)


def _share(step: float, first_step: int, steps: float | None) -> float:
    if steps is None:
        raise ValueError(
            "The schedule has no number of steps. Set steps, or use the schedule in a "
            "run, which sets it."
        )
    return min(1.0, max(0.0, (step - first_step) / steps))
