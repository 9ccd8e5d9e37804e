import numpy as np
import pytest
from scipy.stats import norm

from unbraid import Representation
from unbraid.evolution import (
    LabelTable,
    ReductionSettings,
    SurrogateLabels,
    SurrogateScore,
    find_intervals,
    find_slabs,
    reduce_images,
)


def stairs(sizes, heights=None, noise=0.002, seed=0):
    """Labels of a latent that jumps by 1 (or other heights), in a random order."""
    generator = np.random.default_rng(seed)
    heights = np.arange(len(sizes)) if heights is None else np.cumsum(heights)
    values = np.repeat(heights.astype(float), sizes)
    values = values + generator.uniform(0, noise, len(values))
    return generator.permutation(values)


def labels_of(*columns):
    values = np.stack(columns, axis=1)
    return SurrogateLabels(
        rows=np.arange(len(values)) * 3,
        values=values,
        latents=np.arange(len(columns)) + 2,
        kl=np.full(6, 2.0),
    )


def test_known_steps_are_found_with_their_intervals():
    sizes = [100, 150, 120, 200, 130, 100]
    found = find_intervals(stairs(sizes))
    ends = np.cumsum(sizes)
    assert found.peaks.tolist() == (ends[:-1] - 1).tolist()
    expected = list(zip(ends[:-2], ends[1:-1], strict=True))
    assert sorted((i.start, i.stop) for i in found.intervals) == expected


def test_the_interval_between_the_highest_peaks_with_least_change_is_first():
    # The third step is level, the others slope.
    sizes = [100] * 5
    values = np.repeat(np.arange(5.0), sizes)
    slopes = np.tile(np.linspace(0, 0.1, 100), 5)
    slopes[200:300] *= 0.01
    found = find_intervals(values + slopes)
    assert (found.intervals[0].start, found.intervals[0].stop) == (200, 300)
    ratios = [part.ratio for part in found.intervals]
    assert ratios == sorted(ratios, reverse=True)


def test_ratio_is_the_lower_peak_over_the_mean_change_within():
    values = np.concatenate([
        np.linspace(0, 0.1, 50), np.linspace(2, 2.2, 41), np.linspace(5, 5.1, 50)
    ])  # fmt: skip
    part = find_intervals(values, ReductionSettings(trim=0.0)).intervals[0]
    assert part.ratio == pytest.approx((2 - 0.1) / (0.2 / 40))
    assert (part.low, part.high) == (2.0, 2.2)


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(-1, 1, 500),
        np.sort(np.random.default_rng(0).uniform(size=2000)),
        np.zeros(100),
        np.arange(4.0),
        np.empty(0),
    ],
)
def test_smooth_labels_have_no_peak(values):
    found = find_intervals(values)
    assert not len(found.peaks)
    assert found.intervals == ()


def test_steps_are_found_among_a_few_dozen_labels():
    found = find_intervals(stairs([9, 9, 9, 9]))
    assert found.peaks.tolist() == [8, 17, 26]


def test_one_step_has_an_interval_on_either_side():
    found = find_intervals(stairs([300, 300]), ReductionSettings(trim=0.1))
    assert sorted((i.start, i.stop) for i in found.intervals) == [(60, 300), (300, 540)]


def test_reduced_images_lie_in_the_interval_of_every_latent():
    generator = np.random.default_rng(1)
    a, b = generator.integers(5, size=(2, 5000))
    noise = generator.uniform(0, 0.003, (2, 5000))
    reduction = reduce_images(
        labels_of(a + noise[0], b + noise[1]), ReductionSettings(prefer="largest")
    )
    assert reduction.reason == ""
    for choice in reduction.choices:
        chosen = choice.rows // 3
        assert len(set(a[chosen])) == len(set(b[chosen])) == 1
        # All images of that combination, and no others.
        same = (a == a[chosen[0]]) & (b == b[chosen[0]])
        assert np.array_equal(chosen, np.flatnonzero(same))
    sizes = [len(choice.rows) for choice in reduction.choices]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 9  # three inner steps of each


def test_the_median_size_is_preferred_unless_told_otherwise():
    column = stairs([100, 400, 100, 100, 100])
    other = stairs([160] * 5, seed=3)
    reduction = reduce_images(labels_of(column, other))
    sizes = np.array([len(choice.rows) for choice in reduction.choices])
    distances = np.abs(sizes - np.median(sizes))
    assert (np.diff(distances) >= 0).all()


