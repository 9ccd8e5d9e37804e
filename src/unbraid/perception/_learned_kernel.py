"""Learning a kernel with which distances follow those of the factors."""

from collections.abc import Sequence

import numpy as np
import torch

from unbraid.data import AbstractDataset
from unbraid.foundation import numpy_generator
from unbraid.models import Gaussian, KernelAugmented, pad_kernel

from ._labeled_pairs import labeled_rows
from ._train_distance import (
    Direction,
    DistanceTraining,
    LearnedLoss,
    pair_squares,
    read_images,
    require_difference,
)

_FIRST_WEIGHT = 8.0  # as a box of radius 31 does for squares of 8 pixels


def learn_loss(
    dataset: AbstractDataset,
    *,
    radius: int | None = None,
    per_channel: bool = False,
    direction: Direction = "help",
    along_factors: float | None = None,
    steps: int = 500,
    batch_size: int = 64,
    n_pairs: int | None = None,
    learning_rate: float = 0.1,
    regularization: float = 0.3,
    seed: int = 0,
    progress: bool = False,
) -> LearnedLoss[KernelAugmented]:
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
        dataset: Dataset with labels. Combinations of factors and single labels may be
            missing: two images are compared in the factors that are known of both.
        radius: Pixels from the center of the kernel to its edge, at most the longer
            side of the images. By default the largest kernel that fits into the shorter
            side. If it is the longer side, the outermost values stay 0, because no two
            pixels are that far apart.
        per_channel: Learn a kernel per channel, instead of one for all.
        direction: ``"help"`` maximizes the correlation, ``"hinder"`` minimizes it, for
            adversarial losses.
        along_factors: Weight of the correlation along single factors, from 0 to 1; the
            rest is the weight of the correlation of random pairs. Default: one half, or
            0 if combinations are missing and no three rows differ in one factor only.
        steps: Number of steps of Adam.
        batch_size: Images per step, at least 3.
        n_pairs: Pairs of these images to compare per step, drawn at random. Default:
            all.
        learning_rate: Learning rate of Adam, relative to the root mean square of the
            initial kernel; falls to 0 over the steps.
        regularization: Regularization of the soft ranks, see
            :func:`soft_rank_correlation`.
        seed: Seed of the batches.
        progress: Whether to show the progress on a terminal.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> learned = learn_loss(squares, steps=20, batch_size=16)
        >>> np.array(learned.likelihood.kernel).shape
        (7, 7)

    References:
        Michlo (2022), dissertation, section 6.1, Eq. 6.1 to 6.3, and Table A.6 (there
        28,800 steps on 4,096 of the pairs of 512 images, radius 15, 31, 47 and 64).
        Pairs along factors and missing labels are our addition.
    """
    labeled = labeled_rows("learn_loss", dataset)
    channels, height, width = dataset.image_shape
    if radius is None:
        radius = (min(height, width) - 1) // 2
    _check_radius(radius, (height, width))
    training = DistanceTraining(
        direction=direction,
        along_factors=along_factors,
        steps=steps,
        batch_size=batch_size,
        n_pairs=n_pairs,
        learning_rate=learning_rate,
        regularization=regularization,
        progress=progress,
    )
    labeled.choose_share(along_factors)  # checks it before anything is computed
    generator = numpy_generator(seed, "learn loss")
    first = read_images(dataset, labeled.draw(batch_size, generator))
    kernel = _TrainableKernel(radius, channels if per_channel else 1, first)
    correlations = training.run(kernel, dataset, labeled, generator)
    return LearnedLoss(likelihood=kernel.likelihood(), correlations=correlations)


class _TrainableKernel:
    """Distance of pixels, plus the distance of pixels through a kernel.

    Args:
        radius: Pixels from the center of the kernel to its edge.
        n_kernels: Number of kernels, 1 or one per channel.
        images: Random images ``(1, n, channels, height, width)``, by which the initial
            weight is determined.
    """

    def __init__(self, radius: int, n_kernels: int, images: torch.Tensor) -> None:
        height, width = images.shape[-2:]
        first = _first_kernel(radius, (height, width))
        self._raw = first.repeat(n_kernels, 1, 1).requires_grad_()
        # Apart from its shape, because the weight of the kernel may change a lot.
        self._size = self._first_size(images)

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Raw values of the kernel, and the logarithm of its size."""
        return [self._raw, self._size]

    def distances(self, batches: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return distances of all pairs of each group, one array per batch."""
        kernel = _kernel(self._raw, self._size)
        return [_distances(images, kernel) for images in batches]

    def likelihood(self) -> KernelAugmented:
        """Return the likelihood with this kernel, which sums to 1."""
        kernel = _kernel(self._raw.detach(), self._size.detach()).double().numpy()
        # The kernel sums to 1; the weight accounts for its size.
        total = float(kernel.sum(axis=(1, 2)).mean())
        if not total > 0.0:
            raise ValueError(
                "The kernel became 0. Lower the learning rate of learn_loss."
            )
        values = kernel / total
        return KernelAugmented(
            base=Gaussian(),
            kernel=(values[0] if len(values) == 1 else values).tolist(),
            weight=total**2,
        )

    def _first_size(self, images: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the size at which the weight is the initial one."""
        with torch.no_grad():
            plain = _distances(images, torch.zeros_like(self._raw)).mean()
            kernel = _kernel(self._raw, torch.zeros(()))
            both = _distances(images, kernel).mean()
        require_difference("learn_loss", plain, images.shape[1])
        ratio = _FIRST_WEIGHT * plain / (both - plain).clamp_min(1e-6 * plain)
        return (0.5 * ratio.log()).requires_grad_()


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


def _distances(images: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """Return distances of all pairs of each group of images, in one array."""
    flat = images.flatten(0, 1)
    height, width = flat.shape[2:]
    placed, sides = pad_kernel(kernel, (height, width))
    spectrum = torch.fft.rfft2(flat, s=sides) * torch.fft.rfft2(placed)
    blurred = torch.fft.irfft2(spectrum, s=sides)[..., :height, :width]
    both = torch.cat([flat.flatten(1), blurred.flatten(1)], dim=1)
    return pair_squares(both.unflatten(0, images.shape[:2]))


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
