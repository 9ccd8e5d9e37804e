"""Encoding the rows of an evaluation: random rows and whole traversals."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace
from unbraid.foundation import numpy_generator
from unbraid.representation import Encoder, Representation, encode

from ._inputs import Factors
from .supervised._traversals import LEAST_TRAVERSALS, along_each_factor

_TRAVERSALS = 256
"""Traversals per factor; their mean has a sixteenth of the spread of one."""
_TRAVERSAL_ROWS = 50_000
"""Images on traversals of all factors together, an equal share for each factor."""


def encode_some(
    model: Encoder,
    dataset: AbstractDataset,
    n_rows: int,
    seed: int,
    *,
    progress: bool = True,
) -> Representation:
    """Encode all images of a dataset, or random ones if there are too many.

    An array of codes, one row per image, is used as it is.

    Args:
        model: Anything that :func:`unbraid.encode` takes.
        dataset: Images to encode.
        n_rows: Largest number of images to encode.
        seed: Seed of the drawing.
        progress: Show a progress bar if the standard error is a terminal.
    """
    if len(dataset) <= n_rows or isinstance(model, np.ndarray):
        return encode(model, dataset, progress=progress)
    generator = numpy_generator(seed, "evaluated rows")
    some = generator.choice(len(dataset), n_rows, replace=False)
    return encode(model, dataset, rows=np.sort(some), progress=progress)


def encode_traversals(
    model: Encoder,
    dataset: AbstractDataset,
    seed: int,
    *,
    known: Representation | None = None,
    progress: bool = True,
) -> Representation | None:
    """Encode random complete traversals of every factor.

    For each factor, up to 256 traversals are drawn, and together they have at most
    50,000 images, so that the time does not grow with the dataset. Which ones are drawn
    depends on the dataset and the seed only. A factor without complete traversals gets
    incomplete ones, if there are any, and rows with its other values, so that
    incomplete ones do not look complete.

    Args:
        model: Anything that :func:`unbraid.encode` takes.
        dataset: Images to encode, with factors.
        seed: Seed of the drawing.
        known: Codes that exist already. If these are the codes of the whole dataset,
            they contain every traversal and are returned.
        progress: Show a progress bar if the standard error is a terminal.

    Returns:
        Codes of each row once, in the order of the dataset, or ``None`` if no two rows
        of the dataset differ in one factor only.
    """
    if known is not None and len(known.codes) == len(dataset):
        return known if dataset.factor_names else None
    rows = _traversal_rows(dataset, seed)
    if not len(rows):
        return None
    return encode(model, dataset, rows=rows, progress=progress)


def _traversal_rows(dataset: AbstractDataset, seed: int) -> NDArray[np.int64]:
    if not dataset.factor_names:
        return np.empty(0, np.int64)
    space = dataset.factor_space
    if dataset.is_grid and space is not None:
        # Computed, because the table of a large grid does not fit into memory.
        parts = _rows_of_grid(space, seed)
    else:
        parts = _rows_of_table(dataset, seed)
    return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))


def _rows_of_grid(space: FactorSpace, seed: int) -> Iterator[NDArray[np.int64]]:
    allowance = _TRAVERSAL_ROWS // space.n_factors
    for name, size, stride in zip(
        space.names, space.sizes, space.strides.tolist(), strict=True
    ):
        n_all = space.size // size
        n = min(_TRAVERSALS, n_all, allowance // size)
        if size < 2:
            continue
        if n < min(LEAST_TRAVERSALS, n_all):
            # Too long to be sampled. With these rows in the sample, the few values
            # on other traversals do not look like all values.
            yield stride * np.arange(min(size, allowance))
            continue
        generator = numpy_generator(seed, "evaluated traversals", name)
        number = generator.choice(n_all, n, replace=False)
        start = number // stride * (stride * size) + number % stride
        yield (start[:, None] + stride * np.arange(size)).ravel()


def _rows_of_table(dataset: AbstractDataset, seed: int) -> Iterator[NDArray[np.int64]]:
    values = dataset.factors(np.arange(len(dataset)))
    assert values is not None
    factors = Factors(values, names=dataset.factor_names, kinds=dataset.factor_kinds)
    allowance = _TRAVERSAL_ROWS // factors.n_factors
    for column, (name, traversals) in enumerate(along_each_factor(factors)):
        if traversals is None:
            continue
        complete = traversals.complete()
        if len(complete.lengths) >= min(LEAST_TRAVERSALS, len(traversals.lengths)):
            traversals = complete
        else:
            first = np.unique(factors.values[:, column], return_index=True)[1]
            yield first[:allowance]
        generator = numpy_generator(seed, "evaluated traversals", name)
        order = generator.permutation(len(traversals.lengths))[:_TRAVERSALS]
        is_allowed = np.cumsum(traversals.lengths[order]) <= allowance
        yield traversals.at(np.sort(order[is_allowed])).rows
