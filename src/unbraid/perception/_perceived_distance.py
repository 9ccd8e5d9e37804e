"""Perceived distances: distances between images, measured by a reconstruction loss."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, traversals_of_table
from unbraid.foundation import (
    check_count,
    check_finite,
    check_shape,
    correlate,
    numpy_generator,
    tied,
)

from ._losses import ImageLoss, choose_loss, group_distances, needs_unit_range
from ._pair_groups import (
    PairGroups,
    pairs_along_factor,
    pairs_of_traversals,
    random_pairs,
)

if TYPE_CHECKING:
    import pandas as pd

_VALUES_PER_BATCH = 2**22

RANDOM = "random"
"""Name of the row of random pairs."""


@dataclass(frozen=True, kw_only=True)
class PerceivedDistance:
    """Distances between images that differ in one factor, or in all.

    Attributes:
        factor: Name of the factor, or ``"random"`` for random pairs.
        mean: Mean distance per pixel of two different images; NaN if the factor is
            constant.
        std: Standard deviation of these distances.
        linear: Pearson correlation with the distance of the factors. Images paired with
            themselves count here, as published.
        rank: Spearman correlation with the distance of the factors, including images
            paired with themselves.
        order: Spearman correlation without images paired with themselves, which raise
            the other two even where all images are equally far apart. Distances are
            divided by the mean of their traversal, because some images differ less than
            others in all factors.
        n_values: Number of values of the factor; 0 for random pairs.
        distances: Distances of all pairs of different images, in ascending order.
    """

    factor: str
    mean: float = math.nan
    std: float = math.nan
    linear: float = math.nan
    rank: float = math.nan
    order: float = math.nan
    n_values: int = 0
    distances: NDArray[np.float64] = field(
        default_factory=lambda: np.empty(0), repr=False, compare=False
    )

    def to_plain(self) -> dict[str, Any]:
        """Convert the published numbers to JSON types, ``None`` if not defined."""
        plain: dict[str, Any] = {"factor": self.factor}
        for name in ("mean", "std", "linear", "rank"):
            value = getattr(self, name)
            plain[name] = value if math.isfinite(value) else None
        return plain


@dataclass(frozen=True, kw_only=True)
class PerceivedDistances:
    """Perceived distances along every factor, and between random pairs.

    Attributes:
        dataset: Name of the dataset.
        factors: One record per factor, in the order of the data.
        random: The record of random pairs.
    """

    dataset: str
    factors: tuple[PerceivedDistance, ...]
    random: PerceivedDistance

    @property
    def rows(self) -> tuple[PerceivedDistance, ...]:
        """All records, random pairs last."""
        return (*self.factors, self.random)

    @property
    def importance(self) -> tuple[str, ...]:
        """Factors in the order in which they are likely to be learned."""
        seen = [row for row in self.factors if math.isfinite(row.mean)]
        return tuple(row.factor for row in sorted(seen, key=lambda row: -row.mean))

    def __getitem__(self, factor: str) -> PerceivedDistance:
        for row in self.rows:
            if row.factor == factor:
                return row
        names = ", ".join(row.factor for row in self.rows)
        raise KeyError(f"There is no factor {factor!r}. The factors are {names}.")

    def to_plain(self) -> list[dict[str, Any]]:
        """Convert to a list with a dictionary per record."""
        return [row.to_plain() for row in self.rows]

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row per factor, and random pairs last.

        The columns are the attributes of :class:`PerceivedDistance`, except for the
        distances of single pairs.
        """
        import pandas as pd  # slow to import

        columns = ["factor", "mean", "std", "linear", "rank", "order", "n_values"]
        rows = [[getattr(row, name) for name in columns] for row in self.rows]
        return pd.DataFrame(rows, columns=columns)


