"""What all objectives of pairs have in common."""

import abc
from dataclasses import dataclass

from unbraid.data import AbstractSampler, PairRule, Pairs

from ._base import AbstractObjective


@dataclass(frozen=True, kw_only=True)
class AbstractPairObjective(AbstractObjective, abc.ABC):
    """Settings of the pairs that an objective sees.

    Args:
        n_changed: Number of factors in which a pair differs, or the lowest and highest
            number; when not given, all from 1. See :class:`unbraid.data.Pairs`.
        pair_rule: ``"uniform"`` or ``"disentanglement_lib"``, how they are drawn.
    """

    n_changed: int | tuple[int, int] | None = None
    pair_rule: PairRule = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.n_changed, list):  # as read from a file
            object.__setattr__(self, "n_changed", tuple(self.n_changed))
        self.sampler()  # refuses what makes no sense

    def sampler(self) -> AbstractSampler:
        """Pairs that differ in some factors."""
        return Pairs(n_changed=self.n_changed, rule=self.pair_rule)
