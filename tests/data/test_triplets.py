from fractions import Fraction

import numpy as np
import pytest

from unbraid.data import (
    FactorSpace,
    Relabeled,
    Reweighted,
    Subset,
    Triplets,
    XYSquares,
    correlate,
    keep_labels,
)
from unbraid.foundation import numpy_generator

N = 60_000
IMAGES = XYSquares()
SPACE = FactorSpace(
    ("shape", "x", "angle"), (2, 3, 4), ("categorical", "ordinal", "cyclic")
)
N_ROWS = 12
TABLE = SPACE.factors(numpy_generator(3, "test").permutation(SPACE.size)[:N_ROWS])
DATASET = Relabeled(Subset(IMAGES, range(N_ROWS)), TABLE, SPACE)
WEIGHTED = Reweighted(DATASET, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 0])


def distance(a, b, kind, cyclic="line"):
    """Equations 5.5, 5.6, 5.9 and 5.11 as they are written."""
    a, b = [int(value) for value in a], [int(value) for value in b]
    if kind == "category":
        return int(a[0] != b[0])
    if kind == "changed":
        return sum(x != y for x, y in zip(a, b, strict=True))
    steps = [abs(x - y) for x, y in zip(a, b, strict=True)]
    spans = [size - 1 for size in SPACE.sizes]
    if cyclic == "circle":
        steps[2], spans[2] = min(steps[2], 4 - steps[2]), 2
    if kind == "l1":
        return sum(steps)
    return sum(Fraction(step, span) for step, span in zip(steps, spans, strict=True))


def triplet_chances(dataset, anchor, kind, *, ties="resample", cyclic="line"):
    """Chance of every nearer and farther row, by Equation 5.3, over all draws."""
    weights = np.ones(N_ROWS) if dataset.weights is None else dataset.weights
    chances = np.zeros((N_ROWS, N_ROWS))
    for one in range(N_ROWS):
        for two in range(N_ROWS):
            to_one = distance(TABLE[anchor], TABLE[one], kind, cyclic)
            to_two = distance(TABLE[anchor], TABLE[two], kind, cyclic)
            if to_one == to_two and ties == "resample":
                continue
            near, far = (one, two) if to_one <= to_two else (two, one)
            chances[near, far] += weights[one] * weights[two]
    return chances / chances.sum()


