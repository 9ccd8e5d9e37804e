"""What every dataset must keep, as one function that anyone can call on theirs."""

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.foundation import numpy_generator


def check_dataset(dataset: AbstractDataset) -> None:
    """Check that a dataset keeps the contract of ``AbstractDataset``.

    Args:
        dataset: The dataset to check.

    Raises:
        AssertionError: With a sentence that says which promise is broken.

    Example:
        >>> from unbraid.data import XYSquares
        >>> check_dataset(XYSquares(image_size=8, square_size=1))
    """
    _require(len(dataset) > 0, "a dataset has at least one image")
    _require(bool(dataset.name), "a dataset has a name")
    generator = numpy_generator(0, "check_dataset")
    rows = generator.integers(0, len(dataset), size=64)
    _check_images(dataset, rows)
    _check_refusals(dataset)
    _check_factors(dataset, rows)
    if dataset.weights is not None:
        weights = dataset.weights
        _require(weights.shape == (len(dataset),), "one weight per image")
        _require(
            bool(np.isfinite(weights).all() and (weights >= 0).all()),
            "weights are finite and not negative",
        )
        _require(bool(weights.sum() > 0), "some weight is positive")
    _require(
        dataset.fingerprint() == dataset.fingerprint(), "the fingerprint is constant"
    )


def _check_images(dataset: AbstractDataset, rows: np.ndarray) -> None:
    images, shape = dataset.images(rows), dataset.image_shape
    _require(
        images.shape == (len(rows), *shape),
        f"images have the shape that image_shape says, got {images.shape}",
    )
    if len(shape) == 1:
        _require(images.dtype == np.float32, f"vectors are float32, got {images.dtype}")
    else:
        _require(len(shape) == 3, f"images have three axes, got {len(shape)}")
        _require(shape[0] in (1, 2, 3, 4), f"1 to 4 channels, got {shape[0]}")
        _require(images.dtype == np.uint8, f"images are uint8, got {images.dtype}")
    again = dataset.images(rows[::-1])[::-1]
    _require(
        np.array_equal(images, again),
        "an index gives the same image at any time and in any order",
    )
    _require(
        np.array_equal(images[:1], dataset.images(rows[:1])),
        "an image alone equals the same image in a batch",
    )
    kept = images.copy()
    images[...] = 7
    _require(
        np.array_equal(kept, dataset.images(rows)),
        "writing to a returned batch does not change the dataset",
    )
    none = dataset.images([])
    _require(none.shape == (0, *shape), "no indices give an empty batch")
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
        raise AssertionError(f"check_dataset: images({wrong}) raises {error.__name__}.")


def _check_factors(dataset: AbstractDataset, rows: np.ndarray) -> None:
    factors, space = dataset.factors(rows), dataset.factor_space
    names, kinds = dataset.factor_names, dataset.factor_kinds
    _require(len(names) == len(kinds), "as many factor kinds as factor names")
    _require(len(set(names)) == len(names), "factor names differ")
    _require((factors is None) == (not names), "factors are given exactly when named")
    if factors is None:
        _require(space is None and not dataset.is_grid, "no labels, no factor space")
        return
    _require(factors.shape == (len(rows), len(names)), "factors are (n, n_factors)")
    if space is None:
        _require(factors.dtype == np.float64, "factors outside a space are float64")
        _require(not dataset.is_grid, "a grid has a factor space")
        return
    _require((space.names, space.kinds) == (names, kinds), "the space repeats names")
    _require(factors.dtype == np.int64, "factors in a space are int64")
    _require(
        bool((factors >= 0).all() and (factors < np.array(space.sizes)).all()),
        "factors lie within their sizes",
    )
    if dataset.is_grid:
        _require(len(dataset) == space.size, "a grid holds every combination")
        _require(
            np.array_equal(space.indices(factors), rows),
            "index to factors to index comes back",
        )


def _require(kept: bool, promise: str) -> None:
    if not kept:
        raise AssertionError(f"check_dataset: expected that {promise}.")