def perceived_distances(
    dataset: AbstractDataset,
    loss: ImageLoss | str | Path = "mse",
    *,
    n_pairs: int = 50_000,
    subset_size: int | None = None,
    seed: int = 0,
) -> PerceivedDistances:
    r"""Measure distances between images that differ in one factor, or in all.

    A VAE encodes images close to each other if its reconstruction loss between them is
    small. Therefore factors with large distances are learned first, and in the right
    order if distances grow with the difference of the factor.

    .. math:: d_i = \mathbb{E}_{a,\, b \in \mathcal{Y}^{(a, i)},\, a \neq b}
        \bigl[ d(x^{(a)}, x^{(b)}) \bigr], \qquad
        d_{\text{ran}} = \mathbb{E}_{a,\, b \in \mathcal{Y},\, a \neq b}
        \bigl[ d(x^{(a)}, x^{(b)}) \bigr]

    Distances of factors are differences of their values, summed over factors for random
    pairs (each divided by its range where values are continuous). If combinations of
    factors are missing, pairs along a factor are rows that agree in all other factors.
    All rows have the same weight, whatever their weight in training.

    Args:
        dataset: Any dataset; without labels, there are no correlations.
        loss: A name (``"mse"``, ``"mae"`` or ``"bernoulli"``, alone or followed by
            ``-box`` or ``-gaussian``), the file of a learned loss, a likelihood, a
            model, for the loss that it was trained with, or a function from two arrays
            of images ``(n, ...)`` to distances ``(n,)``.
        n_pairs: Pairs of different images for each row of the result, at least 2.
        subset_size: Draw random pairs with replacement from subsets of this size.
            Images paired with themselves then raise the correlations; the published
            random columns use subsets of 32.
        seed: Seed of the pairs.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1)
        >>> found = perceived_distances(squares, n_pairs=2_000)
        >>> row = found["x_R"]
        >>> round(row.mean, 4), round(row.std, 4), round(row.linear, 2)
        (0.0104, 0.0, 0.52)

    References:
        Michlo (2022), dissertation, Eq. 3.9 and 3.10 (means), Eq. 4.1 and 4.2 with
        perceived in place of latent distances (correlations).
    """
    _check(dataset, n_pairs, subset_size)
    likelihood = choose_loss(loss)
    if needs_unit_range(likelihood) and len(dataset.image_shape) == 1:
        raise ValueError(
            f"The loss {loss!r} needs numbers from 0 to 1, but the dataset has "
            "vectors. Use a loss for any numbers, such as 'mse'."
        )
    known = _known_rows(dataset)
    factors = []
    drawn = _along_factors(dataset, known, n_pairs, seed)
    for column, (name, n_values, pairs) in enumerate(drawn):
        row = PerceivedDistance(factor=name, n_values=n_values)
        if pairs is not None:
            row = _measure(dataset, likelihood, pairs, row, [column])
        factors.append(row)
    generator = numpy_generator(seed, "perceived distances", RANDOM)
    n_rows = len(dataset) if known is None else len(known)
    pairs = random_pairs(n_rows, n_pairs, subset_size=subset_size, generator=generator)
    if known is not None:
        pairs = replace(pairs, rows=known[pairs.rows])
    columns = list(range(len(dataset.factor_names)))
    empty = PerceivedDistance(factor=RANDOM)
    random = _measure(dataset, likelihood, pairs, empty, columns)
    return PerceivedDistances(
        dataset=dataset.name, factors=tuple(factors), random=random
    )


