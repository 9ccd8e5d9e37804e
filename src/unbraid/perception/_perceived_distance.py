"""Perceived distances: how far apart images look to a reconstruction loss."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, traversals_of_table
from unbraid.foundation import correlate, numpy_generator, tied

from ._losses import ImageLoss, choose_loss, group_distances, needs_unit_range
from ._pair_groups import (
    GROUP_SIZE,
    PairGroups,
    pairs_along_factor,
    pairs_of_traversals,
    random_pairs,
)

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS_AT_ONCE = 2**22

RANDOM = "random"
"""What the row of pairs from anywhere in the data is called."""


@dataclass(frozen=True, kw_only=True)
class PerceivedDistance:
    """Distances between images that differ in one factor, or in any.

    Attributes:
        factor: Its name, or ``"random"`` for pairs from anywhere.
        mean: Mean distance per pixel of two different images; NaN if the factor has no
            two values.
        std: Standard deviation of these distances.
        linear: Pearson's correlation with the distance of the factors. Images paired
            with themselves count here, as published.
        rank: Spearman's, likewise.
        order: Spearman's without images paired with themselves, which raise the other
            two even where all images look equally far apart, and of distances relative
            to the mean of their traversal, since some images differ less than others in
            all they do.
        n_values: Of the factor; 0 for random pairs.
        distances: Of all pairs of different images, lowest first.
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
        """The published numbers, ``None`` for what is not defined."""
        plain: dict[str, Any] = {"factor": self.factor}
        for name in ("mean", "std", "linear", "rank"):
            value = getattr(self, name)
            plain[name] = value if math.isfinite(value) else None
        return plain


@dataclass(frozen=True, kw_only=True)
class PerceivedDistances:
    """Perceived distances along every factor, and between random pairs.

    Attributes:
        dataset: Its name.
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
        raise KeyError(f"expected one of {names}, got {factor!r}")

    def to_plain(self) -> list[dict[str, Any]]:
        """One dictionary per record, for JSON."""
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
    r"""How far apart images look that differ in one factor, and in all.

    A VAE puts images near each other that its reconstruction loss takes for alike. So
    factors with large distances are learned first, and in the right order if distances
    grow with the difference of the factor.

    .. math:: d_i = \mathbb{E}_{a,\, b \in \mathcal{Y}^{(a, i)},\, a \neq b}
        \bigl[ d(x^{(a)}, x^{(b)}) \bigr], \qquad
        d_{\text{ran}} = \mathbb{E}_{a,\, b \in \mathcal{Y},\, a \neq b}
        \bigl[ d(x^{(a)}, x^{(b)}) \bigr]

    Distances of factors are differences of their values, summed over factors for random
    pairs (each divided by its range where values are continuous). Of an incomplete
    table, those rows make pairs along a factor that agree in all others. Every row
    counts alike, whatever weight it has in training.

    Args:
        dataset: Any; without labels, random pairs have no correlation.
        loss: A name (``"mse"``, ``"mae"``, ``"bernoulli"``, each alone or with
            ``-box`` or ``-gaussian`` behind), the file of a learned loss, a likelihood,
            a model, for the loss that it was trained with, or a function from images
            and others ``(n, ...)`` to distances ``(n,)``.
        n_pairs: Pairs of different images for each row of the result, at least 2.
        subset_size: Take random pairs with replacement from subsets of so many images.
            Images paired with themselves then raise the correlations; the published
            random columns come from subsets of 32.
        seed: Of the pairs.

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
            "perceived_distances: expected a loss for any numbers, such as 'mse', for "
            f"vectors, got {loss!r}, which needs numbers from 0 to 1."
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
    anywhere = PerceivedDistance(factor=RANDOM)
    random = _measure(dataset, likelihood, pairs, anywhere, columns)
    return PerceivedDistances(
        dataset=dataset.name, factors=tuple(factors), random=random
    )


