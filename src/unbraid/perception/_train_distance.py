"""Training a distance between images to follow that of the factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import check_count, check_number, check_option
from unbraid.models import AbstractLikelihood

from ._labeled_pairs import AbstractLabeledRows
from ._losses import squared_distances
from ._soft_rank import soft_rank_correlation

Direction = Literal["help", "hinder"]
L = TypeVar("L", bound=AbstractLikelihood)


@dataclass(frozen=True, kw_only=True)
class LearnedLoss(Generic[L]):
    """Result of :func:`learn_loss` or :func:`learn_features`.

    Attributes:
        likelihood: Squared error, plus squared error through what was learned; for
            ``unbraid.fit(..., likelihood=...)``, and for
            ``unbraid.models.save_likelihood``.
        correlations: Soft rank correlation at each step, before the step,
            ``(n_steps,)``.
    """

    likelihood: L
    correlations: NDArray[np.float64]


class TrainableDistance(Protocol):
    """A distance between images with parameters."""

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Parameters to optimize."""
        ...

    def distances(self, batches: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return distances of all pairs of each group, one array per batch.

        Args:
            batches: Images ``(n_groups, group_size, channels, height, width)``; the
                first batch is of random images.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class DistanceTraining:
    """Settings of the training of a distance, described in :func:`learn_loss`."""

    direction: Direction
    along_factors: float | None
    steps: int
    batch_size: int
    n_pairs: int | None
    learning_rate: float
    regularization: float
    progress: bool

    def __post_init__(self) -> None:
        check_count("steps", self.steps, least=1)
        check_count("batch_size", self.batch_size, least=3)
        check_option("direction", self.direction, Direction)
        check_number("learning_rate", self.learning_rate, least=0.0)
        if self.n_pairs is not None:
            check_count("n_pairs", self.n_pairs, least=2)

    def run(
        self,
        distance: TrainableDistance,
        dataset: AbstractDataset,
        labeled: AbstractLabeledRows,
        generator: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Train a distance, and return the correlation at each step, ``(n_steps,)``.

        Args:
            distance: Distance, changed in place.
            dataset: Dataset of the images.
            labeled: Its labeled rows.
            generator: Source of the batches.
        """
        share = labeled.choose_share(self.along_factors)
        optimizer = torch.optim.Adam(distance.parameters, lr=self.learning_rate)
        decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.steps)
        sign = -1.0 if self.direction == "help" else 1.0
        correlations = np.empty(self.steps)
        # Shown on terminals only.
        hide = None if self.progress else True
        for step in tqdm(range(self.steps), "learning", disable=hide, leave=False):
            correlation = self._correlate(distance, dataset, labeled, share, generator)
            optimizer.zero_grad()
            (sign * correlation).backward()
            optimizer.step()
            decay.step()
            correlations[step] = correlation.item()
        return correlations

    def _correlate(
        self,
        distance: TrainableDistance,
        dataset: AbstractDataset,
        labeled: AbstractLabeledRows,
        share: float,
        generator: np.random.Generator,
    ) -> torch.Tensor:
        """Return the correlation of a random batch and of traversals, weighted."""
        rows = [labeled.draw(self.batch_size, generator)]
        if share:
            rows.append(labeled.draw_traversals(generator))
        found = distance.distances([read_images(dataset, each) for each in rows])
        correlation = torch.zeros(())
        for number, weight in enumerate((1.0 - share, share)[: len(rows)]):
            if not weight:
                continue
            known = labeled.distances(rows[number])
            kept = self._choose(known, generator if number == 0 else None)
            correlation = correlation + weight * soft_rank_correlation(
                found[number][kept], known[kept], regularization=self.regularization
            )
        return correlation

    def _choose(
        self, known: torch.Tensor, generator: np.random.Generator | None
    ) -> torch.Tensor:
        """Return the pairs to compare: those with a distance, or some of them."""
        kept = torch.arange(len(known))
        if known.is_floating_point():
            kept = kept[~known.isnan()]
        if len(kept) < 2:
            raise ValueError(
                f"No two pairs of {self.batch_size} images have a common label. Use a "
                "larger batch_size, or label more images."
            )
        if generator is None or self.n_pairs is None or len(kept) <= self.n_pairs:
            return kept
        return kept[generator.choice(len(kept), self.n_pairs, replace=False)]


def read_images(dataset: AbstractDataset, rows: NDArray[np.int64]) -> torch.Tensor:
    """Return images of groups of rows, ``(n_groups, group_size, *image_shape)``."""
    return float_images(dataset, rows.reshape(-1)).unflatten(0, rows.shape)


def pair_squares(points: torch.Tensor) -> torch.Tensor:
    """Return squared distances of all pairs of each group, in one array.

    Args:
        points: Points ``(n_groups, group_size, n_dimensions)``.
    """
    first, second = np.triu_indices(points.shape[1], 1)
    return squared_distances(points)[:, first, second].reshape(-1)


def require_difference(caller: str, plain: torch.Tensor, n_images: int) -> None:
    """Raise an error if all images of the first batch are equal."""
    if not plain.mean() > 0.0:
        raise ValueError(
            f"{caller} needs images that differ, but {n_images} of them are equal."
        )