def pair_distances(
    dataset: AbstractDataset,
    loss: ImageLoss,
    pairs: PairGroups,
) -> NDArray[np.float64]:
    """Return the distance per pixel of each pair, ``(n_pairs,)``."""
    n_pixels = math.prod(dataset.image_shape)
    size = pairs.rows.shape[1]
    step = max(1, _VALUES_PER_BATCH // (size * n_pixels))
    found = [np.empty(0)]
    for start in range(0, len(pairs.rows), step):
        rows = pairs.rows[start : start + step]
        begin, end = np.searchsorted(pairs.group, [start, start + step])
        part = slice(begin, end)
        indices = [
            torch.from_numpy(each[part])
            for each in (pairs.group - start, pairs.first, pairs.second)
        ]
        with torch.no_grad():
            images = _double_images(dataset, rows.reshape(-1))
            images = images.reshape(*rows.shape, *dataset.image_shape)
            distances = group_distances(loss, images, *indices)
        distances = torch.as_tensor(distances)
        check_shape("distances of the loss", distances, tuple(indices[0].shape))
        check_finite("distances of the loss", distances)
        found.append(distances.numpy() / n_pixels)
    return np.concatenate(found)


def _double_images(dataset: AbstractDataset, rows: NDArray[np.int64]) -> torch.Tensor:
    """Return images from 0 to 1, or vectors, in double precision to preserve ties."""
    raw = torch.from_numpy(dataset.images(rows))
    return raw.double() if raw.is_floating_point() else raw.double().mul_(1 / 255)


def _measure(
    dataset: AbstractDataset,
    loss: ImageLoss,
    pairs: PairGroups,
    row: PerceivedDistance,
    columns: list[int],
) -> PerceivedDistance:
    """Return a row with its numbers; columns are those of factors that may differ."""
    distances = pair_distances(dataset, loss, pairs)
    is_distinct = pairs.is_distinct
    apart = distances[is_distinct]
    row = replace(
        row,
        mean=float(apart.mean()),
        std=float(apart.std()),
        distances=np.sort(apart),
    )
    if not columns:
        return row
    seen, known = tied(distances), tied(_ground_distances(dataset, pairs, columns))
    relative = tied(_relative(apart, pairs))
    return replace(
        row,
        linear=correlate(seen, known, "pearson"),
        rank=correlate(seen, known, "spearman"),
        order=correlate(relative, known[is_distinct], "spearman"),
    )


def _relative(distances: NDArray[np.float64], pairs: PairGroups) -> NDArray[np.float64]:
    """Divide distances of different images by the mean of their group."""
    if pairs.rows.shape[1] == 2:
        return distances  # a group of two has only one distance
    group = pairs.group[pairs.is_distinct]
    sums = np.bincount(group, weights=distances, minlength=len(pairs.rows))
    means = sums / np.bincount(group, minlength=len(pairs.rows)).clip(1)
    return distances / np.where(means > 0, means, 1.0)[group]


def _ground_distances(
    dataset: AbstractDataset, pairs: PairGroups, columns: list[int]
) -> NDArray[np.float64]:
    """Return the distance of the factors of each pair, ``(n_pairs,)``."""
    labels = np.asarray(dataset.factors(pairs.rows.reshape(-1)), dtype=np.float64)
    if dataset.factor_space is None:
        spans = np.ptp(labels, axis=0)
        labels = labels / np.where(spans > 0, spans, 1.0)
    labels = labels[:, columns].reshape(*pairs.rows.shape, len(columns))
    first, second = labels[pairs.group, pairs.first], labels[pairs.group, pairs.second]
    return np.abs(first - second).sum(axis=1)


def _along_factors(
    dataset: AbstractDataset, known: NDArray[np.int64] | None, n_pairs: int, seed: int
) -> Iterator[tuple[str, int, PairGroups | None]]:
    """Yield name, number of values and pairs of each factor; ``None`` without pairs."""
    space = dataset.factor_space
    streams = {
        name: numpy_generator(seed, "perceived distances", "along", name)
        for name in dataset.factor_names
    }
    if space is not None and dataset.is_grid:
        for name, size in zip(space.names, space.sizes, strict=True):
            pairs = None
            if size > 1:
                pairs = pairs_along_factor(
                    space, name, n_pairs, generator=streams[name]
                )
            yield name, size, pairs
    elif dataset.factor_names:
        known = np.arange(len(dataset)) if known is None else known
        labels = np.asarray(dataset.factors(known))
        classes = [np.unique(column, return_inverse=True)[1] for column in labels.T]
        sizes = [int(column.max()) + 1 for column in classes]
        found = traversals_of_table(known, classes, sizes)
        for name, size, traversals in zip(streams, sizes, found, strict=True):
            pairs = None
            if traversals is not None:
                pairs = pairs_of_traversals(
                    traversals, n_pairs, generator=streams[name]
                )
            yield name, size, pairs


def _known_rows(dataset: AbstractDataset) -> NDArray[np.int64] | None:
    """Return the rows that have all labels, or ``None`` for all rows.

    A grid may have too many rows to list.
    """
    if not dataset.factor_names or dataset.factor_space is not None:
        return None
    rows = np.arange(len(dataset))
    is_known = ~np.isnan(np.asarray(dataset.factors(rows))).any(axis=1)
    if is_known.sum() < 2:
        raise ValueError(
            "perceived_distances needs two images or more that have all labels, but "
            f"only {int(is_known.sum())} of {len(rows)} have."
        )
    return rows[is_known]


def _check(dataset: AbstractDataset, n_pairs: int, subset_size: int | None) -> None:
    if not isinstance(dataset, AbstractDataset):
        raise TypeError(
            f"perceived_distances needs a dataset, got {type(dataset).__name__}. Wrap "
            "arrays in unbraid.data.LabeledImages."
        )
    check_count("The number of images", len(dataset), least=2)
    check_count("n_pairs", n_pairs, least=2)
    if subset_size is not None:
        check_count("subset_size", subset_size, least=2)