def assert_draws(dataset, sampler, anchor, chances):
    rows = sampler.companions(
        dataset, np.full(N, anchor), generator=numpy_generator(0, "test")
    )
    seen = np.zeros((N_ROWS, N_ROWS))
    np.add.at(seen, tuple(rows.T), 1 / N)
    error = np.sqrt(chances * (1 - chances) / N)
    assert (np.abs(seen - chances) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize("dataset", [DATASET, WEIGHTED])
@pytest.mark.parametrize("cyclic", ["line", "circle"])
@pytest.mark.parametrize("ties", ["resample", "keep"])
@pytest.mark.parametrize("kind", ["scaled", "l1", "changed"])
def test_triplets_have_the_chances_of_ordered_random_draws(dataset, kind, ties, cyclic):
    sampler = Triplets(distance=kind, ties=ties, cyclic=cyclic)
    chances = triplet_chances(dataset, 4, kind, ties=ties, cyclic=cyclic)
    assert_draws(dataset, sampler, 4, chances)


@pytest.mark.parametrize("dataset", [DATASET, WEIGHTED])
@pytest.mark.parametrize("anchor", [1, 4, 5, 9])
def test_category_triplets_have_the_chances_of_ordered_random_draws(dataset, anchor):
    sampler = Triplets(distance="category", category="shape")
    assert_draws(dataset, sampler, anchor, triplet_chances(dataset, anchor, "category"))


@pytest.mark.parametrize("kind", ["scaled", "l1", "changed"])
def test_every_nearer_row_of_xy_squares_is_exactly_nearer(kind):
    anchors = numpy_generator(0, "test").integers(0, len(IMAGES), size=3000)
    near, far = (
        Triplets(distance=kind)
        .companions(IMAGES, anchors, generator=numpy_generator(1, "test"))
        .T
    )
    a, p, n = (IMAGES.factors(rows) for rows in (anchors, near, far))
    if kind == "changed":
        closer, farther = (a != p).sum(axis=1), (a != n).sum(axis=1)
    else:  # one size for all, so that scaled and plain steps order alike
        closer, farther = np.abs(a - p).sum(axis=1), np.abs(a - n).sum(axis=1)
    assert (closer < farther).all()


def test_category_works_with_hundreds_of_classes():
    table = np.arange(2000)[:, None] % 500
    dataset = Relabeled(
        Subset(IMAGES, range(2000)), table, FactorSpace(("car",), (500,))
    )
    anchors = np.arange(2000)
    near, far = (
        Triplets(distance="category", category="car")
        .companions(dataset, anchors, generator=numpy_generator(0))
        .T
    )
    assert (table[near] == table[anchors]).all()
    assert (table[far] != table[anchors]).all()


def test_category_needs_labels_of_that_factor_only():
    table = np.stack([np.arange(20) % 3, np.linspace(0, 1, 20)], axis=1)
    table[3, 1] = np.nan
    dataset = Relabeled(
        Subset(IMAGES, range(20)), table, {"kind": "categorical", "t": "continuous"}
    )
    near, far = (
        Triplets(distance="category", category="kind")
        .companions(dataset, np.arange(20), generator=numpy_generator(0))
        .T
    )
    assert (near % 3 == np.arange(20) % 3).all()
    assert (far % 3 != np.arange(20) % 3).all()


def test_rows_of_correlated_data_are_drawn_by_their_weights():
    dataset = correlate(XYSquares(n_squares=1), "x_R", "y_R", width=0.05)
    rows = Triplets().companions(
        dataset, np.zeros(2000, dtype=np.int64), generator=numpy_generator(0)
    )
    x, y = dataset.factors(rows.ravel()).T
    assert (np.abs(x - y) <= 1).all()


def test_a_rare_untied_pair_is_found():
    table = np.zeros((2000, 1), dtype=np.int64)
    table[77] = 1
    dataset = Relabeled(Subset(IMAGES, range(2000)), table, FactorSpace(("a",), (2,)))
    near, far = (
        Triplets().companions(dataset, np.arange(8), generator=numpy_generator(0)).T
    )
    assert (far == 77).all()
    assert (near != 77).all()


def test_rows_that_cannot_be_told_apart_are_an_error():
    alike = Subset(IMAGES, [5, 5, 5])
    with pytest.raises(ValueError, match="No rows at different distances 'scaled'"):
        Triplets().companions(alike, np.arange(3), generator=numpy_generator(0))
    kept = Triplets(ties="keep").companions(
        alike, np.arange(3), generator=numpy_generator(0)
    )
    assert kept.shape == (3, 2)


ONE_CLASS = Subset(IMAGES, [0, 1, 2])
NO_WEIGHT = Reweighted(
    Relabeled(Subset(IMAGES, range(3)), [[0], [1], [2]], FactorSpace(("a",), (3,))),
    [0, 1, 1],
)
CONTINUOUS = Relabeled(ONE_CLASS, [[0.1], [0.2], [0.3]], {"t": "continuous"})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Triplets(distance="l2"), "l2"),
        (lambda: Triplets(ties="drop"), "drop"),
        (lambda: Triplets(cyclic="spiral"), "spiral"),
        (
            lambda: Triplets(distance="category"),
            "category must be given if and only if",
        ),
        (lambda: Triplets(category="x_R"), "category must be given if and only if"),
        (
            lambda: Triplets(distance="category", category="x_R", ties="keep"),
            "no ties",
        ),
        (
            lambda: Triplets(distance="category", category="q").bind(IMAGES),
            "'q'",
        ),
        (
            lambda: Triplets(distance="category", category="x_R").bind(ONE_CLASS),
            "at least two classes of 'x_R', got one",
        ),
        (
            lambda: Triplets(distance="category", category="t").bind(CONTINUOUS),
            "'t' is continuous",
        ),
        (
            lambda: Triplets(distance="category", category="x_R").bind(
                keep_labels(IMAGES, n=5)
            ),
            "Every row must have a label of factor 'x_R'",
        ),
        (
            lambda: Triplets(distance="category", category="a").companions(
                NO_WEIGHT, np.array([1, 0]), generator=numpy_generator(0)
            ),
            "but row 0 is not",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
