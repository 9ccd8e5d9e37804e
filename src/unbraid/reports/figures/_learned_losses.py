"""Figures of learned losses: kernels, images as the loss sees them, and learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.models import AbstractLikelihood, FeatureAugmented, KernelAugmented

from ._drawing import new_figure, tidy
from ._summaries import FactorTraversals, factor_traversals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PER_ROW = 4
_SMOOTHED = 25
"""Number of points of a smoothed learning curve."""


def draw_kernels(
    losses: Mapping[str, KernelAugmented], *, image_sides: tuple[int, int] = (64, 64)
) -> Figure:
    """Draw the kernels of losses, each from 0 to its own largest value.

    Args:
        losses: Losses by their titles. Those with a kernel per channel take one panel
            for each.
        image_sides: Height and width of the images, for the radius of kernels by name.

    Example:
        >>> kernels = {"box": KernelAugmented(radius=3)}
        >>> len(draw_kernels(kernels).axes)
        1

    References:
        Michlo (2022), dissertation, Figures 6.1 and 6.2.
    """
    panels: dict[str, NDArray[np.float64]] = {}
    for title, loss in losses.items():
        values = loss.values(image_sides)
        if values.ndim == 2:
            panels[title] = values
            continue
        for channel, table in enumerate(values):
            panels[f"{title}, channel {channel}"] = table
    n_columns = min(_PER_ROW, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = new_figure((2.3 * n_columns, 2.5 * n_rows))
    for number, (title, values) in enumerate(panels.items()):
        axes = figure.add_subplot(n_rows, n_columns, number + 1)
        axes.imshow(values, cmap="magma", vmin=min(0.0, values.min()))
        height, width = values.shape
        axes.set_title(f"{title}\n{height}x{width} pixels", fontsize=9)
        axes.set_axis_off()
    return figure


def augmented_traversals(
    dataset: AbstractDataset,
    loss: AbstractLikelihood,
    *,
    n_values: int = 8,
    base: int | None = None,
) -> FactorTraversals:
    """Return traversals of factors in the form in which a loss compares them.

    Images are blurred by a kernel, and scaled to the largest value. Of features, the
    difference from their mean over all images is shown: its first three principal
    components as red, green and blue, with gray for no difference.

    Args:
        dataset: Dataset with every combination of its factors.
        loss: Loss with a kernel or features.
        n_values: Number of values per factor, evenly spaced from first to last.
        base: Row that all traversals pass through, as in :func:`factor_traversals`.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1)
        >>> augmented_traversals(squares, KernelAugmented()).images[0].shape
        (8, 3, 8, 8)

    References:
        Michlo (2022), dissertation, Figure 6.3.
    """
    raw = factor_traversals(dataset, n_values=n_values, base=base)
    images = torch.from_numpy(np.concatenate(raw.images)).float() / 255
    if isinstance(loss, KernelAugmented):
        seen, _ = loss.blur(images)
        pictures = (seen / seen.max().clamp_min(1e-12)).clamp(0, 1)
        name = "through the kernel"
    elif isinstance(loss, FeatureAugmented):
        pictures = _principal_colors(loss.features(images), images.shape[2:])
        name = "features"
    else:
        raise ValueError(
            "augmented_traversals needs a loss with a kernel or features, got "
            f"{type(loss).__name__}."
        )
    bytes_ = pictures.mul(255).round().to(torch.uint8).numpy()
    ends = np.cumsum([len(each) for each in raw.images])[:-1]
    return FactorTraversals(name, raw.factors, tuple(np.split(bytes_, ends)))


def draw_loss_learning(correlations: NDArray[np.float64]) -> Figure:
    """Draw the correlation of a loss with the factors while it is learned.

    Args:
        correlations: Correlation at each step, as in
            :attr:`unbraid.perception.LearnedLoss.correlations`.
    """
    figure = new_figure((4.2, 2.8))
    axes = figure.add_subplot()
    steps = np.arange(len(correlations))
    axes.plot(steps, correlations, color="#9ecae1", linewidth=0.8)
    parts = np.array_split(steps, min(_SMOOTHED, len(steps)))
    means = [correlations[part].mean() for part in parts]
    axes.plot([part.mean() for part in parts], means, color="#08519c", linewidth=1.6)
    axes.set_xlabel("step", fontsize=9)
    axes.set_ylabel("soft rank correlation with factors", fontsize=9)
    tidy(axes)
    return figure


def _principal_colors(maps: torch.Tensor, sides: torch.Size) -> torch.Tensor:
    """Return feature maps as color images ``(n, 3, height, width)``, from 0 to 1."""
    # Only differences between images count, so that gray is the mean of all images.
    maps = maps.double() - maps.double().mean(dim=0)
    points = maps.movedim(1, -1).flatten(0, 2)
    _, _, axes = torch.linalg.svd(points, full_matrices=False)
    colors = points @ axes[:3].mT
    # Fewer than three features leave colors empty.
    colors = torch.nn.functional.pad(colors, (0, 3 - colors.shape[1]))
    colors = 0.5 + 0.5 * colors / colors.abs().max().clamp_min(1e-12)
    small = colors.reshape(len(maps), *maps.shape[2:], 3).movedim(-1, 1)
    return torch.nn.functional.interpolate(small.float(), size=sides, mode="nearest")
