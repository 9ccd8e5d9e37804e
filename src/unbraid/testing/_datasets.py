"""check_dataset: the conformance suite of datasets."""

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.foundation import numpy_generator


def check_dataset(dataset: AbstractDataset) -> None:
    """Check that a dataset fulfills the contract of ``AbstractDataset``.

    Args:
        dataset: Dataset to check.

    Raises:
        AssertionError: If a requirement is violated; the message says which.

    Example:
        >>> from unbraid.data import XYSquares
        >>> check_dataset(XYSquares(image_size=8, square_size=1))
    """
    _require(len(dataset) > 0, "a dataset must have at least one image")
    _require(bool(dataset.name), "a dataset must have a name")
    generator = numpy_generator(0, "check_dataset")
    rows = generator.integers(0, len(dataset), size=64)
    _check_images(dataset, rows)
    _check_refusals(dataset)
    _check_factors(dataset, rows)
    if dataset.weights is not None:
        weights = dataset.weights
        _require(weights.shape == (len(dataset),), "there must be one weight per image")
        _require(
            bool(np.isfinite(weights).all() and (weights >= 0).all()),
            "weights must be finite and not negative",
        )
        _require(bool(weights.sum() > 0), "at least one weight must be positive")
    _require(
        dataset.fingerprint() == dataset.fingerprint(),
        "the fingerprint must be constant",
    )


def _check_images(dataset: AbstractDataset, rows: np.ndarray) -> None:
    images, shape = dataset.images(rows), dataset.image_shape
    _require(
        images.shape == (len(rows), *shape),
        f"images must have shape (n, *image_shape), got {images.shape}",
    )
    if len(shape) == 1:
        _require(
            images.dtype == np.float32, f"vectors must be float32, got {images.dtype}"
        )
    else:
        _require(len(shape) == 3, f"images must have three axes, got {len(shape)}")
        _require(
            shape[0] in (1, 2, 3, 4),
            f"images must have 1 to 4 channels, got {shape[0]}",
        )
        _require(images.dtype == np.uint8, f"images must be uint8, got {images.dtype}")
    again = dataset.images(rows[::-1])[::-1]
    _require(
        np.array_equal(images, again),
        "an index must give the same image at any time and in any order",
    )
    _require(
        np.array_equal(images[:1], dataset.images(rows[:1])),
        "an image alone must equal the same image in a batch",
    )
    kept = images.copy()
    images[...] = 7
    _require(
        np.array_equal(kept, dataset.images(rows)),
        "writing to a returned batch must not change the dataset",
    )
    none = dataset.images([])
    _require(none.shape == (0, *shape), "no indices must give an empty batch")
    dataset.images([0, len(dataset) - 1])


def _check_refusals(dataset: AbstractDataset) -> None:
    for wrong, error in (
        ([-1], IndexError),
        ([len(dataset)], IndexError),
        ([0.5], TypeError),
        ([[0]], TypeError),
        (0, TypeError),
    ):
        try:
            dataset.images(wrong)
        except error:
            continue
        raise AssertionError(
            f"check_dataset: images({wrong}) must raise {error.__name__}."
        )


def _check_factors(dataset: AbstractDataset, rows: np.ndarray) -> None:
    factors, space = dataset.factors(rows), dataset.factor_space
    names, kinds = dataset.factor_names, dataset.factor_kinds
    _require(
        len(names) == len(kinds), "there must be as many factor kinds as factor names"
    )
    _require(len(set(names)) == len(names), "factor names must differ")
    _require(
        (factors is None) == (not names),
        "there must be factors exactly if there are factor names",
    )
    if factors is None:
        _require(
            space is None and not dataset.is_grid,
            "without labels there must be no factor space",
        )
        return
    _require(
        factors.shape == (len(rows), len(names)),
        "factors must have shape (n, n_factors)",
    )
    if space is None:
        _require(
            factors.dtype == np.float64,
            "factors without a factor space must be float64",
        )
        _require(not dataset.is_grid, "a grid must have a factor space")
        return
    _require(
        (space.names, space.kinds) == (names, kinds),
        "the factor space must have the same names and kinds",
    )
    _require(factors.dtype == np.int64, "factors with a factor space must be int64")
    _require(
        bool((factors >= 0).all() and (factors < np.array(space.sizes)).all()),
        "factors must be within their sizes",
    )
    if dataset.is_grid:
        _require(len(dataset) == space.size, "a grid must have every combination")
        _require(
            np.array_equal(space.indices(factors), rows),
            "indices of factors of a row must be the row",
        )


def _require(is_true: bool, requirement: str) -> None:
    if not is_true:
        raise AssertionError(f"check_dataset: {requirement}.")
