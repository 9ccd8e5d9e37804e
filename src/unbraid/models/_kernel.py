"""Kernel-augmented likelihood, which also compares blurred images."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from unbraid.foundation import (
    OMIT_DEFAULT,
    check_finite,
    check_integer,
    check_number,
    check_positive,
)

from ._likelihood import AbstractLikelihood, Gaussian, Laplace

Rows = tuple[tuple[float, ...], ...]
Kernel = Literal["box", "gaussian"] | Rows | tuple[Rows, ...]

_LONGEST_PRODUCT = 512
"""Longest side for which a matrix product is faster than a Fourier transform."""

_RELATIVE_SIGMA = 0.25
_FORMER_RELATIVE_SIGMA = 1 / 3
"""Width of the Gaussian kernel in files that do not contain it."""


@dataclass(frozen=True, kw_only=True)
class KernelAugmented(AbstractLikelihood):
    r"""A likelihood of images, plus the same likelihood of blurred images.

    The pixel-wise distance of objects that do not overlap does not depend on how far
    apart they are. Blurred with a wide kernel, close objects overlap more. Channels are
    convolved separately, with zeros around the image.

    .. math:: L(x, y) + a \, L(k * x, k * y)

    Args:
        base: Likelihood :math:`L`.
        kernel: Kernel :math:`k`: ``"box"`` or ``"gaussian"``, both with sum 1, or the
            rows of any other kernel, with an odd number of rows and columns. For a
            different kernel per channel, one such table each.
        radius: Number of pixels on each side of the center. Default: the largest number
            for which the kernel fits into the image, such as 31 for 64 pixels.
        weight: Weight :math:`a`, at least 0. Default: the reciprocal of the sum of the
            squared kernel (the mean over channels), which for a box is its number of
            pixels. A single wrong pixel then counts as much with the kernel as without.
        relative_sigma: Standard deviation of the Gaussian kernel divided by its radius,
            positive. Default: a quarter. Not allowed with other kernels.

    Example:
        >>> points = torch.eye(8).reshape(8, 1, 1, 8)
        >>> loss = KernelAugmented(kernel=((0.25, 0.5, 0.25),), weight=8.0)
        >>> loss.loss(points[[2, 2]], points[[3, 6]]).round()
        tensor([4., 8.])

    References:
        Michlo (2022), dissertation, section 3.4: box of radius 31 for images of 64x64,
        with a weight of 63 times 63; section 6.1: learned kernels, see
        :func:`unbraid.perception.learn_loss`. The width of the Gaussian is not stated;
        a quarter of the radius reproduces the correlations of Table 6.1.
    """

    base: AbstractLikelihood = field(default_factory=Gaussian)
    kernel: Kernel = "box"
    radius: int | None = None
    weight: float | None = None
    relative_sigma: float | None = field(default=None, metadata=OMIT_DEFAULT)

    def __post_init__(self) -> None:
        if not isinstance(self.base, AbstractLikelihood):
            raise ValueError(f"base must be a likelihood, got {self.base!r}.")
        # Depends on the base, so that it cannot be a constant of the class.
        object.__setattr__(self, "needs_unit_range", self.base.needs_unit_range)
        if not isinstance(self.kernel, str):
            # Settings from a file contain lists, and users pass arrays.
            object.__setattr__(self, "kernel", _to_tuples(self.kernel))
            if self.radius is not None:
                raise ValueError(
                    "radius must not be set if kernel is a table of numbers, got "
                    f"{self.radius!r}."
                )
        elif self.kernel not in ("box", "gaussian"):
            raise ValueError(
                "kernel must be 'box', 'gaussian' or a table of numbers, got "
                f"{self.kernel!r}."
            )
        if self.radius is not None:
            check_integer("radius", self.radius, least=0)
        if self.weight is not None:
            check_number("weight", self.weight, least=0.0)
        self._check_sigma()

    def _check_sigma(self) -> None:
        if self.kernel != "gaussian":
            if self.relative_sigma is not None:
                raise ValueError(
                    "relative_sigma applies to the Gaussian kernel only, got "
                    f"{self.relative_sigma!r} with another kernel."
                )
        elif self.relative_sigma is None:
            # Stored, so that a saved run contains the width it was trained with.
            object.__setattr__(self, "relative_sigma", _RELATIVE_SIGMA)
        else:
            check_positive("relative_sigma", self.relative_sigma)

    def loss(self, images: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Return the loss of the base plus its weighted loss of blurred images."""
        plain = self.base.loss(images, output)
        if isinstance(self.base, Gaussian | Laplace):
            # These depend on the difference only, so that one convolution suffices.
            blurred, weight = self.blur(images - output)
            return plain + weight * self.base.loss(blurred, torch.zeros_like(blurred))
        return plain + self._through_kernel(images, self.base.mean(output))

    def mean(self, output: torch.Tensor) -> torch.Tensor:
        """Return the expected images of the base."""
        return self.base.mean(output)

    def distance(self, images: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the distance of the base plus its weighted distance when blurred."""
        plain = self.base.distance(images, others)
        return plain + self._through_kernel(images, others)

    def _through_kernel(
        self, images: torch.Tensor, others: torch.Tensor
    ) -> torch.Tensor:
        (blurred, weight), (other, _) = self.blur(images), self.blur(others)
        return weight * self.base.distance(blurred, other)

    def values(self, image_sides: tuple[int, int]) -> NDArray[np.float64]:
        """Return the kernel, ``(rows, columns)``, or one such table per channel.

        Args:
            image_sides: Height and width of the images, which determine the radius of a
                kernel by name if it is not given.

        Example:
            >>> KernelAugmented().values((4, 6)).round(2)
            array([[0.11, 0.11, 0.11],
                   [0.11, 0.11, 0.11],
                   [0.11, 0.11, 0.11]])
        """
        return _values(self.kernel, self._radius(image_sides), self.relative_sigma)

    def _radius(self, image_sides: tuple[int, int]) -> int:
        return (min(image_sides) - 1) // 2 if self.radius is None else self.radius

    def blur(self, images: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Convolve images with the kernel.

        Args:
            images: Images of shape ``(batch, channels, height, width)``.

        Returns:
            Blurred images of the same shape, and the weight :math:`a`.
        """
        if images.ndim != 4:
            raise ValueError(
                "images must have shape (batch, channels, height, width), got "
                f"{tuple(images.shape)}. Vectors have no neighborhoods."
            )
        channels, height, width = images.shape[1:]
        values = self.values((height, width))
        if values.ndim == 3 and len(values) != channels:
            raise ValueError(
                f"images must have {len(values)} channels, one for each kernel, got "
                f"{channels}."
            )
        weight = self.weight
        if weight is None:
            weight = values.size / values.shape[-1] / values.shape[-2]
            weight /= float(np.square(values).sum())
        shape = (self._radius((height, width)), self.relative_sigma, (height, width))
        kind = (images.dtype, images.device)
        if isinstance(self.kernel, str) and max(height, width) <= _LONGEST_PRODUCT:
            down, across = _bands(self.kernel, *shape, *kind)
            return down @ images @ across, weight
        spectrum, sides = _spectrum(self.kernel, *shape, *kind)
        spread = torch.fft.irfft2(torch.fft.rfft2(images, s=sides) * spectrum, s=sides)
        return spread[..., :height, :width], weight


@lru_cache(maxsize=8)
def _bands(
    kernel: Literal["box", "gaussian"],
    radius: int,
    relative_sigma: float | None,
    image_sides: tuple[int, int],
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrices that blur an image by a product from the left and right.

    Kernels by name are products of a column and a row.
    """
    line = _line(kernel, radius, relative_sigma)
    bands = []
    for side in image_sides:
        apart = np.arange(side)[:, None] - np.arange(side) + radius
        is_inside = (apart >= 0) & (apart < len(line))
        band = np.where(is_inside, line[apart.clip(0, len(line) - 1)], 0.0)
        # Cached for later calls, which may be differentiated even if this one is not.
        with torch.inference_mode(False):
            bands.append(torch.from_numpy(band).to(device, dtype))
    return bands[0], bands[1].mT


@lru_cache(maxsize=8)
def _spectrum(
    kernel: Kernel,
    radius: int,
    relative_sigma: float | None,
    image_sides: tuple[int, int],
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[torch.Tensor, list[int]]:
    """Return the Fourier transform of the kernel, and its height and width."""
    values = torch.from_numpy(_values(kernel, radius, relative_sigma))
    padded, sides = pad_kernel(values, image_sides)
    with torch.inference_mode(False):
        spectrum = torch.fft.rfft2(padded.clone())
        return spectrum.to(device, dtype.to_complex()), sides


def pad_kernel(
    kernel: torch.Tensor, image_sides: tuple[int, int]
) -> tuple[torch.Tensor, list[int]]:
    """Pad a kernel for convolution by Fourier transform, centered at the origin.

    Args:
        kernel: Kernel ``(..., rows, columns)``, with odd numbers of rows and columns.
        image_sides: Height and width of the images.

    Returns:
        The padded kernel, and its height and width, for which the transform is fast.
        Images must be padded with zeros to these sides, and the product cut to the
        sides of the images.
    """
    # Parts of the kernel beyond the size of the image only meet zeros.
    middle = [side // 2 for side in kernel.shape[-2:]]
    radii = [
        min(half, side - 1) for half, side in zip(middle, image_sides, strict=True)
    ]
    kernel = kernel[
        ...,
        middle[0] - radii[0] : middle[0] + radii[0] + 1,
        middle[1] - radii[1] : middle[1] + radii[1] + 1,
    ]
    # One radius of zeros is enough, because the part that wraps around is cut off.
    sides = [
        _fast_length(side + radius)
        for side, radius in zip(image_sides, radii, strict=True)
    ]
    missing = [sides[i] - kernel.shape[i - 2] for i in (0, 1)]
    padded = functional.pad(kernel, (0, missing[1], 0, missing[0]))
    return padded.roll([-radius for radius in radii], dims=(-2, -1)), sides


@lru_cache(maxsize=8)
def _values(
    kernel: Kernel, radius: int, relative_sigma: float | None
) -> NDArray[np.float64]:
    if not isinstance(kernel, str):
        return np.array(kernel, dtype=np.float64)
    line = _line(kernel, radius, relative_sigma)
    return np.outer(line, line)


def _line(
    kernel: Literal["box", "gaussian"], radius: int, relative_sigma: float | None
) -> NDArray[np.float64]:
    """Return one row of a kernel given by name, with sum 1."""
    offsets = np.arange(-radius, radius + 1)
    line = np.ones(len(offsets))
    if kernel == "gaussian" and radius:
        assert relative_sigma is not None  # set in __post_init__
        line = np.exp(-0.5 * np.square(offsets / (relative_sigma * radius)))
    return line / line.sum()


def restore_former_settings(plain: Any) -> Any:
    """Add settings that older versions did not write to files.

    Before the width of Gaussian kernels was written to files, it was a third of the
    radius.

    Args:
        plain: Settings from the file of a model, a run or a likelihood.

    Example:
        >>> saved = {"name": "kernel_augmented", "kernel": "gaussian", "radius": 6}
        >>> round(restore_former_settings(saved)["relative_sigma"], 3)
        0.333
    """
    if not isinstance(plain, Mapping):
        return plain
    restored = {key: restore_former_settings(part) for key, part in plain.items()}
    if restored.get("name") == "kernel_augmented" and plain.get("kernel") == "gaussian":
        restored.setdefault("relative_sigma", _FORMER_RELATIVE_SIGMA)
    return restored


def _fast_length(n: int) -> int:
    """Return the next length for which a Fourier transform is fast."""
    from scipy import fft  # slow to import

    return int(np.array(fft.next_fast_len(n)))


def _to_tuples(kernel: object) -> Rows | tuple[Rows, ...]:
    """Check the numbers of a kernel and convert them to tuples."""
    try:
        values = np.array(kernel, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"kernel must be a table of numbers, got {kernel!r}."
        ) from error
    sides = values.shape[-2:]
    if values.ndim not in (2, 3) or any(side % 2 == 0 for side in sides):
        raise ValueError(
            "kernel must have an odd number of rows and columns, or be one such table "
            f"per channel, got shape {values.shape}."
        )
    check_finite("kernel", values)
    if not values.any():
        raise ValueError("kernel must not be all zeros.")
    if values.ndim == 3:
        return tuple(tuple(map(tuple, table)) for table in values.tolist())
    return tuple(map(tuple, values.tolist()))
