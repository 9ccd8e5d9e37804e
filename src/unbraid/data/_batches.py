"""A dataset as an endless stream of batches, each a function of the seed and the step.

Because batch ``t`` depends on nothing but the seed and ``t``, a run that stops at step
1,000 goes on with batch 1,000, with no state to save.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.foundation import check_seed, numpy_generator

from ._buffers import BufferPool
from ._dataset import AbstractDataset
from ._read_ahead import ReadAhead
from ._row_order import AbstractRowOrder, IndependentRows, ShuffledRows
from ._sampling import AbstractSampler, Companions, Singles
from ._statistics import ChannelStatistics


@dataclass(frozen=True)
class Batch:
    """What an objective sees at one step.

    Attributes:
        images: Float images in [0, 1], or standardized, ``(batch, channels, height,
            width)``; or vectors ``(batch, length)``.
        factors: Factor values of the images, ``(batch, n_factors)``: int64, or float32
            with NaN for missing ones; ``None`` without labels.
        partner_images: For pairs one tensor like ``images``, for triplets two, the
            positive and the negative.
        partner_factors: Likewise for ``factors``; empty without labels.
    """

    images: torch.Tensor
    factors: torch.Tensor | None = None
    partner_images: tuple[torch.Tensor, ...] = ()
    partner_factors: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BatchStream:
    """An endless stream of batches that can be entered at any step.

    Args:
        dataset: Where the images come from.
        size: Images (or pairs, or triplets) per batch.
        seed: The same seed gives the same batches.
        order: ``"iid"`` draws rows with replacement, by the dataset's weights if it
            has any. ``"shuffled"`` goes through every row once, in a new order each
            time round; a batch may straddle two rounds, so that all have one size.
        sampler: Which images go together: singles, pairs or triplets.
        standardize: Constants to subtract and divide by, from
            :func:`channel_statistics`; ``None`` leaves pixels in [0, 1].
        channels_last: Keep the channels of a pixel together in memory, which
            convolutions are faster with.
        device: Where the tensors are put.

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
        if not isinstance(self.size, int | np.integer) or self.size < 1:
            raise ValueError(
                f"BatchStream: expected a size of at least 1, got {self.size!r}."
            )
        if self.order not in ("iid", "shuffled"):
            raise ValueError(
                f"BatchStream: expected order 'iid' or 'shuffled', got {self.order!r}."
            )
        if self.order == "shuffled" and self.dataset.weights is not None:
            raise ValueError(
                "BatchStream: expected order 'iid' for a dataset with weights, got "
                "'shuffled', which would show every row equally often."
            )

    def __getstate__(self) -> dict[str, Any]:
        # What is copied or sent to another process is the recipe, not its caches.
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __iter__(self) -> Iterator[Batch]:
        return self.starting_at(0)

    def starting_at(self, step: int) -> Iterator[Batch]:
        """Batches from a step on, without end."""
        while True:
            yield self.batch(step)
            step += 1

    def batch(self, step: int) -> Batch:
        """The batch of one step."""
        step = _checked_step(step)
        pixels, factors = self._reader.step(step)
        images = self._to_floats(pixels).split(int(self.size))
        if factors is None:
            return Batch(images=images[0], partner_images=images[1:])
        # A tensor of its own: the labels of several steps may share their memory.
        labels = torch.tensor(_for_torch(factors), device=self.device)
        labels = labels.split(int(self.size))
        return Batch(
            images=images[0],
            factors=labels[0],
            partner_images=images[1:],
            partner_factors=labels[1:],
        )

    def rows(self, step: int) -> NDArray[np.int64]:
        """Row numbers of a batch, ``(size, 1 + n_companions)``, anchors first."""
        step = _checked_step(step)
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
        std[std == 0] = 1.0  # a channel that never varies is only shifted
        per_channel = (-1, *(1 for _ in self.dataset.image_shape[1:]))
        return mean.reshape(per_channel), std.reshape(per_channel)

    def _to_floats(self, images: NDArray[Any]) -> torch.Tensor:
        """Float images on the device, channels last in memory if they came so."""
        raw = torch.from_numpy(images)
        if torch.device(self.device).type == "cpu":
            floats = self._empty_like(images).copy_(raw)
        else:
            # A quarter of the bytes to move when the conversion is done over there.
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
        """Recycled memory in the layout of the images, so that copying is fast."""
        if images.ndim == 4:
            pixels = images.transpose(0, 2, 3, 1)
            if pixels.flags.c_contiguous:
                floats = self._pool.empty(pixels.shape).transpose(0, 3, 1, 2)
                return torch.from_numpy(floats)
        return torch.from_numpy(self._pool.empty(images.shape))


def _checked_step(step: int) -> int:
    step = operator.index(step)
    if step < 0:
        raise ValueError(f"BatchStream: expected a step from 0, got {step}.")
    return step


def _for_torch(factors: NDArray[Any]) -> NDArray[Any]:
    # Not every device has float64.
    return factors.astype(np.float32) if factors.dtype.kind == "f" else factors
