"""Score: a number with details of how it was computed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class Score(float):
    """A score, which is a number with further details.

    Args:
        value: Value of the score.
        name: Short name of the metric, as in tables (``"mig"``).
        variant: Definition or settings that were used, if there are several.
        per_factor: Contribution of each factor to the score, by factor name.
        factors_used: Number of factors behind the value, and number of factors in the
            table; ``None`` for a score that needs no factors, or if it is not known.
        matrix: Values per latent and factor, ``(n_latents, n_factors)``, if the metric
            has them.
        details: Other numbers that belong to the score, by name.
        seed: Seed of the computation, ``None`` if nothing was random.
        seconds: Duration of the computation, if it was measured.
        interval: Interval of another evaluation, if it was estimated.
        chance: Score with shuffled factors, if it was measured.
        ideal: Score of a perfect representation, if it was measured.
        note: Remark for readers, such as factors that were left out.

    Example:
        >>> score = Score(0.5, name="mig", per_factor={"x": 0.4, "y": 0.6})
        >>> score + 0.25, score.per_factor["x"]
        (0.75, 0.4)
    """

    name: str
    variant: str
    per_factor: Mapping[str, float]
    factors_used: tuple[int, int] | None
    matrix: NDArray[np.floating] | None
    details: Mapping[str, float]
    seed: int | None
    seconds: float | None
    interval: tuple[float, float] | None
    chance: float | None
    ideal: float | None
    note: str

    def __new__(
        cls,
        value: float,
        *,
        name: str,
        variant: str = "",
        per_factor: Mapping[str, float] | None = None,
        factors_used: tuple[int, int] | None = None,
        matrix: NDArray[np.floating] | None = None,
        details: Mapping[str, float] | None = None,
        seed: int | None = None,
        seconds: float | None = None,
        interval: tuple[float, float] | None = None,
        chance: float | None = None,
        ideal: float | None = None,
        note: str = "",
    ) -> Self:
        """Make a score; see the class."""
        score = super().__new__(cls, value)
        score.name, score.variant, score.note = name, variant, note
        score.per_factor = _plain(per_factor)
        score.factors_used = factors_used
        score.details = _plain(details)
        score.matrix, score.seed, score.seconds = matrix, seed, seconds
        score.interval, score.chance, score.ideal = interval, chance, ideal
        return score

    @property
    def factors_text(self) -> str:
        """Factors behind the value, such as ``"1 of 4"``; empty if there are none."""
        return "{} of {}".format(*self.factors_used) if self.factors_used else ""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some details changed."""
        return type(self)(**{"value": float(self), **vars(self), **changes})

    def __reduce__(self) -> tuple:
        details = {key: _unplain(value) for key, value in vars(self).items()}
        return _remake, (float(self), details)


def _remake(value: float, details: dict[str, Any]) -> Score:
    return Score(value, **details)


def _plain(values: Mapping[str, float] | None) -> Mapping[str, float]:
    numbers = {str(key): float(value) for key, value in (values or {}).items()}
    return MappingProxyType(numbers)


def _unplain(value: Any) -> Any:
    return dict(value) if isinstance(value, MappingProxyType) else value
