"""Triplets: an anchor, a row that is near it, and a row that is farther away."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset
from ._factor_distance import CyclicKind, DistanceKind, factor_distance
from ._factor_space import FactorSpace
from ._labels import check_known, discrete_factors, factor_position, label_column
from ._sampling import AbstractSampler, Companions
from ._weighted_rows import WeightedRows

TripletDistance = Literal["scaled", "l1", "changed", "category"]
Ties = Literal["resample", "keep"]

# Pairs of rows drawn at a time, and how often, before equal distances are an error.
_TRIES = 256
_MOST_ROUNDS = 500


@dataclass(frozen=True, kw_only=True)
class Triplets(AbstractSampler):
    """Two rows for every anchor, the one that is nearer in the factors first.

    Both rows are drawn at random from the whole dataset (by its weights, if it has
    any; the anchor itself may be among them), then put in order. If their distances
    are equal, both are drawn again. Distances are compared as integers, so that a tie
    is a tie.

    Args:
        distance: ``"scaled"`` (steps as shares of each factor's range), ``"l1"``
            (steps), ``"changed"`` (number of differing factors) or ``"category"`` (the
            nearer row is of the anchor's class, the farther one is not).
        category: The factor that is the class, for distance ``"category"`` only.
        ties: ``"resample"`` rows at equal distance, or ``"keep"`` them in the order in
            which they were drawn.
        cyclic: Steps of cyclic factors along the ``"line"`` of codes, as in the
            dissertation, or the shorter way round the ``"circle"``.

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
        for value, options in (
            (self.distance, get_args(TripletDistance)),
            (self.ties, get_args(Ties)),
            (self.cyclic, get_args(CyclicKind)),
        ):
            if value not in options:
                raise ValueError(f"Triplets: expected one of {options}, got {value!r}.")
        if (self.distance == "category") != (self.category is not None):
            raise ValueError(
                "Triplets: expected a category with distance 'category' and with no "
                f"other, got distance {self.distance!r} and category {self.category!r}."
            )
        if self.distance == "category" and self.ties == "keep":
            raise ValueError(
                "Triplets: expected ties 'resample' with distance 'category', got "
                "'keep'. A triplet by category has no ties."
            )

    def bind(self, dataset: AbstractDataset) -> Companions:
        """The function that draws a nearer and a farther row for each anchor."""
        if self.distance == "category":
            assert self.category is not None
            return _ByCategory(dataset, self.category)
        space = discrete_factors(dataset, who="Triplets")
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
            f"Triplets: expected rows at different distances from row "
            f"{anchors[pending[0]]}, got equal distances {self.kind!r} in "
            f"{_MOST_ROUNDS} draws or more. Use a finer distance, or ties='keep'."
        )

    def _try(
        self, factors: NDArray[np.int64], generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Rows for each anchor, nearer first, and whether they may be used."""
        n = len(factors)
        # Few anchors get many tries at once, because a round costs the same for all.
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
    """Draws from the anchor's class and from the rest directly.

    Drawing both anywhere until one is inside and one outside gives the same
    distribution, but takes hundreds of rounds where there are hundreds of classes.
    """

    def __init__(self, dataset: AbstractDataset, category: str) -> None:
        self._dataset = dataset
        self._column = factor_position(dataset, category, who="Triplets")
        if dataset.factor_kinds[self._column] == "continuous":
            raise ValueError(
                "Triplets: expected a category with countable values, got the "
                f"continuous factor {category!r}."
            )
        labels = label_column(dataset, self._column, who="Triplets")
        check_known(labels, category, who="Triplets")
        weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
        order = np.argsort(labels, kind="stable")
        # Class by class, each class an interval of the cumulative weight.
        self._rows = order[weights[order] > 0]
        self._values, firsts = np.unique(labels[self._rows], return_index=True)
        self._bounds = np.append(firsts, len(self._rows))
        self._heights = np.append(0.0, np.cumsum(weights[self._rows]))
        if len(self._values) < 2:
            raise ValueError(
                f"Triplets: expected rows of two or more classes of {category!r}, got "
                "rows of one class."
            )

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        classes = self._classes(anchors)
        first, end = self._bounds[classes], self._bounds[classes + 1]
        start, stop = self._heights[first], self._heights[end]
        inside = start + generator.random(len(anchors)) * (stop - start)
        outside = generator.random(len(anchors)) * (self._heights[-1] - (stop - start))
        # Clipped, because rounding may carry a height over the edge of its interval.
        near = self._places(inside).clip(first, end - 1)
        is_before = (outside < start) | (end == len(self._rows))
        far = np.where(
            is_before,
            self._places(outside).clip(max=first - 1),
            self._places(outside + stop - start).clip(end, len(self._rows) - 1),
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
                "Triplets: expected anchors of classes with positive weight, got row "
                f"{anchors[~is_drawn][0]}."
            )
        return classes

    def _places(self, heights: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.searchsorted(self._heights[1:], heights, side="right")
