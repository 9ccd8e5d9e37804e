"""LabeledImages: arrays of images, with a table of factors if there is one."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from unbraid.data._dataset import AbstractDataset, Kind
from unbraid.data._factor_space import FactorSpace

from ._content import hash_content, hash_pixels
from ._factor_table import FactorTable
from ._image_array import read_images, stored_array


class LabeledImages(AbstractDataset):
    """Images in an array, and the factors behind them as far as they are known.

    Whole numbers, text, booleans and categories are discrete: their values are sorted
    and numbered from 0, and :attr:`factor_values` keeps what the numbers stand for.
    Floats are discrete too when all of them are whole, else continuous. Labels may be
    missing (NaN, None or empty text), and combinations may be absent or repeated.

    Args:
        images: Array, tensor, or a ``.npy`` (memory-mapped), ``.npz`` or ``.h5`` file
            with an array called ``images`` or only one; shape ``(n, height, width)``,
            ``(n, height, width, channels)`` or ``(n, channels, height, width)`` with 1
            to 4 channels. ``uint8``, ``bool``, or floats from 0 to 1, which become
            ``uint8`` by rounding. ``uint8`` arrays are not copied: leave them alone.
        factors: One row per image: array ``(n, n_factors)`` (or ``(n,)`` for one),
            structured array, data frame (its index is ignored), mapping from names to
            columns, or a CSV file with a line of names. When not given, an array
            called ``factors`` beside the images in an ``.npz`` or ``.h5`` file.
        factor_names: One per factor, in place of the table's own names, which in a
            plain array are ``factor_0``, ``factor_1`` and so on.
        factor_kinds: ``"ordinal"``, ``"categorical"``, ``"cyclic"`` or
            ``"continuous"``, for factors whose kind shall not be guessed: a mapping
            from names, or one per factor. Numbers are guessed to be ordinal, text and
            booleans categorical.
        channels_first: Whether the channels are the second axis and not the last; to
            be given only when the shape leaves it open.
        name: Short lower-case name, for tables and file names.

    Example:
        >>> images = np.zeros((4, 8, 8), dtype=np.uint8)
        >>> table = {"shape": ["disc", "disc", "star", "star"], "x": [0.5, 2, 0.5, 2]}
        >>> data = LabeledImages(images, table)
        >>> data.factor_kinds, data.factor_space
        (('categorical', 'continuous'), None)
        >>> data = LabeledImages(images, table, factor_kinds={"x": "ordinal"})
        >>> data.factor_space.sizes, data.is_grid, data.factor_values
        ((2, 2), True, (('disc', 'star'), (0.5, 2.0)))
        >>> data.factors([2])
        array([[1, 0]])
    """

    def __init__(
        self,
        images: ArrayLike | torch.Tensor | str | os.PathLike[str],
        factors: ArrayLike
        | torch.Tensor
        | Mapping[str, Any]
        | str
        | os.PathLike[str]
        | None = None,
        *,
        factor_names: Sequence[str] | None = None,
        factor_kinds: Mapping[str, Kind] | Sequence[Kind] | None = None,
        channels_first: bool | None = None,
        name: str = "images",
    ) -> None:
        if not name:
            raise ValueError("LabeledImages: expected a name, got an empty one.")
        self._name = name
        self._images = read_images(images, channels_first=channels_first)
        if factors is None and isinstance(images, str | os.PathLike):
            factors = stored_array(images, "factors")
        self._table: FactorTable | None = None
        if factors is not None:
            # Imported when there are labels to read: pandas takes a third of a second.
            from ._encode_factors import encode_factors
            from ._factor_columns import read_columns

            columns = read_columns(factors, factor_names)
            if len(columns) != len(self._images):
                raise ValueError(
                    "LabeledImages: expected one row of factors per image, got "
                    f"{len(self._images)} images and {len(columns)} rows."
                )
            kinds = _checked_kinds(factor_kinds, list(columns.columns))
            self._table = encode_factors(columns, kinds)
        elif factor_names is not None or factor_kinds is not None:
            raise ValueError(
                "LabeledImages: expected factors to go with factor_names and "
                "factor_kinds, got none."
            )

    def __repr__(self) -> str:
        """What it is, in one line, without the arrays."""
        shape = " x ".join(map(str, self.image_shape))
        labels = ", ".join(self.factor_names) or "none"
        return (
            f"LabeledImages(name={self._name!r}: {len(self)} images of {shape}, "
            f"factors: {labels})"
        )

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height and width of every image."""
        _, height, width, channels = self._images.shape
        return channels, height, width

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return self._table.names if self._table else ()

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Kinds of the columns, as guessed or given."""
        return self._table.kinds if self._table else ()

    @property
    def factor_values(self) -> tuple[tuple[object, ...], ...]:
        """What codes 0, 1, ... of each factor stand for; empty for continuous ones."""
        return self._table.values if self._table else ()

    @property
    def factor_space(self) -> FactorSpace | None:
        """The grid around the rows if all factors are discrete and none is missing."""
        return self._table.space if self._table else None

    @property
    def is_grid(self) -> bool:
        """Whether the rows are the complete grid in mixed-radix order."""
        return self._table is not None and self._table.is_grid

    def __len__(self) -> int:
        return len(self._images)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self._images[indices].transpose(0, 3, 1, 2)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any] | None:
        return self._table.rows[indices] if self._table else None

    def fingerprint(self) -> str:
        """Hash of every pixel and label, taken once: one changed pixel changes it."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return hash_content(self, hash_pixels(self._images), self.factor_values)


def _checked_kinds(
    kinds: Mapping[str, Kind] | Sequence[Kind] | None, names: list[str]
) -> Mapping[str, Kind]:
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        if isinstance(kinds, str) or len(kinds) != len(names):
            raise ValueError(
                "LabeledImages: expected factor_kinds to map names to kinds, or one "
                f"kind for each of {len(names)} factors, got {kinds!r}."
            )
        kinds = dict(zip(names, kinds, strict=True))
    for name, kind in kinds.items():
        if name not in names:
            raise ValueError(
                "LabeledImages: expected factor_kinds for the factors "
                f"{', '.join(names)}, got {name!r}."
            )
        if kind not in get_args(Kind):
            raise ValueError(
                f"LabeledImages: expected the kind of factor {name!r} among "
                f"{', '.join(get_args(Kind))}, got {kind!r}."
            )
    return kinds
