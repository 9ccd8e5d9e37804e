"""Learning a reconstruction loss whose distances follow those of the factors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace, factor_distance, float_images
from unbraid.foundation import (
    check_count,
    check_number,
    check_option,
    numpy_generator,
)
from unbraid.models import Gaussian, KernelAugmented, pad_kernel

from ._distance_matrices import require_grid
from ._losses import squared_distances
from ._soft_rank import soft_rank_correlation

Direction = Literal["help", "hinder"]

_FIRST_WEIGHT = 8.0  # as a box of radius 31 does for squares of 8 pixels
_TRAVERSALS = 8
_MAX_VALUES = 8


@dataclass(frozen=True, kw_only=True)
class LearnedLoss:
    """Result of :func:`learn_loss`.

    Attributes:
        likelihood: Squared error, plus squared error through the learned kernel, which
            sums to 1; for ``unbraid.fit(..., likelihood=...)``, and for
            ``unbraid.models.save_likelihood``.
        correlations: Soft rank correlation at each step, before the step,
            ``(n_steps,)``.
    """

    likelihood: KernelAugmented
    correlations: NDArray[np.float64]


def learn_loss(
    dataset: AbstractDataset,
    *,
    radius: int | None = None,
    per_channel: bool = False,
    direction: Direction = "help",
    along_factors: float = 0.5,
    steps: int = 500,
    batch_size: int = 64,
    learning_rate: float = 0.1,
    regularization: float = 0.3,
    seed: int = 0,
) -> LearnedLoss:
    r"""Learn a kernel with which distances between images follow those of factors.

    Squared error depends only on whether pixels overlap. A kernel spreads them out;
    this one is trained so that the ranks of perceived distances agree with those of the
    scaled distances of the factors. Learning needs labels, but the loss can then be
    used without labels on other data of the same kind and size.

    .. math:: \max_k \; \rho \bigl( d_{\text{scaled}}(y, y'),\;
        \|x - x'\|^2 + \|k * (x - x')\|^2 \bigr)

    The kernel starts as a tent, which falls from the center to the edges, with a weight
    above that of the pixels. (With a box as wide as the images there would be no
    gradient, because all images with the same number of lit pixels would be equal.) Its
    absolute value is used, averaged over flips and quarter turns, so that it is
    non-negative and symmetric.

    Args:
        dataset: Dataset with every combination of its factors.
        radius: Pixels from the center of the kernel to its edge, at most the longer
            side of the images. By default the largest kernel that fits into the shorter
            side. If it is the longer side, the outermost values stay 0, because no two
            pixels are that far apart.
        per_channel: Learn a kernel per channel, instead of one for all.
        direction: ``"help"`` maximizes the correlation, ``"hinder"`` minimizes it, for
            adversarial losses.
        along_factors: Weight of the correlation along single factors, from 0 to 1; the
            rest is the weight of the correlation of random pairs.
        steps: Number of steps of Adam.
        batch_size: Images per step, all of whose pairs are compared, at least 3.
        learning_rate: Learning rate of Adam, relative to the root mean square of the
            initial kernel; falls to 0 over the steps.
        regularization: Regularization of the soft ranks, see
            :func:`soft_rank_correlation`.
        seed: Seed of the batches.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> learned = learn_loss(squares, steps=20, batch_size=16)
        >>> np.array(learned.likelihood.kernel).shape
        (7, 7)

    References:
        Michlo (2022), dissertation, section 6.1, Eq. 6.1 to 6.3, and Table A.6 (there
        28,800 steps on 4,096 of the pairs of 512 images, radius 15, 31, 47 and 64).
        Pairs along factors are our addition.
    """
    space = require_grid("learn_loss", dataset)
    if len(dataset.image_shape) != 3:
        raise ValueError("learn_loss needs images, but the dataset has vectors.")
    channels, height, width = dataset.image_shape
    if radius is None:
        radius = (min(height, width) - 1) // 2
    _check_radius(radius, (height, width))
    check_count("steps", steps, least=1)
    check_count("batch_size", batch_size, least=3)
    check_option("direction", direction, Direction)
    _check_share(along_factors, space)
    first = _first_kernel(radius, (height, width))
    raw = first.repeat(channels if per_channel else 1, 1, 1).requires_grad_()
    generator = numpy_generator(seed, "learn loss")
    # Apart from its shape, because the weight of the kernel may change a lot.
    size = _first_size(dataset, _random_rows(space, batch_size, generator), raw)
    optimizer = torch.optim.Adam([raw, size], lr=learning_rate)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    sign = -1.0 if direction == "help" else 1.0
    correlations = np.empty(steps)
    for step in range(steps):
        kernel = _kernel(raw, size)
        batches = [(1.0 - along_factors, _random_rows(space, batch_size, generator))]
        if along_factors:
            batches.append((along_factors, _traversal_rows(space, generator)))
        correlation = sum(
            (
                share
                * soft_rank_correlation(
                    _distances(dataset, rows, kernel),
                    _factor_distances(space, rows),
                    regularization=regularization,
                )
                for share, rows in batches
                if share
            ),
            start=torch.zeros(()),
        )
        optimizer.zero_grad()
        (sign * correlation).backward()
        optimizer.step()
        decay.step()
        correlations[step] = correlation.item()
    return LearnedLoss(likelihood=_likelihood(raw, size), correlations=correlations)


def _kernel(raw: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """Return the symmetric, non-negative kernel, ``(n, side, side)``.

    Its squares sum to 1 for the initial raw values and a logarithmic size of 0.
    """
    kernel = raw.abs() * size.exp() / raw.shape[-1]
    for change in (
        lambda table: table.flip(-1),
        lambda table: table.flip(-2),
        lambda table: table.mT,
    ):
        kernel = 0.5 * (kernel + change(kernel))
    return kernel


def _first_kernel(radius: int, image_sides: tuple[int, int]) -> torch.Tensor:
    """Return a tent with a root mean square of 1, ``(side, side)``."""
    offsets = torch.arange(-radius, radius + 1).abs()
    # No two pixels of an image are as far apart as its longer side.
    line = (1.0 - offsets / (radius + 1)) * (offsets < max(image_sides))
    tent = torch.outer(line, line)
    return tent / tent.square().mean().sqrt()


def _first_size(
    dataset: AbstractDataset, rows: NDArray[np.int64], raw: torch.Tensor
) -> torch.Tensor:
    """Return the logarithm of the size at which the kernel has its initial weight."""
    with torch.no_grad():
        plain = _distances(dataset, rows, torch.zeros_like(raw)).mean()
        both = _distances(dataset, rows, _kernel(raw, torch.zeros(()))).mean()
    if not plain > 0.0:
        raise ValueError(
            f"learn_loss needs images that differ, but {rows.size} of them are equal."
        )
    ratio = _FIRST_WEIGHT * plain / (both - plain).clamp_min(1e-6 * plain)
    return (0.5 * ratio.log()).requires_grad_()


def _likelihood(raw: torch.Tensor, size: torch.Tensor) -> KernelAugmented:
    kernel = _kernel(raw.detach(), size.detach()).double().numpy()
    # The kernel sums to 1; the weight accounts for its size.
    total = float(kernel.sum(axis=(1, 2)).mean())
    if not total > 0.0:
        raise ValueError("The kernel became 0. Lower the learning rate of learn_loss.")
    values = kernel / total
    return KernelAugmented(
        base=Gaussian(),
        kernel=(values[0] if len(values) == 1 else values).tolist(),
        weight=total**2,
    )


def _distances(
    dataset: AbstractDataset, rows: NDArray[np.int64], kernel: torch.Tensor
) -> torch.Tensor:
    """Return the perceived distances of all pairs of each group, in one array."""
    images = float_images(dataset, rows.reshape(-1))
    height, width = images.shape[2:]
    placed, sides = pad_kernel(kernel, (height, width))
    spectrum = torch.fft.rfft2(images, s=sides) * torch.fft.rfft2(placed)
    blurred = torch.fft.irfft2(spectrum, s=sides)[..., :height, :width]
    both = torch.cat([images.flatten(1), blurred.flatten(1)], dim=1)
    tables = squared_distances(both.reshape(*rows.shape, -1))
    first, second = np.triu_indices(rows.shape[1], 1)
    return tables[:, first, second].reshape(-1)


def _factor_distances(space: FactorSpace, rows: NDArray[np.int64]) -> torch.Tensor:
    first, second = np.triu_indices(rows.shape[1], 1)
    values = space.factors(rows)
    distances = factor_distance(values[:, first], values[:, second], space)
    return torch.from_numpy(distances.reshape(-1))


def _random_rows(
    space: FactorSpace, batch_size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    return generator.integers(space.size, size=(1, batch_size))


def _traversal_rows(
    space: FactorSpace, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows of traversals of a random factor, ``(n_traversals, n_values)``."""
    can_vary = [name for name, n in zip(space.names, space.sizes, strict=True) if n > 2]
    factor = can_vary[generator.integers(len(can_vary))]
    origins = generator.integers(space.size, size=_TRAVERSALS)
    rows = space.traversals(factor, origins)
    chosen = generator.random(rows.shape).argsort(axis=1)[:, :_MAX_VALUES]
    return np.take_along_axis(rows, chosen, axis=1)


def _check_radius(radius: int, image_sides: tuple[int, int]) -> None:
    if isinstance(radius, bool) or not isinstance(radius, int | np.integer):
        raise TypeError(f"radius must be an integer, got {radius!r}.")
    largest = max(image_sides)
    if not 0 <= radius <= largest:
        height, width = image_sides
        raise ValueError(
            f"radius must be between 0 and {largest} for images of {height}x{width} "
            f"pixels, got {radius}."
        )


def _check_share(along_factors: float, space: FactorSpace) -> None:
    check_number("along_factors", along_factors, least=0.0, most=1.0)
    if along_factors and max(space.sizes, default=0) < 3:
        raise ValueError(
            "along_factors needs a factor with three values or more, but the factors "
            f"have {space.sizes} values. Use along_factors=0."
        )
