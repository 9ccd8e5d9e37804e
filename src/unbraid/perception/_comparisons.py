"""Comparisons of perceived distances between datasets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from unbraid.data import (
    AbstractDataset,
    PictureSprites,
    Sprites2D,
    XYObject,
    XYObjectShaded,
)

from ._losses import ImageLoss
from ._perceived_distance import PerceivedDistances, perceived_distances


def compare_perceived_distances(
    datasets: Mapping[str, AbstractDataset],
    *,
    loss: ImageLoss | str | Path = "mse",
    n_pairs: int = 10_000,
    seed: int = 0,
) -> dict[str, PerceivedDistances]:
    """Return the perceived distances of several datasets, by name.

    Args:
        datasets: Datasets by name.
        loss: Loss that compares images, as in :func:`perceived_distances`.
        n_pairs: Number of pairs per factor.
        seed: Seed of the pairs.
    """
    return {
        name: perceived_distances(dataset, loss, n_pairs=n_pairs, seed=seed)
        for name, dataset in datasets.items()
    }


def compare_factor_choices(
    *,
    image_size: int = 64,
    square_sizes: Sequence[int] = (7, 9, 11, 13, 15),
    spacing: int = 2,
    loss: ImageLoss | str | Path = "mse",
    n_pairs: int = 10_000,
    seed: int = 0,
) -> dict[str, PerceivedDistances]:
    """Compare color as one factor (XYObject) with shade and hue (XYObjectShaded).

    The images are the same, in the same order; only the choice of factors differs. Two
    factors follow the distances between images better, and are learned more easily.

    Args:
        image_size: Side of the images of both datasets, in pixels.
        square_sizes: Sides of the squares in both datasets, in pixels.
        spacing: Distance between neighboring positions in both datasets, in pixels.
        loss: Loss that compares images, as in :func:`perceived_distances`.
        n_pairs: Number of pairs per factor.
        seed: Seed of the pairs.

    Returns:
        Distances by the names ``"xy_object"`` and ``"xy_object_shaded"``.

    Example:
        >>> found = compare_factor_choices(
        ...     image_size=16, square_sizes=(3, 5, 7), n_pairs=1_000
        ... )
        >>> one, two = found["xy_object"], found["xy_object_shaded"]
        >>> one["color"].rank < min(two["intensity"].rank, two["color"].rank)
        True

    References:
        Michlo (2022), dissertation, section 7.2 and Figure 7.2. The models that are
        trained on both: ``unbraid study preset michlo-2022-a7-1``.
    """
    kinds = (XYObject, XYObjectShaded)
    datasets = [
        kind(image_size=image_size, square_sizes=tuple(square_sizes), spacing=spacing)
        for kind in kinds
    ]
    return compare_perceived_distances(
        {dataset.name: dataset for dataset in datasets},
        loss=loss,
        n_pairs=n_pairs,
        seed=seed,
    )


def compare_visibilities(
    sprites: AbstractDataset | None = None,
    *,
    pictures: AbstractDataset | None = None,
    where: Literal["behind", "inside"] = "behind",
    visibilities: Sequence[int] = (0, 25, 50, 75, 100),
    loss: ImageLoss | str | Path = "mse",
    n_pairs: int = 10_000,
    seed: int = 0,
) -> dict[str, PerceivedDistances]:
    """Measure how unrelated pictures behind or inside sprites hide their factors.

    Args:
        sprites: Images with one channel; if not given, rendered sprites.
        pictures: Collection of pictures, as for :class:`unbraid.data.PictureSprites`.
        where: Draw pictures ``"behind"`` or ``"inside"`` the sprites.
        visibilities: Visibilities of the pictures, in percent.
        loss: Loss that compares images, as in :func:`perceived_distances`.
        n_pairs: Number of pairs per factor.
        seed: Seed of the pairs.

    Returns:
        Distances by visibility, such as ``"50%"``.

    Example:
        >>> sprites = Sprites2D(
        ...     image_size=16, n_scales=3, n_orientations=5, n_positions=8
        ... )
        >>> found = compare_visibilities(
        ...     sprites, visibilities=(0, 100), n_pairs=1_000
        ... )
        >>> found["100%"]["position_x"].rank < found["0%"]["position_x"].rank
        True

    References:
        Michlo (2022), dissertation, section 7.3 and Figure 7.5, there with dSprites and
        Tiny ImageNet. The models: ``unbraid study preset michlo-2022-a7-2``.
    """
    stock = sprites if sprites is not None else Sprites2D()
    datasets = {
        f"{percent}%": PictureSprites(
            sprites=stock, pictures=pictures, where=where, visibility=percent
        )
        for percent in visibilities
    }
    return compare_perceived_distances(datasets, loss=loss, n_pairs=n_pairs, seed=seed)
