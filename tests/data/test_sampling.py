import dataclasses

import numpy as np
import pytest
from plain_images import PlainImages

from unbraid.data import (
    Pairs,
    Relabeled,
    Singles,
    Subset,
    Triplets,
    XYSquares,
    correlate,
    keep_labels,
)
from unbraid.foundation import numpy_generator

SQUARES = XYSquares(n_squares=2)
PART = Subset(SQUARES, numpy_generator(0, "test").permutation(4096)[:300])
SAMPLERS = [
    Singles(),
    Pairs(),
    Pairs(n_changed=1),
    Pairs(n_changed=(2, 3), rule="disentanglement_lib"),
    Triplets(),
    Triplets(distance="changed", ties="keep"),
    Triplets(distance="category", category="x_R"),
]
SOME_LABELS = keep_labels(PART, n=100)
CONTINUOUS = Relabeled(
    PART, np.linspace(0, 1, 600).reshape(300, 2), {"a": "ordinal", "t": "continuous"}
)
FLOATS = Relabeled(PART, np.arange(300.0)[:, None], {"a": "ordinal"})


@pytest.mark.parametrize("dataset", [SQUARES, PART, correlate(PART, 0, 1)])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_companions_are_rows_and_the_same_for_the_same_generator(sampler, dataset):
    anchors = numpy_generator(0, "anchors").integers(0, len(dataset), size=50)
    first, again, other = (
        sampler.companions(dataset, anchors, generator=numpy_generator(seed))
        for seed in (1, 1, 2)
    )
    assert first.shape == (50, sampler.n_companions)
    assert first.dtype == np.int64
    assert ((first >= 0) & (first < len(dataset))).all()
    np.testing.assert_array_equal(first, again)
    assert sampler.n_companions == 0 or (first != other).any()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_draws_do_not_depend_on_what_a_bound_sampler_has_looked_up(sampler):
    used, fresh = sampler.bind(PART), sampler.bind(PART)
    used(np.arange(300), generator=numpy_generator(0))
    rows = np.arange(100)
    np.testing.assert_array_equal(
        used(rows, generator=numpy_generator(1)),
        fresh(rows, generator=numpy_generator(1)),
    )


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_no_anchors_have_no_companions(sampler):
    for dataset in (SQUARES, PART):
        none = sampler.companions(
            dataset, np.empty(0, dtype=np.int64), generator=numpy_generator(0)
        )
        assert none.shape == (0, sampler.n_companions)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_sampler_is_a_record_of_its_settings(sampler):
    assert type(sampler)(**dataclasses.asdict(sampler)) == sampler


@pytest.mark.parametrize("sampler", [Pairs(), Triplets()])
@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        (PlainImages(), "Labels are required"),
        (CONTINUOUS, "'t' is continuous"),
        (SOME_LABELS, "label of factor 'x_R', but 200 rows have none"),
        (FLOATS, "those of a are floats"),
    ],
)
def test_labels_that_cannot_be_used_are_named(sampler, dataset, sentence):
    with pytest.raises(ValueError, match=sentence):
        sampler.bind(dataset)


@pytest.mark.parametrize("sampler", SAMPLERS[1:])
@pytest.mark.parametrize("dataset", [SQUARES, PART])
def test_anchors_that_do_not_exist_are_refused(sampler, dataset):
    for wrong in (-1, len(dataset)):
        with pytest.raises(IndexError):
            sampler.companions(dataset, np.array([wrong]), generator=numpy_generator(0))
