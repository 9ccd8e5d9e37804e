"""Kernel-augmented likelihood: images are compared as they are, and blurred."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import fft

from ._checks import is_number, is_whole
from ._likelihood import AbstractLikelihood, Gaussian, Laplace

Kernel = Literal["box", "gaussian"] | tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class KernelAugmented(AbstractLikelihood):
    r"""A likelihood, plus the same of images and reconstructions seen through a kernel.

    Objects that do not overlap are all equally far apart, pixel by pixel; a wide kernel
    makes near ones overlap more. Channels are convolved one by one, with zeros around
    the image.

    .. math:: L(x, y) + a \, L(k * x, k * y)

    Args:
        base: :math:`L`.
        kernel: ``"box"``, ``"gaussian"`` (its standard deviation is a third of the
            radius), both with sum 1, or the numbers of any other, in rows, with an odd
            number of rows and columns.
        radius: Pixels to each side of the middle. When not given, as many as fit twice
            into the shorter side, less one: 31 for 64 pixels.
        weight: :math:`a`, from 0. When not given, 1 over the sum of the kernel's
            squares, which for a box is its number of pixels: a single pixel that is off
            then counts as much through the kernel as without.

    Example:
        >>> points = torch.eye(8).reshape(8, 1, 1, 8)
        >>> loss = KernelAugmented(kernel=((0.25, 0.5, 0.25),), weight=8.0)
        >>> loss.loss(points[[2, 2]], points[[3, 6]]).round()
        tensor([4., 8.])

    References:
        Michlo (2022), dissertation, section 3.4: box of radius 31 for images of 64x64,
        with a weight of 63 times 63.
    """

    base: AbstractLikelihood = field(default_factory=Gaussian)
    kernel: Kernel = "box"
    radius: int | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.base, AbstractLikelihood):
            raise ValueError(
                f"KernelAugmented: expected base to be a likelihood, got {self.base!r}."
            )
        # As its base does, in place of a constant of the class.
        object.__setattr__(self, "needs_unit_range", self.base.needs_unit_range)
        if not isinstance(self.kernel, str):
            # Settings read from a file come as lists, and users have arrays.
            object.__setattr__(self, "kernel", _checked_rows(self.kernel))
            if self.radius is not None:
                raise ValueError(
                    "KernelAugmented: expected no radius with the numbers of a kernel, "
                    f"got {self.radius!r}."
                )
        elif self.kernel not in ("box", "gaussian"):
            raise ValueError(
                "KernelAugmented: expected kernel 'box', 'gaussian' or its numbers, "
                f"got {self.kernel!r}."
            )
        if self.radius is not None and not is_whole(self.radius, least=0):
            raise ValueError(
                f"KernelAugmented: expected a radius from 0, got {self.radius!r}."
            )
        if self.weight is not None and not is_number(self.weight, least=0.0):
            raise ValueError(
                f"KernelAugmented: expected a weight from 0, got {self.weight!r}."
            )

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Loss of the base, and its weighted loss through the kernel, ``(batch,)``."""
        plain = self.base.loss(images, output)
        if isinstance(self.base, Gaussian | Laplace):
            # These see the difference only, which is blurred at half the price.
            blurred, weight = self._blur(images - output)
            return plain + weight * self.base.loss(blurred, torch.zeros_like(blurred))
        return plain + self._through_kernel(images, self.base.mean(output))

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """The expected image of the base."""
        return self.base.mean(output)

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Distance of the base, and its weighted distance through the kernel."""
        plain = self.base.distance(images, others)
        return plain + self._through_kernel(images, others)

    def _through_kernel(
        self, images: torch.Tensor, others: torch.Tensor
    ) -> torch.Tensor:
        (blurred, weight), (other, _) = self._blur(images), self._blur(others)
        return weight * self.base.distance(blurred, other)

    def _blur(self, images: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Images convolved with the kernel, and the weight of their comparison."""
        if images.ndim != 4:
            raise ValueError(
                "KernelAugmented: expected images (batch, channels, height, width), "
                f"got shape {tuple(images.shape)}. Vectors have no neighbourhoods."
            )
        height, width = images.shape[2:]
        radius = self.radius
        if radius is None:
            radius = (min(height, width) - 1) // 2
        spectrum, sides, weight = _spectrum(
            self.kernel, radius, (height, width), images.dtype, images.device
        )
        spread = torch.fft.irfft2(torch.fft.rfft2(images, s=sides) * spectrum, s=sides)
        return spread[..., :height, :width], (
            weight if self.weight is None else self.weight
        )


@lru_cache(maxsize=8)
def _spectrum(
    kernel: Kernel,
    radius: int,
    image_sides: tuple[int, int],
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[torch.Tensor, list[int], float]:
    """The kernel's Fourier transform, the sides it is for, and the default weight."""
    values = _values(kernel, radius)
    weight = 1.0 / float(np.square(values).sum())
    # Farther than from edge to edge, a kernel meets zeros only.
    radii = [
        min(side // 2, image_side - 1)
        for side, image_side in zip(values.shape, image_sides, strict=True)
    ]
    middle = [side // 2 for side in values.shape]
    values = values[
        middle[0] - radii[0] : middle[0] + radii[0] + 1,
        middle[1] - radii[1] : middle[1] + radii[1] + 1,
    ]
    # One radius of zeros is enough, since what wraps around is cut off.
    sides = [
        _fast_length(image_side + radius)
        for image_side, radius in zip(image_sides, radii, strict=True)
    ]
    padded = np.zeros(sides)
    padded[: values.shape[0], : values.shape[1]] = values
    centred = np.roll(padded, [-radius for radius in radii], axis=(0, 1))
    # Kept for later calls, which may be differentiated even if this one is not.
    with torch.inference_mode(False):
        spectrum = torch.from_numpy(np.fft.rfft2(centred))
        return spectrum.to(device, dtype.to_complex()), sides, weight


def _values(kernel: Kernel, radius: int) -> NDArray[np.float64]:
    if not isinstance(kernel, str):
        return np.array(kernel, dtype=np.float64)
    offsets = np.arange(-radius, radius + 1)
    line = np.ones(len(offsets))
    if kernel == "gaussian" and radius:
        line = np.exp(-0.5 * np.square(3.0 * offsets / radius))
    values = np.outer(line, line)
    return values / values.sum()


def _fast_length(n: int) -> int:
    """The next number for which a transform is fast."""
    return int(np.array(fft.next_fast_len(n)))


def _checked_rows(kernel: object) -> tuple[tuple[float, ...], ...]:
    try:
        values = np.array(kernel, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"KernelAugmented: expected a kernel of rows of numbers, got {kernel!r}."
        ) from error
    if values.ndim != 2 or any(side % 2 == 0 for side in values.shape):
        raise ValueError(
            "KernelAugmented: expected a kernel with an odd number of rows and "
            f"columns, got shape {values.shape}."
        )
    if not np.isfinite(values).all() or not values.any():
        raise ValueError(
            "KernelAugmented: expected a kernel of finite numbers, some of them not 0."
        )
    return tuple(map(tuple, values.tolist()))
