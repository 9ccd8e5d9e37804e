import itertools

import numpy as np
import pandas as pd
import pytest

from unbraid.data import FactorSpace, LabeledImages, XYSquares
from unbraid.foundation import numpy_generator
from unbraid.testing import check_dataset

GRID = np.array(list(itertools.product(range(2), range(3), range(2))))


def noise(n: int = 12) -> np.ndarray:
    generator = numpy_generator(0, "labeled images")
    return generator.integers(0, 256, (n, 8, 6, 3)).astype(np.uint8)


def test_complete_grid_in_order_is_a_grid():
    data = LabeledImages(noise(), GRID)
    check_dataset(data)
    assert data.is_grid
    assert data.factor_space == FactorSpace(
        ("factor_0", "factor_1", "factor_2"), (2, 3, 2)
    )
    assert np.array_equal(data.factors(np.arange(12)), GRID)


def test_grid_in_another_order_is_no_grid():
    for rows in (np.roll(np.arange(12), 1), np.arange(12)[::-1]):
        data = LabeledImages(noise(), GRID[rows])
        check_dataset(data)
        assert not data.is_grid
        assert np.array_equal(data.factors(np.arange(12)), GRID[rows])


def test_grid_whose_first_factor_counts_fastest_is_no_grid():
    data = LabeledImages(
        noise(), np.array(sorted(GRID.tolist(), key=lambda r: r[::-1]))
    )
    assert not data.is_grid


def test_incomplete_and_repeated_combinations_are_welcome():
    for rows in (np.arange(11), [0, 0, 1, 1, 7, 11]):
        data = LabeledImages(noise(len(rows)), GRID[rows])
        check_dataset(data)
        assert data.factor_space is not None
        assert not data.is_grid


def test_as_many_rows_as_combinations_with_one_repeated_is_no_grid():
    data = LabeledImages(noise(), GRID[[0, 0, *range(2, 12)]])
    assert data.factor_space.size == 12
    assert not data.is_grid


def test_continuous_factors_have_no_space():
    measures = numpy_generator(0, "measures").normal(size=(12, 2))
    data = LabeledImages(noise(), measures, factor_names=["x", "y"])
    check_dataset(data)
    assert (data.factor_names, data.factor_kinds) == (("x", "y"), ("continuous",) * 2)
    assert data.factor_space is None
    assert not data.is_grid
    assert np.array_equal(data.factors([3, 1]), measures[[3, 1]])


def test_missing_labels_are_nan_and_leave_the_kind_alone():
    table = GRID.astype(float)
    table[[0, 5], [0, 2]] = np.nan
    data = LabeledImages(noise(), table)
    check_dataset(data)
    assert data.factor_space is None
    assert data.factor_kinds == ("ordinal",) * 3
    np.testing.assert_array_equal(data.factors(np.arange(12)), table)


def test_no_labels_are_none():
    data = LabeledImages(noise())
    check_dataset(data)
    assert data.factors([0]) is None
    assert (data.factor_names, data.factor_values) == ((), ())


def test_copy_of_a_dataset_by_its_arrays_is_that_dataset():
    squares = XYSquares(image_size=4, square_size=2, n_squares=2)
    rows = np.arange(len(squares))
    copy = LabeledImages(
        squares.images(rows),
        squares.factors(rows),
        factor_names=squares.factor_names,
        factor_kinds=squares.factor_kinds,
        channels_first=True,
    )
    check_dataset(copy)
    assert (copy.is_grid, copy.factor_space) == (True, squares.factor_space)
    assert np.array_equal(copy.images(rows), squares.images(rows))


@pytest.mark.parametrize("n_rows", [0, 11, 13])
def test_wrong_number_of_rows_names_both_counts(n_rows):
    with pytest.raises(ValueError, match=f"got 12 images and {n_rows} rows"):
        LabeledImages(noise(), pd.DataFrame({"x": np.zeros(n_rows)}))


def test_uint8_images_are_not_copied_but_batches_are():
    images = noise()
    data = LabeledImages(images)
    assert np.shares_memory(data._images, images)
    assert not np.shares_memory(data.images([0]), images)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"z": "ordinal"}, "contains 'z', but the factors are x, y"),
        (
            {"x": "discrete"},
            r"factor_kinds\['x'\] must be 'ordinal', .*, got 'discrete'",
        ),
        (["ordinal"], "for each of the 2 factors"),
        ("ordinal", "for each of the 2 factors"),
    ],
)
def test_unknown_kinds_are_refused(kinds, message):
    table = {"x": np.arange(12), "y": np.arange(12)}
    with pytest.raises(ValueError, match=message):
        LabeledImages(noise(), table, factor_kinds=kinds)


def test_names_without_factors_are_refused():
    with pytest.raises(ValueError, match="factor_names and factor_kinds need factors"):
        LabeledImages(noise(), factor_names=["x"])


def test_empty_name_is_refused():
    with pytest.raises(ValueError, match="name must not be empty"):
        LabeledImages(noise(), name="")


def test_repr_is_one_line_without_the_arrays():
    shown = repr(LabeledImages(noise(), GRID, name="mine"))
    assert shown == (
        "LabeledImages(name='mine': 12 images of 3 x 8 x 6, factors: factor_0, "
        "factor_1, factor_2)"
    )


def test_fingerprint_follows_every_pixel_and_label_and_their_meaning():
    n = 1000
    images = np.tile(noise(1), (n, 1, 1, 1))
    table = {"x": np.arange(n) % 5, "y": np.linspace(0, 1, n)}

    def fingerprint(images=images, **options):
        return LabeledImages(
            images, **{"factors": table, "factor_names": ["a", "b"], **options}
        ).fingerprint()

    before = fingerprint()
    assert fingerprint(images.copy()) == before
    other_pixel = images.copy()
    other_pixel[501, 3, 3, 1] ^= 1
    nudged = table["y"].copy()
    nudged[501] = np.nextafter(nudged[501], 2)
    changes = [
        fingerprint(other_pixel),
        fingerprint(factors={**table, "y": nudged}),
        fingerprint(factors={**table, "x": table["x"] * 10}),
        fingerprint(factor_names=["a", "c"]),
        fingerprint(factor_kinds={"a": "cyclic"}),
        fingerprint(factors=None, factor_names=None),
    ]
    assert len({before, *changes}) == len(changes) + 1


def test_fingerprint_does_not_depend_on_layout_or_source(tmp_path):
    images = noise()
    np.save(tmp_path / "images.npy", images)
    prints = {
        LabeledImages(given, GRID, channels_first=first).fingerprint()
        for given, first in [
            (images, False),
            (np.asfortranarray(images), False),
            (images.transpose(0, 3, 1, 2), True),
            (tmp_path / "images.npy", False),
            (images / 255, False),
        ]
    }
    assert len(prints) == 1


def test_fingerprint_of_large_images_sees_the_last_chunk():
    images = np.zeros((5, 1024, 2048, 3), np.uint8)
    before = LabeledImages(images).fingerprint()
    changed = images.copy()
    changed[-1, -1, -1, -1] = 200
    assert LabeledImages(changed).fingerprint() != before