def continuous_codes(n_images=3000, n_latents=3, seed=0):
    """Labels of independent latents that each follow a continuous factor."""
    factors = np.random.default_rng(seed).uniform(-1, 1, (n_images, n_latents))
    return factors + 0.3 * factors**3


def test_smooth_latents_are_cut_into_slabs_with_equally_many_images():
    quantiles = norm.ppf((np.arange(1000) + 0.5) / 1000)
    values = np.random.default_rng(0).permutation(quantiles)
    slabs = find_slabs(values, 5, ReductionSettings(trim=0.1), latent=4)
    ends = [(100, 260), (260, 420), (420, 580), (580, 740), (740, 900)]
    assert sorted((slab.start, slab.stop) for slab in slabs) == ends
    assert {slab.latent for slab in slabs} == {4}
    ordered = np.sort(values)
    assert all(slab.low == ordered[slab.start] for slab in slabs)
    assert all(slab.high == ordered[slab.stop - 1] for slab in slabs)
    # A normal distribution is densest in the middle.
    assert (slabs[0].start, slabs[0].stop) == (420, 580)
    assert {slab.start for slab in slabs[1:3]} == {260, 580}
    assert slabs[0].ratio > 1 > slabs[-1].ratio


@pytest.mark.parametrize("values", [np.empty(0), np.arange(9.0), np.ones(100)])
def test_too_few_or_equal_labels_have_no_slabs(values):
    assert find_slabs(values, 5) == ()


def test_slabs_of_equal_labels_appear_once():
    values = np.repeat([0.0, 1.0], [90, 10])
    ends = [(slab.low, slab.high) for slab in find_slabs(values, 4)]
    assert len(ends) == len(set(ends))


