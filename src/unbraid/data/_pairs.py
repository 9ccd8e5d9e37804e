"""Pairs: an anchor and a row that differs in some factors."""

from dataclasses import dataclass
from math import comb
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_integer, check_option

from ._dataset import AbstractDataset
from ._labels import discrete_factors, label_table
from ._partners import GridPartners, TablePartners
from ._sampling import AbstractSampler, Companions

PairRule = Literal["uniform", "disentanglement_lib"]

# Additional sets of factors tried for an anchor before all rows are compared with it.
_ATTEMPTS = 8


@dataclass(frozen=True, kw_only=True)
class Pairs(AbstractSampler):
    """Sampler of one row for every anchor, which differs from it in some factors.

    Rule ``"uniform"``: the number of factors is drawn uniformly, then the factors, then
    a different value for each of them. Rule ``"disentanglement_lib"``: a number k is
    drawn, then 1 or k factors (with probability 1/2 each) are chosen and their values
    drawn from the whole range, so that they may stay the same. Factors with a single
    value are not counted. Weights are ignored: they determine how often a row is an
    anchor, not its partner.

    In a dataset that is not a complete grid, the row is drawn uniformly from those that
    exist for the chosen factors; if there is none, factors are chosen again. After a
    few failures, the number of factors is drawn among those for which there is a row
    (or is the closest one possible), and one of its rows is drawn.

    Args:
        n_changed: Number k of factors that differ, or the lowest and highest k.
            Default: from 1 to the number of factors, or to one less for rule
            ``"disentanglement_lib"``, as in that library.
        rule: Rule by which pairs are drawn, ``"uniform"`` or ``"disentanglement_lib"``.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.foundation import numpy_generator
        >>> squares, anchors = XYSquares(), np.array([0, 77])
        >>> draw = Pairs(n_changed=2).bind(squares)
        >>> rows = draw(anchors, generator=numpy_generator(0))[:, 0]
        >>> (squares.factors(rows) != squares.factors(anchors)).sum(axis=1)
        array([2, 2])

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises.
        https://arxiv.org/abs/2002.02886. The second rule is ``simple_dynamics`` of
        disentanglement_lib, where k = -1 is our ``None``.
    """

    n_companions: ClassVar[int] = 1

    n_changed: int | tuple[int, int] | None = None
    rule: PairRule = "uniform"

    def __post_init__(self) -> None:
        check_option("rule", self.rule, PairRule)
        match self.n_changed:
            case None:
                pass
            case int(k) if k >= 1:
                pass
            case (int(low), int(high)) if 1 <= low <= high:
                object.__setattr__(self, "n_changed", (low, high))
            case _:
                raise ValueError(
                    "n_changed must be an integer of at least 1, or a range of these "
                    f"(low, high), got {self.n_changed}."
                )

    def bind(self, dataset: AbstractDataset) -> Companions:
        """Return the function that draws a row with changed factors for each anchor."""
        space = discrete_factors(dataset)
        varying = np.flatnonzero(np.array(space.sizes) > 1)
        fewest, most = self._range(len(varying))
        if not len(varying):
            raise ValueError(
                f"Dataset {dataset.name!r} has no factor with more than one value."
            )
        check_integer("n_changed", most, least=1, most=len(varying))
        sizes = np.array(space.sizes)[varying]
        must_differ = self.rule == "uniform"
        if dataset.is_grid:
            partners = GridPartners(sizes, must_differ)
        else:
            partners = TablePartners(
                label_table(dataset)[:, varying],
                sizes,
                must_differ=must_differ,
                n_sets=self._n_sets(len(varying)),
            )
        return _BoundPairs(
            dataset=dataset,
            varying=varying,
            fewest=fewest,
            most=most,
            rule=self.rule,
            partners=partners,
        )

    def _range(self, n_varying: int) -> tuple[int, int]:
        if isinstance(self.n_changed, tuple):
            return self.n_changed
        if self.n_changed is not None:
            return self.n_changed, self.n_changed
        return 1, n_varying if self.rule == "uniform" else max(n_varying - 1, 1)

    def _n_sets(self, n_varying: int) -> int:
        """Return the number of different sets of factors that may change."""
        fewest, most = self._range(n_varying)
        numbers = set(range(fewest, most + 1))
        if self.rule == "disentanglement_lib":
            numbers.add(1)
        return sum(comb(n_varying, k) for k in numbers)


@dataclass(frozen=True, kw_only=True, eq=False)
class _BoundPairs:
    dataset: AbstractDataset
    varying: NDArray[np.int64]
    fewest: int
    most: int
    rule: PairRule
    partners: GridPartners | TablePartners

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        factors = self.dataset.factors(anchors)
        assert factors is not None
        values = factors[:, self.varying]
        changed = self._changed(len(values), generator)
        rows = self.partners.find(values, changed, generator=generator)
        if isinstance(self.partners, TablePartners):
            self._try_others(self.partners, values, rows, generator)
        if (rows < 0).any():
            raise ValueError(
                "All rows have the same labels, so that no row differs from row "
                f"{anchors[rows < 0][0]}."
            )
        return rows[:, None]

    def _try_others(
        self,
        partners: TablePartners,
        values: NDArray[np.int64],
        rows: NDArray[np.int64],
        generator: np.random.Generator,
    ) -> None:
        """Find the missing rows, with other changed factors."""
        for _ in range(_ATTEMPTS if partners.is_quick else 0):
            pending = np.flatnonzero(rows < 0)
            if not pending.size:
                return
            changed = self._changed(len(pending), generator)
            rows[pending] = partners.find(values[pending], changed, generator=generator)
        for index in np.flatnonzero(rows < 0):
            rows[index] = partners.find_any(
                values[index], fewest=self.fewest, most=self.most, generator=generator
            )

    def _changed(self, n: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Draw the factors that change, for ``n`` anchors, ``(n, n_varying)``."""
        counts = generator.integers(self.fewest, self.most + 1, size=n)
        if self.rule == "disentanglement_lib":
            counts = np.where(generator.random(n) < 0.5, 1, counts)
        is_changed = np.arange(len(self.varying)) < counts[:, None]
        return generator.permuted(is_changed, axis=1)