def pair_distances(
    dataset: AbstractDataset,
    loss: ImageLoss,
    pairs: PairGroups,
) -> NDArray[np.float64]:
    """Distance per pixel of each pair, ``(n_pairs,)``."""
    n_pixels = math.prod(dataset.image_shape)
    size = pairs.rows.shape[1]
    step = max(1, _NUMBERS_AT_ONCE // (size * n_pixels))
    found = [np.empty(0)]
    for start in range(0, len(pairs.rows), step):
        rows = pairs.rows[start : start + step]
        begin, end = np.searchsorted(pairs.group, [start, start + step])
        part = slice(begin, end)
        places = [
            torch.from_numpy(each[part])
            for each in (pairs.group - start, pairs.first, pairs.second)
        ]
        with torch.no_grad():
            images = _double_images(dataset, rows.reshape(-1))
            images = images.reshape(*rows.shape, *dataset.image_shape)
            distances = group_distances(loss, images, *places)
        distances = torch.as_tensor(distances)
        if distances.shape != places[0].shape or not distances.isfinite().all():
            raise ValueError(
                "perceived_distances: expected one finite distance for each pair, got "
                f"shape {tuple(distances.shape)} for {len(places[0])} pairs, "
                f"{int((~distances.isfinite()).sum())} of them not finite."
            )
        found.append(distances.numpy() / n_pixels)
    return np.concatenate(found)


def _double_images(dataset: AbstractDataset, rows: NDArray[np.int64]) -> torch.Tensor:
    """Images from 0 to 1, vectors as they are, so precise that ties stay ties."""
    raw = torch.from_numpy(dataset.images(rows))
    return raw.double() if raw.is_floating_point() else raw.double().mul_(1 / 255)


def _measure(
    dataset: AbstractDataset,
    loss: ImageLoss,
    pairs: PairGroups,
    row: PerceivedDistance,
    columns: list[int],
) -> PerceivedDistance:
    """The row with its numbers; columns are those of the factors that may differ."""
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
    """Distances of different images over the mean of their group."""
    if pairs.rows.shape[1] == 2:
        return distances  # a group of two has one distance, which says nothing
    group = pairs.group[pairs.is_distinct]
    sums = np.bincount(group, weights=distances, minlength=len(pairs.rows))
    means = sums / np.bincount(group, minlength=len(pairs.rows)).clip(1)
    return distances / np.where(means > 0, means, 1.0)[group]


def _ground_distances(
    dataset: AbstractDataset, pairs: PairGroups, columns: list[int]
) -> NDArray[np.float64]:
    """Distance of the factors of each pair, ``(n_pairs,)``."""
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
    """Name, number of values and pairs of each factor; ``None`` if there are none."""
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
    """Rows that have all labels, or ``None`` for all rows.

    All rows of a grid may be too many to list.
    """
    if not dataset.factor_names or dataset.factor_space is not None:
        return None
    rows = np.arange(len(dataset))
    is_known = ~np.isnan(np.asarray(dataset.factors(rows))).any(axis=1)
    if is_known.sum() < 2:
        raise ValueError(
            "perceived_distances: expected two images or more that have all labels, "
            f"got {int(is_known.sum())} among {len(rows)}."
        )
    return rows[is_known]


def _check(dataset: AbstractDataset, n_pairs: int, subset_size: int | None) -> None:
    if not isinstance(dataset, AbstractDataset):
        raise TypeError(
            f"perceived_distances: expected a dataset, got {type(dataset).__name__}. "
            "Wrap arrays in unbraid.data.LabeledImages."
        )
    if len(dataset) < 2:
        raise ValueError(
            f"perceived_distances: expected two images or more, got {len(dataset)}."
        )
    if n_pairs < 2:
        raise ValueError(
            f"perceived_distances: expected n_pairs from 2, got {n_pairs!r}."
        )
    if subset_size is not None and subset_size < 2:
        raise ValueError(
            "perceived_distances: expected a subset_size from 2 (published: "
            f"{GROUP_SIZE}), got {subset_size!r}."
        )
