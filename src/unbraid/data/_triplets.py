"""Triplets: an anchor, a closer row and a farther row."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_option

from ._dataset import AbstractDataset
from ._factor_distance import CyclicKind, DistanceKind, factor_distance
from ._factor_space import FactorSpace
from ._labels import check_known, discrete_factors, factor_position, label_column
from ._sampling import AbstractSampler, Companions
from ._weighted_rows import WeightedRows

TripletDistance = Literal["scaled", "l1", "changed", "category"]
Ties = Literal["resample", "keep"]

# Pairs of rows drawn at a time, and draws before equal distances are an error.
_TRIES = 256
_MOST_ROUNDS = 500


@dataclass(frozen=True, kw_only=True)
class Triplets(AbstractSampler):
    """Sampler of two rows for every anchor, ordered by their distance in the factors.

    Both rows are drawn at random from the whole dataset (by its weights, if it has any;
    the anchor itself may be among them), and the closer one comes first. If their
    distances are equal, both are drawn again. Distances are compared as integers, so
    that ties are exact.

    Args:
        distance: Distance between factors: ``"scaled"`` (steps as fractions of each
            factor's range), ``"l1"`` (steps), ``"changed"`` (number of different
            factors) or ``"category"`` (the closer row is of the anchor's class, the
            farther one is not).
        category: Name of the factor that is the class; distance ``"category"`` only.
        ties: ``"resample"`` rows at equal distance, or ``"keep"`` them in the order in
            which they were drawn.
        cyclic: Distance of values of cyclic factors: ``"line"``, the difference of the
            integers, as in the dissertation, or ``"circle"``, the shorter way around.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.foundation import numpy_generator
        >>> squares = XYSquares(n_squares=1)
        >>> draw = Triplets(distance="l1").bind(squares)
        >>> rows = draw(np.array([0]), generator=numpy_generator(0))
        >>> squares.factors(rows[0])
        array([[1, 1],
               [4, 3]])

    References:
        Michlo (2022), dissertation, section 5.2: order Eq. 5.3, category Eq. 5.5,
        changed Eq. 5.6, l1 Eq. 5.9, scaled Eq. 5.11.
    """

    n_companions: ClassVar[int] = 2

    distance: TripletDistance = "scaled"
    category: str | None = None
    ties: Ties = "resample"
    cyclic: CyclicKind = "line"

    def __post_init__(self) -> None:
        check_option("distance", self.distance, TripletDistance)
        check_option("ties", self.ties, Ties)
        check_option("cyclic", self.cyclic, CyclicKind)
        if (self.distance == "category") != (self.category is not None):
            raise ValueError(
                "category must be given if and only if distance is 'category', got "
                f"distance {self.distance!r} and category {self.category!r}."
            )
        if self.distance == "category" and self.ties == "keep":
            raise ValueError(
                "ties must be 'resample' if distance is 'category', got 'keep'. "
                "Triplets by category have no ties."
            )

    def bind(self, dataset: AbstractDataset) -> Companions:
        """Return the function that draws a closer and a farther row for each anchor."""
        if self.distance == "category":
            assert self.category is not None
            return _ByCategory(dataset, self.category)
        space = discrete_factors(dataset)
        return _ByDistance(
            dataset=dataset,
            space=space,
            kind=self.distance,
            ties=self.ties,
            cyclic=self.cyclic,
            rows=WeightedRows(len(dataset), dataset.weights),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _ByDistance:
    dataset: AbstractDataset
    space: FactorSpace
    kind: DistanceKind
    ties: Ties
    cyclic: CyclicKind
    rows: WeightedRows

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        factors = self.dataset.factors(anchors)
        assert factors is not None
        drawn = np.empty((len(anchors), 2), dtype=np.int64)
        pending = np.arange(len(anchors))
        for _ in range(_MOST_ROUNDS):
            if not pending.size:
                return drawn
            rows, is_untied = self._try(factors[pending], generator)
            drawn[pending] = rows
            pending = pending[~is_untied]
        raise ValueError(
            f"No rows at different distances {self.kind!r} from row "
            f"{anchors[pending[0]]} were found in {_MOST_ROUNDS} draws or more. Use "
            "another distance, or ties='keep'."
        )

    def _try(
        self, factors: NDArray[np.int64], generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Draw rows for each anchor, closer first; return whether they can be used."""
        n = len(factors)
        # Few anchors get many tries at once, because the cost of a round is the same.
        n_tries = 1 if self.ties == "keep" else 1 + _TRIES // n
        rows = self.rows.draw((n, n_tries, 2), generator)
        others = self.dataset.factors(rows.ravel())
        assert others is not None
        to_first, to_second = factor_distance(
            factors[:, None, None],
            others.reshape(*rows.shape, -1),
            self.space,
            self.kind,
            cyclic=self.cyclic,
        ).transpose(2, 0, 1)
        is_untied = (to_first != to_second) | (self.ties == "keep")
        chosen = np.arange(n), is_untied.argmax(axis=1)
        is_ordered = (to_first <= to_second)[chosen]
        rows = rows[chosen]
        return np.where(is_ordered[:, None], rows, rows[:, ::-1]), is_untied[chosen]


class _ByCategory:
    """Draw one row from the anchor's class and one from the other classes.

    Drawing both from all rows until one is inside and one outside has the same
    distribution, but takes hundreds of rounds if there are hundreds of classes.
    """

    def __init__(self, dataset: AbstractDataset, category: str) -> None:
        self._dataset = dataset
        self._column = factor_position(dataset, category)
        if dataset.factor_kinds[self._column] == "continuous":
            raise ValueError(
                f"category must be a discrete factor, but {category!r} is continuous."
            )
        labels = label_column(dataset, self._column)
        check_known(labels, category)
        weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
        order = np.argsort(labels, kind="stable")
        # Rows sorted by class; each class is an interval of the cumulative weight.
        self._rows = order[weights[order] > 0]
        self._values, firsts = np.unique(labels[self._rows], return_index=True)
        self._bounds = np.append(firsts, len(self._rows))
        self._heights = np.append(0.0, np.cumsum(weights[self._rows]))
        if len(self._values) < 2:
            raise ValueError(
                f"There must be at least two classes of {category!r}, got one."
            )

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        classes = self._classes(anchors)
        first, end = self._bounds[classes], self._bounds[classes + 1]
        start, stop = self._heights[first], self._heights[end]
        inside = start + generator.random(len(anchors)) * (stop - start)
        outside = generator.random(len(anchors)) * (self._heights[-1] - (stop - start))
        # Clipped, because rounding may move a height out of its interval.
        near = self._find(inside).clip(first, end - 1)
        is_before = (outside < start) | (end == len(self._rows))
        far = np.where(
            is_before,
            self._find(outside).clip(max=first - 1),
            self._find(outside + stop - start).clip(end, len(self._rows) - 1),
        )
        return self._rows[np.stack([near, far], axis=1)]

    def _classes(self, anchors: NDArray[np.int64]) -> NDArray[np.int64]:
        factors = self._dataset.factors(anchors)
        assert factors is not None
        labels = factors[:, self._column]
        classes = np.searchsorted(self._values, labels).clip(max=len(self._values) - 1)
        is_drawn = self._values[classes] == labels
        if not is_drawn.all():
            raise ValueError(
                "Anchors must be of classes with positive weight, but row "
                f"{anchors[~is_drawn][0]} is not."
            )
        return classes

    def _find(self, heights: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.searchsorted(self._heights[1:], heights, side="right")
