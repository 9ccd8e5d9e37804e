"""The lineage of a population: parents and hyperparameters of all members."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import pydantic


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a population in one generation.

    Attributes:
        index: Index of the member in its generation (``place`` on disk).
        hyperparameters: Hyperparameters during this generation, by path in the settings
            of a run.
        parent: Index of the member of the last generation whose weights it started
            from; ``None`` for new weights.
        seeds: Seed of each model, for batches, noise and new weights.
        steps: Total number of updates at the end of this generation.
        score: Score at the end of the generation; ``None`` if it is not known yet or
            the member failed.
        failure: Reason why the member failed; empty if it did not.
    """

    index: Annotated[int, pydantic.Field(validation_alias="place")]
    hyperparameters: Mapping[str, float]
    parent: int | None
    seeds: tuple[int, ...]
    steps: int
    score: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Lineage:
    """All members of all finished generations.

    Attributes:
        generations: Members of each generation, in order of their index.
        reason: Reason why the population is finished; empty if it is not.
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
        """Generation and index of the member with the best score, the first of ties.

        Raises:
            ValueError: If no member has a score.
        """
        ranked = [
            (-member.score, number, member.index)
            for number, members in enumerate(self.generations)
            for member in members
            if member.score is not None
        ]
        if not ranked:
            raise ValueError("No member of the population has a score.")
        _, generation, index = min(ranked)
        return generation, index

    def ancestry(self, generation: int, index: int) -> list[Member]:
        """Return a member and its ancestors, oldest first."""
        line = [self.generations[generation][index]]
        while (parent := line[-1].parent) is not None:
            generation -= 1
            line.append(self.generations[generation][parent])
        return line[::-1]

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "reason": self.reason,
            "generations": [
                [_to_plain(member) for member in members]
                for members in self.generations
            ],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Lineage":
        """Return the lineage that :meth:`to_plain` converted."""
        generations = tuple(
            tuple(_from_plain(plain) for plain in members)
            for members in data["generations"]
        )
        return cls(generations, data["reason"])


def _to_plain(member: Member) -> dict[str, Any]:
    fields = asdict(member)
    return {"place": fields.pop("index"), **fields, "seeds": list(member.seeds)}


def _from_plain(data: Mapping[str, Any]) -> Member:
    fields = {**data, "seeds": tuple(data["seeds"])}
    return Member(index=fields.pop("place"), **fields)


def has_converged(best: Sequence[float], *, patience: int, change: float) -> bool:
    """Return whether the best score has not changed for some generations.

    Args:
        best: Best score of every generation so far.
        patience: Number of generations in a row without a change.
        change: Smallest difference that counts as a change.

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
