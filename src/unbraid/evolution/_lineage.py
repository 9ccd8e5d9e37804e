"""Who descends from whom in a population, and with which hyperparameters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Member:
    """A place of a population in one generation.

    Attributes:
        place: Among the members of the generation.
        hyperparameters: By path in the settings of a run, during this generation.
        parent: Place in the last generation of the member whose weights it began with;
            ``None`` for fresh weights.
        seeds: Of batches and noise in this generation, and of fresh weights: one for
            each model.
        steps: Updates at the end of this generation, since the weights were fresh.
        score: At the end; ``None`` if it is not known yet, or the member failed.
        failure: Why there is no model.
    """

    place: int
    hyperparameters: Mapping[str, float]
    parent: int | None
    seeds: tuple[int, ...]
    steps: int
    score: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Lineage:
    """All members of all generations that are complete.

    Attributes:
        generations: Members of each, in the order of their places.
        reason: Why there are no more; empty as long as there will be.
    """

    generations: tuple[tuple[Member, ...], ...] = ()
    reason: str = ""

    @property
    def best_scores(self) -> list[float]:
        """Best score of every generation; minus infinity if all members failed."""
        return [
            max((m.score for m in members if m.score is not None), default=-math.inf)
            for members in self.generations
        ]

    @property
    def winner(self) -> tuple[int, int]:
        """Generation and place of the best score, the first of equal ones.

        Raises:
            ValueError: If no member has a score.
        """
        found = [
            (-member.score, number, member.place)
            for number, members in enumerate(self.generations)
            for member in members
            if member.score is not None
        ]
        if not found:
            raise ValueError("population: expected a member with a score, got none.")
        _, generation, place = min(found)
        return generation, place

    def ancestry(self, generation: int, place: int) -> list[Member]:
        """A member and whom it descends from, the first with fresh weights first."""
        line = [self.generations[generation][place]]
        while (parent := line[-1].parent) is not None:
            generation -= 1
            line.append(self.generations[generation][parent])
        return line[::-1]

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "reason": self.reason,
            "generations": [
                [_plain(member) for member in members] for members in self.generations
            ],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Lineage":
        """What :meth:`to_plain` wrote."""
        generations = tuple(
            tuple(Member(**{**plain, "seeds": tuple(plain["seeds"])}) for plain in row)
            for row in data["generations"]
        )
        return cls(generations, data["reason"])


def _plain(member: Member) -> dict[str, Any]:
    words = asdict(member)
    return {**words, "seeds": list(member.seeds)}


def has_converged(best: Sequence[float], *, patience: int, change: float) -> bool:
    """Whether the best score has stood still for some generations.

    Args:
        best: Best score of every generation so far.
        patience: Generations in a row without a change.
        change: Below which a difference is taken for none.

    Example:
        >>> has_converged([0.1, 0.5, 0.502, 0.501], patience=2, change=0.005)
        True
        >>> has_converged([0.1, 0.5, 0.502], patience=2, change=0.005)
        False
    """
    last = best[-patience - 1 :]
    if len(last) <= patience or not all(map(math.isfinite, last)):
        return False
    return all(abs(b - a) < change for a, b in zip(last, last[1:], strict=False))
