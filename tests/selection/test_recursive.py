import numpy as np
import pytest

from unbraid import Representation
from unbraid.selection import (
    LabelTable,
    ReductionSettings,
    SurrogateLabels,
    SurrogateScore,
    find_intervals,
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


def test_latents_without_a_peak_take_no_part():
    column = stairs([200] * 4)
    smooth = np.random.default_rng(2).uniform(size=800)
    reduction = reduce_images(labels_of(smooth, column))
    assert [part.latent for part in reduction.choices[0].intervals] == [3]


def test_why_there_is_nothing_to_reduce_is_said():
    smooth = np.random.default_rng(2).uniform(size=800)
    assert "no peak" in reduce_images(labels_of(smooth)).reason
    few = ReductionSettings(least_images=10_000)
    assert "too little data" in reduce_images(labels_of(stairs([200] * 4)), few).reason
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
    found = SurrogateLabels.read_off(codes, threshold=1.0)
    # 0.5 (mean^2 + variance - 1 - log variance), over the rows
    assert found.kl[0] == pytest.approx(0.5 * (4 + np.exp(-3) - 1 + 3))
    assert found.latents.tolist() == [0, 2]
    found.save(tmp_path / "labels.npz")
    again = SurrogateLabels.load(tmp_path / "labels.npz")
    assert np.array_equal(again.values, means[:, [0, 2]])
    with pytest.raises(ValueError, match="variational"):
        SurrogateLabels.read_off(Representation(means))


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
    assert labelled.factors[:, 0].tolist() == [0, 2, 4]


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