@pytest.mark.parametrize("prefer", ["median", "largest"])
def test_three_smooth_latents_leave_images_for_three_leaf_runs(prefer):
    values = continuous_codes()
    reduction = reduce_images(labels_of(*values.T), ReductionSettings(prefer=prefer))
    assert reduction.reason == ""
    assert all(not len(steps.peaks) for steps in reduction.steps)
    assert len(reduction.choices) >= 3
    rows = [choice.rows // 3 for choice in reduction.choices[:3]]
    assert len(set(np.concatenate(rows))) == sum(map(len, rows))
    for choice, own in zip(reduction.choices, rows, strict=False):
        assert [part.latent for part in choice.intervals] == [2, 3, 4]
        assert len(own) >= 100
        # All latents vary less among the images that are left.
        assert (values[own].std(axis=0) < 0.6 * values.std(axis=0)).all()


@pytest.mark.parametrize(("n_latents", "n_slabs"), [(1, 5), (2, 4), (3, 2)])
def test_more_latents_are_cut_into_fewer_slabs(n_latents, n_slabs):
    labels = labels_of(*continuous_codes(n_latents=n_latents).T)
    reduction = reduce_images(labels)
    assert [len(steps.intervals) for steps in reduction.steps] == [n_slabs] * n_latents
    assert len(reduction.choices[0].rows) >= 100
    narrow = reduce_images(labels, ReductionSettings(slab_images=1, least_images=1))
    assert [len(steps.intervals) for steps in narrow.steps] == [5] * n_latents


def test_smooth_latents_stay_in_the_intersection_with_latents_that_jump():
    column = stairs([600] * 5)
    smooth = np.random.default_rng(2).uniform(size=3000)
    reduction = reduce_images(labels_of(smooth, column))
    assert [len(steps.peaks) for steps in reduction.steps] == [0, 4]
    for choice in reduction.choices:
        assert [part.latent for part in choice.intervals] == [2, 3]
        chosen = choice.rows // 3
        low, high = choice.intervals[0].low, choice.intervals[0].high
        assert ((smooth[chosen] >= low) & (smooth[chosen] <= high)).all()
        assert np.ptp(column[chosen]) < 0.5


def test_the_largest_interval_of_a_single_latent_is_preferred_if_asked_for():
    # The second step is level, the third has most images.
    values = np.repeat(np.arange(5.0), [100, 100, 300, 100, 100])
    slopes = np.linspace(0, 0.1, 700)
    slopes[100:200] = 0.02
    labels = labels_of(values + slopes)
    sizes = {
        prefer: len(
            reduce_images(labels, ReductionSettings(prefer=prefer)).choices[0].rows
        )
        for prefer in ("median", "largest")
    }
    assert sizes == {"median": 100, "largest": 300}


def test_why_there_is_nothing_to_reduce_is_said():
    few = labels_of(np.array([0.1, 0.5, 0.7]))
    assert reduce_images(few).reason == "too little data: 3 images cannot be divided"
    many = ReductionSettings(least_images=10_000)
    assert "too little data" in reduce_images(labels_of(stairs([200] * 4)), many).reason
    nothing = SurrogateLabels(
        rows=np.arange(5),
        values=np.empty((5, 0)),
        latents=np.empty(0, np.int64),
        kl=np.zeros(3),
    )
    assert reduce_images(nothing).reason == "no active latent"


def test_labels_are_the_means_of_latents_above_the_threshold(tmp_path):
    means = np.array([[2.0, 0.1, -1.0], [-2.0, 0.0, 1.0]])
    logs = np.array([[-3.0, 0.0, -2.0]] * 2)
    codes = Representation(means, log_variances=logs, rows=np.array([5, 9]))
    found = SurrogateLabels.from_codes(codes, threshold=1.0)
    # 0.5 (mean^2 + variance - 1 - log variance), over the rows
    assert found.kl[0] == pytest.approx(0.5 * (4 + np.exp(-3) - 1 + 3))
    assert found.latents.tolist() == [0, 2]
    found.save(tmp_path / "labels.npz")
    again = SurrogateLabels.load(tmp_path / "labels.npz")
    assert np.array_equal(again.values, means[:, [0, 2]])
    with pytest.raises(ValueError, match="variational"):
        SurrogateLabels.from_codes(Representation(means))


def test_labels_of_several_models_stand_side_by_side_where_they_are_known():
    root = SurrogateLabels(
        rows=np.arange(6),
        values=np.arange(6.0)[:, None],
        latents=np.array([1]),
        kl=np.ones(2),
    )
    leaf = SurrogateLabels(
        rows=np.array([2, 4]),
        values=np.array([[7.0], [8.0]]),
        latents=np.array([0]),
        kl=np.ones(2),
    )
    table = LabelTable.join(
        [("root", root), ("leaf", leaf)], generator=np.random.default_rng(0)
    )
    assert table.names == ("root latent 1", "leaf latent 0")
    assert np.isnan(table.values[:, 1]).tolist() == [
        True,
        True,
        False,
        True,
        False,
        True,
    ]
    codes = Representation(np.arange(8.0).reshape(4, 2), rows=np.array([0, 2, 4, 99]))
    labelled = table.label(codes)
    assert labelled.rows.tolist() == [0, 2, 4]
    # Twenty bins from 0 to 5, and from 7 to 8.
    assert labelled.factors[:, 0].tolist() == [0, 8, 16]
    assert labelled.factors[1:, 1].tolist() == [0, 19]


def test_labels_are_binned_over_all_images_of_their_stage():
    values = np.random.default_rng(0).normal(size=(5000, 2))
    labels = SurrogateLabels(
        rows=np.arange(5000), values=values, latents=np.arange(2), kl=np.ones(2)
    )
    few = LabelTable.join(
        [("root", labels)], bins=7, most=50, generator=np.random.default_rng(1)
    )
    assert len(few.rows) == 50
    width = np.ptp(values, axis=0) / 7
    bins = np.floor((values - values.min(axis=0)) / width).clip(max=6)
    assert np.array_equal(few.values, bins[few.rows])
    assert set(np.unique(bins)) == set(range(7))
    assert few.label(Representation(values)).factor_kinds == ("ordinal", "ordinal")


def test_score_by_found_labels_is_one_for_codes_that_hold_them_singly():
    generator = np.random.default_rng(0)
    values = generator.integers(5, size=(900, 2)).astype(float)
    whole = SurrogateLabels(
        rows=np.arange(900),
        values=values[:, :1],
        latents=np.array([0]),
        kl=np.ones(2),
    )
    part = SurrogateLabels(
        rows=np.arange(300),
        values=values[:300, 1:],
        latents=np.array([1]),
        kl=np.ones(2),
    )
    table = LabelTable.join([("a", whole), ("b", part)], generator=generator)
    aligned = Representation(values, rows=np.arange(900))
    turned = values @ np.array([[1.0, 1.0], [1.0, -1.0]])
    score = SurrogateScore((table,))
    assert score([aligned]) > 0.95
    assert score([Representation(turned, rows=np.arange(900))]) < 0.1
