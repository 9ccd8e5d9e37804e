"""The time of a discovery, and how much of it is for training."""

from dataclasses import dataclass

from unbraid.foundation import format_duration

N_LATENTS = 10
OBJECTIVES = ("beta_tc_vae",)

_SHARE = 0.9
"""Share of the time for training; the rest is for ranking and writing."""

_FIXED_SECONDS = 10.0
"""Time to start processes, read data and draw."""

_MARGIN = 1.1
"""Factor on a budget that is recommended: timings vary, and its text is rounded."""

_DEFAULT_SECONDS = (60.0, 1800.0)
"""Shortest and longest budget that is chosen when none is given."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a plan has to fit into.

    Attributes:
        seconds: Time until the end of the discovery; ``None`` takes what a good choice
            needs, from one minute to thirty.
        n_workers: Number of runs at once.
        device: Device on which a step is timed.
        seed: Seed of the first run of each configuration.
        n_latents: Number of latents of each model.
        objectives: Names of the objectives that take part in a race.
    """

    seconds: float | None
    n_workers: int
    device: str = "cpu"
    seed: int = 0
    n_latents: int = N_LATENTS
    objectives: tuple[str, ...] = OBJECTIVES

    def choose_seconds(self, training_seconds: float) -> float:
        """Return the budget, or one that leaves enough time for training.

        Args:
            training_seconds: Training time that a good choice needs.
        """
        if self.seconds is not None:
            return self.seconds
        low, high = _DEFAULT_SECONDS
        return min(max(budget_for(training_seconds), low), high)

    @property
    def most_seconds(self) -> float:
        """The budget, or the longest that is chosen when none is given."""
        return _DEFAULT_SECONDS[1] if self.seconds is None else self.seconds

    def refuse(self, budget: float, training_seconds: float) -> ValueError:
        """Return the error for a budget that is too short.

        Args:
            budget: The budget in seconds.
            training_seconds: Least training time that is worthwhile.
        """
        least = format_duration(_MARGIN * budget_for(training_seconds))
        return ValueError(
            f"discover needs a budget of at least {least} for these data with "
            f"{self.n_workers} runs at once, got {format_duration(budget)}. Use a "
            "larger --budget, or smaller images."
        )


def training_time(budget: float) -> float:
    """Return the seconds of a budget that are for training."""
    return (budget - _FIXED_SECONDS) * _SHARE


def budget_for(training_seconds: float) -> float:
    """Return the budget in seconds that leaves this time for training."""
    return training_seconds / _SHARE + _FIXED_SECONDS
