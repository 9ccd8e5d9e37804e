"""Endless streams of batches, each a function of the seed and the step.

Because batch ``t`` depends only on the seed and ``t``, a run that stops at step 1,000
continues with batch 1,000, without any saved state.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import (
    check_integer,
    check_option,
    check_seed,
    numpy_generator,
)

from ._buffers import BufferPool
from ._dataset import AbstractDataset
from ._read_ahead import ReadAhead
from ._row_order import AbstractRowOrder, IndependentRows, ShuffledRows
from ._sampling import AbstractSampler, Companions, Singles
from ._statistics import ChannelStatistics


@dataclass(frozen=True)
class Batch:
    """Images of one training step, with their factors if known.

    Attributes:
        images: Float images in [0, 1], or standardized, ``(batch, channels, height,
            width)``; or vectors ``(batch, length)``.
        factors: Factor values of the images, ``(batch, n_factors)``: int64, or float32
            with NaN for missing labels; ``None`` without labels.
        partner_images: Companions of the images: one tensor like ``images`` for pairs,
            two for triplets, the positives and the negatives.
        partner_factors: Factor values of the companions; empty without labels.
    """

    images: torch.Tensor
    factors: torch.Tensor | None = None
    partner_images: tuple[torch.Tensor, ...] = ()
    partner_factors: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BatchStream:
    """An endless stream of batches that can be started at any step.

    Args:
        dataset: Dataset from which images are drawn.
        size: Number of images (or pairs, or triplets) per batch.
        seed: Seed of the draw; the same seed gives the same batches.
        order: ``"iid"`` draws rows with replacement, by the dataset's weights if it
            has any. ``"shuffled"`` uses every row once per epoch, in a new order each
            time; a batch may contain rows of two epochs, so that all have one size.
        sampler: Sampler of single images, pairs or triplets.
        standardize: Statistics by which channels are standardized, from
            :func:`channel_statistics`; ``None`` leaves pixels in [0, 1].
        channels_last: Whether the channels of a pixel are adjacent in memory, with
            which convolutions are faster.
        device: Device of the tensors.

    Example:
        >>> from unbraid.data import XYSquares
        >>> stream = BatchStream(dataset=XYSquares(), size=4, seed=0)
        >>> batch = stream.batch(10)
        >>> batch.images.shape, batch.factors.shape
        (torch.Size([4, 3, 64, 64]), torch.Size([4, 6]))
        >>> later = next(stream.starting_at(10))
        >>> bool(torch.equal(batch.images, later.images))
        True
    """

    dataset: AbstractDataset
    size: int = 64
    seed: int = 0
    order: Literal["iid", "shuffled"] = "iid"
    sampler: AbstractSampler = field(default_factory=Singles)
    standardize: ChannelStatistics | None = None
    channels_last: bool = False
    device: torch.device | str = "cpu"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_integer("size", self.size, least=1)
        check_option("order", self.order, ("iid", "shuffled"))
        if self.order == "shuffled" and self.dataset.weights is not None:
            raise ValueError(
                "order must be 'iid' for a dataset with weights, got 'shuffled', which "
                "would ignore the weights."
            )

    def __getstate__(self) -> dict[str, Any]:
        # Copies, also those sent to another process, contain settings but no caches.
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __iter__(self) -> Iterator[Batch]:
        return self.starting_at(0)

    def starting_at(self, step: int) -> Iterator[Batch]:
        """Iterate over batches from a step on, without end."""
        while True:
            yield self.batch(step)
            step += 1

    def batch(self, step: int) -> Batch:
        """Return the batch of a step."""
        step = _check_step(step)
        pixels, factors = self._reader.step(step)
        images = self._to_floats(pixels).split(int(self.size))
        if factors is None:
            return Batch(images=images[0], partner_images=images[1:])
        # A copy, because the labels of several steps may share their memory.
        labels = torch.tensor(_for_torch(factors), device=self.device)
        labels = labels.split(int(self.size))
        return Batch(
            images=images[0],
            factors=labels[0],
            partner_images=images[1:],
            partner_factors=labels[1:],
        )

    def rows(self, step: int) -> NDArray[np.int64]:
        """Return row numbers of a batch, ``(size, 1 + n_companions)``."""
        step = _check_step(step)
        anchors = self._order.rows(step)
        if not self.sampler.n_companions:
            return anchors[:, None]
        generator = numpy_generator(self.seed, "companions", step)
        companions = self._companions(anchors, generator=generator)
        return np.column_stack([anchors, companions])

    @cached_property
    def _order(self) -> AbstractRowOrder:
        n_rows, weights = len(self.dataset), self.dataset.weights
        if self.order == "shuffled":
            return ShuffledRows(n_rows, self.size, self.seed)
        return IndependentRows(n_rows, self.size, self.seed, weights)

    @cached_property
    def _companions(self) -> Companions:
        return self.sampler.bind(self.dataset)

    @cached_property
    def _reader(self) -> ReadAhead:
        n_rows = self.size * (1 + self.sampler.n_companions)
        return ReadAhead(
            self.dataset, lambda step: self.rows(step).T.reshape(-1), n_rows
        )

    @cached_property
    def _pool(self) -> BufferPool:
        return BufferPool()

    @cached_property
    def _mean_and_std(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        if self.standardize is None:
            return None
        mean = torch.tensor(self.standardize.mean, device=self.device)
        std = torch.tensor(self.standardize.std, device=self.device)
        std[std == 0] = 1.0  # a channel that never varies is not scaled
        per_channel = (-1, *(1 for _ in self.dataset.image_shape[1:]))
        return mean.reshape(per_channel), std.reshape(per_channel)

    def _to_floats(self, images: NDArray[Any]) -> torch.Tensor:
        """Convert images to floats on the device, in the same memory layout."""
        raw = torch.from_numpy(images)
        if torch.device(self.device).type == "cpu":
            floats = self._empty_like(images).copy_(raw)
        else:
            # Conversion on the device transfers a quarter of the bytes.
            floats = raw.to(self.device, non_blocking=True).float()
        if not raw.is_floating_point():
            floats.mul_(1 / 255)
        if self._mean_and_std is not None:
            mean, std = self._mean_and_std
            floats.sub_(mean).div_(std)
        if self.channels_last and floats.ndim == 4:
            return floats.contiguous(memory_format=torch.channels_last)
        return floats

    def _empty_like(self, images: NDArray[Any]) -> torch.Tensor:
        """Return recycled memory in the layout of the images, for a fast copy."""
        if images.ndim == 4:
            pixels = images.transpose(0, 2, 3, 1)
            if pixels.flags.c_contiguous:
                floats = self._pool.empty(pixels.shape).transpose(0, 3, 1, 2)
                return torch.from_numpy(floats)
        return torch.from_numpy(self._pool.empty(images.shape))


def _check_step(step: int) -> int:
    step = operator.index(step)
    check_integer("step", step, least=0)
    return step


def _for_torch(factors: NDArray[Any]) -> NDArray[Any]:
    # Not every device supports float64.
    return factors.astype(np.float32) if factors.dtype.kind == "f" else factors
