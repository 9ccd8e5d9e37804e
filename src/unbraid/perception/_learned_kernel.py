"""A reconstruction loss learned so that images look as far apart as their factors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace, factor_distance, float_images
from unbraid.foundation import numpy_generator
from unbraid.models import Gaussian, KernelAugmented, pad_kernel

from ._distance_matrices import require_grid
from ._losses import squared_distances
from ._soft_rank import soft_rank_correlation

Direction = Literal["help", "hinder"]

_OUTWEIGHS = 8.0  # as a box of radius 31 does for squares of 8 pixels
_TRAVERSALS = 8
_MOST_VALUES = 8


@dataclass(frozen=True, kw_only=True)
class LearnedLoss:
    """What :func:`learn_loss` found.

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
    r"""Learn a kernel through which images look as far apart as their factors are.

    Squared error sees only whether pixels overlap. A kernel spreads them out; this one
    is trained so that the ranks of perceived distances agree with those of the scaled
    distances of the factors. It needs labels, but once learned can be used without any,
    on other data of the same kind and size.

    .. math:: \max_k \; \rho \bigl( d_{\text{scaled}}(y, y'),\;
        \|x - x'\|^2 + \|k * (x - x')\|^2 \bigr)

    The kernel starts as a tent that outweighs the pixels: it falls from its middle to
    its edges. (A box as wide as the images would start without a gradient, because it
    sees all images with the same number of lit pixels as equal.) The kernel is kept
    non-negative by its absolute value, and the same after a flip or a quarter turn by
    averaging over these.

    Args:
        dataset: The complete grid of its factors.
        radius: Pixels to each side of the kernel's middle, at most the longer side of
            the images; as many as fit twice into the shorter side, less one, when not
            given. At the longer side itself the outermost numbers stay 0, since no
            two pixels of an image are that far apart.
        per_channel: A kernel for each channel, instead of one for all.
        direction: ``"hinder"`` makes the correlation as low as possible: adversarial.
        along_factors: Share of the correlation along single factors in what is trained,
            from 0 to 1; the rest is that of random pairs.
        steps: Of Adam.
        batch_size: Images of a step, all of whose pairs are compared, at least 3.
        learning_rate: Learning rate of Adam, relative to the root mean square of the
            numbers of the first kernel; falls to 0 over the steps.
        regularization: Of the soft ranks, see :func:`soft_rank_correlation`.
        seed: Of the batches.

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
        raise ValueError("learn_loss: expected images, got vectors.")
    channels, height, width = dataset.image_shape
    if radius is None:
        radius = (min(height, width) - 1) // 2
    _check_radius(radius, (height, width))
    _check(direction, steps, batch_size)
    _check_share(along_factors, space)
    first = _first_kernel(radius, (height, width))
    raw = first.repeat(channels if per_channel else 1, 1, 1).requires_grad_()
    generator = numpy_generator(seed, "learn loss")
    # Apart from its form, because how much the kernel weighs may have far to go.
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
    """Symmetric and non-negative, ``(n, side, side)``.

    The squares sum to 1 for the first raw numbers and a logarithmic size of zero.
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
    """A tent whose numbers have a root mean square of 1, ``(side, side)``."""
    offsets = torch.arange(-radius, radius + 1).abs()
    # No two pixels of an image are as far apart as its longer side.
    line = (1.0 - offsets / (radius + 1)) * (offsets < max(image_sides))
    tent = torch.outer(line, line)
    return tent / tent.square().mean().sqrt()


def _first_size(
    dataset: AbstractDataset, rows: NDArray[np.int64], raw: torch.Tensor
) -> torch.Tensor:
    """Logarithm of the size at which the kernel outweighs pixels as it is set to."""
    with torch.no_grad():
        plain = _distances(dataset, rows, torch.zeros_like(raw)).mean()
        both = _distances(dataset, rows, _kernel(raw, torch.zeros(()))).mean()
    if not plain > 0.0:
        raise ValueError(
            f"learn_loss: expected images that differ, got {rows.size} equal ones."
        )
    ratio = _OUTWEIGHS * plain / (both - plain).clamp_min(1e-6 * plain)
    return (0.5 * ratio.log()).requires_grad_()


def _likelihood(raw: torch.Tensor, size: torch.Tensor) -> KernelAugmented:
    kernel = _kernel(raw.detach(), size.detach()).double().numpy()
    # What the kernel's size does is the weight's to do.
    total = float(kernel.sum(axis=(1, 2)).mean())
    if not total > 0.0:
        raise ValueError("learn_loss: the kernel became 0. Lower the learning rate.")
    values = kernel / total
    return KernelAugmented(
        base=Gaussian(),
        kernel=(values[0] if len(values) == 1 else values).tolist(),
        weight=total**2,
    )


def _distances(
    dataset: AbstractDataset, rows: NDArray[np.int64], kernel: torch.Tensor
) -> torch.Tensor:
    """Perceived distances of all pairs of each group, one after the other."""
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
    """Values of one factor in some traversals, ``(n_traversals, n_values)``."""
    can_vary = [name for name, n in zip(space.names, space.sizes, strict=True) if n > 2]
    factor = can_vary[generator.integers(len(can_vary))]
    origins = generator.integers(space.size, size=_TRAVERSALS)
    rows = space.traversals(factor, origins)
    chosen = generator.random(rows.shape).argsort(axis=1)[:, :_MOST_VALUES]
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


def _check(direction: str, steps: int, batch_size: int) -> None:
    if steps < 1 or batch_size < 3:
        raise ValueError(
            "learn_loss: expected steps from 1 and a batch_size from 3, got "
            f"{steps!r} and {batch_size!r}."
        )
    if direction not in ("help", "hinder"):
        raise ValueError(
            f"learn_loss: expected direction 'help' or 'hinder', got {direction!r}."
        )


def _check_share(along_factors: float, space: FactorSpace) -> None:
    if not 0.0 <= along_factors <= 1.0:
        raise ValueError(
            "learn_loss: expected a share along_factors from 0 to 1, got "
            f"{along_factors!r}."
        )
    if along_factors and max(space.sizes, default=0) < 3:
        raise ValueError(
            "learn_loss: expected a factor of three values or more, got sizes "
            f"{space.sizes}. Take along_factors=0."
        )
