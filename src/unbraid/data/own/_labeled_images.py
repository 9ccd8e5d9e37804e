"""LabeledImages: arrays of images, with or without a table of factors."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from unbraid.data._dataset import AbstractDataset, Kind
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_not_empty, check_option

from ._content import hash_content, hash_pixels
from ._factor_table import FactorTable
from ._image_array import read_images, stored_array


class LabeledImages(AbstractDataset):
    """Images in an array, with known factors, if any.

    Integers, strings, booleans and categories are discrete: their values are sorted and
    numbered from 0, and :attr:`factor_values` contains the values in this order. Floats
    are discrete if all of them are integers, otherwise continuous. Labels may be
    missing (NaN, None or an empty string), and combinations may be absent or repeated.

    Args:
        images: Array, tensor, or a ``.npy`` (memory-mapped), ``.npz`` or ``.h5`` file
            with an array called ``images`` or a single array; shape ``(n, height,
            width)``, ``(n, height, width, channels)`` or ``(n, channels, height,
            width)`` with 1 to 4 channels. ``uint8``, ``bool``, or floats between 0 and
            1, which are rounded to ``uint8``. ``uint8`` arrays are not copied: do not
            modify them.
        factors: Factors, one row per image: array ``(n, n_factors)`` (or ``(n,)`` for
            one), structured array, data frame (its index is ignored), mapping from
            names to columns, or a CSV file with a line of names. Default: the array
            called ``factors`` in the ``.npz`` or ``.h5`` file of the images, if any.
        factor_names: Names of the factors, which replace those of the table. The
            default names for a plain array are ``factor_0``, ``factor_1`` and so on.
        factor_kinds: Kinds of factors: a mapping from names to kinds, or one kind per
            factor, each ``"ordinal"``, ``"categorical"``, ``"cyclic"`` or
            ``"continuous"``. By default, discrete numbers are ordinal, strings and
            booleans categorical.
        channels_first: Whether channels are the second axis instead of the last;
            required only if the shape is ambiguous.
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
        check_not_empty("name", name)
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
                    "factors must have one row per image, got "
                    f"{len(self._images)} images and {len(columns)} rows."
                )
            kinds = _check_kinds(factor_kinds, list(columns.columns))
            self._table = encode_factors(columns, kinds)
        elif factor_names is not None or factor_kinds is not None:
            raise ValueError(
                "factor_names and factor_kinds need factors, but there are none."
            )

    def __repr__(self) -> str:
        """Return a description in one line, without the arrays."""
        shape = " x ".join(map(str, self.image_shape))
        labels = ", ".join(self.factor_names) or "none"
        return (
            f"LabeledImages(name={self._name!r}: {len(self)} images of {shape}, "
            f"factors: {labels})"
        )

    @property
    def name(self) -> str:
        """Short lower-case name, for tables and file names."""
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
        """Kinds of the columns, inferred or given."""
        return self._table.kinds if self._table else ()

    @property
    def factor_values(self) -> tuple[tuple[object, ...], ...]:
        """Values of codes 0, 1, ... of each factor; empty for continuous ones."""
        return self._table.values if self._table else ()

    @property
    def factor_space(self) -> FactorSpace | None:
        """Factor space if all factors are discrete and no label is missing."""
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
        """Return a hash of all pixels and labels."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return hash_content(self, hash_pixels(self._images), self.factor_values)


def _check_kinds(
    kinds: Mapping[str, Kind] | Sequence[Kind] | None, names: list[str]
) -> Mapping[str, Kind]:
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        if isinstance(kinds, str) or len(kinds) != len(names):
            raise ValueError(
                "factor_kinds must be a mapping from names to kinds, or one kind for "
                f"each of the {len(names)} factors, got {kinds!r}."
            )
        kinds = dict(zip(names, kinds, strict=True))
    for name, kind in kinds.items():
        if name not in names:
            raise ValueError(
                f"factor_kinds contains {name!r}, but the factors are "
                f"{', '.join(names)}."
            )
        check_option(f"factor_kinds[{name!r}]", kind, Kind)
    return kinds
