"""Image reduction of rPU-VAE: keep images that are alike in the learned factors."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import Section, Whole
from unbraid.metrics import BINS

from ._surrogate_labels import SurrogateLabels

Share = Annotated[float, pydantic.Field(ge=0, lt=0.5)]
Positive = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class ReductionSettings(Section):
    """Settings that reduce the images of a stage to those alike in learned factors.

    The defaults are those of the paper's code, with three additions. ``false_peaks``
    raises the height of a peak, because the differences of smooth labels are as
    irregular as the times between random events. Where the jumps themselves make the
    standard deviation so large that none stands out, as among a few dozen labels, the
    standard deviation of random labels with the same median is used. And a latent
    without a peak, as a continuous factor has, is cut into slabs instead of ending the
    recursion.

    Attributes:
        trim: Share of the sorted labels ignored at both ends, where they are sparse.
        height: Standard deviations above the median that the difference of two
            neighboring labels must have to be a peak.
        ordinary: Standard deviations above the median up to which differences count as
            ordinary. Their standard deviation is the unit of ``height``.
        false_peaks: Expected number of peaks among smooth labels. A peak must be higher
            than the mean difference around it times ``log(n / false_peaks)``.
        distance: Smallest distance between two peaks, as a share of the labels. The
            mean around a peak is taken over twice as many labels on either side.
        slabs: Slabs with equally many images into which the labels of a latent without
            a peak are cut, at least 2.
        slab_images: Images that an intersection of slabs should keep. Where it would
            keep fewer, the labels are cut into fewer slabs, at least 2.
        intervals: Number of intervals of each latent that are combined with those of
            the other latents, those of least change first.
        least_images: Combinations with fewer images are dropped.
        prefer: Interval rule, which decides the combination that is used first.
            ``"largest"`` is the rule as written in the paper, which keeps the reduced
            dataset "as large as possible". ``"median"`` is the rule of the authors'
            code: the combinations of median size, and for a single latent the interval
            of least change.
    """

    trim: Share = 1 / 15
    height: Positive = 7.0
    ordinary: Positive = 4.0
    false_peaks: Positive = 0.01
    distance: Share = 1 / 50
    slabs: Annotated[int, pydantic.Field(ge=2)] = 5
    slab_images: Whole = 100
    intervals: Whole = 5
    least_images: Whole = 10
    prefer: Literal["median", "largest"] = "median"


PUBLISHED = ReductionSettings()
"""The settings of the paper's code, with slabs for latents without a peak."""


@dataclass(frozen=True)
class Interval:
    """A range of a latent over which it changes little.

    Attributes:
        latent: Index of the latent in the model.
        start: Index of the first label among the sorted ones.
        stop: Index after the last label.
        low: First label.
        high: Last label.
        ratio: Measure of how little the latent changes. Between peaks: height of
            the lower adjacent peak over the mean difference of neighbors within. For a
            slab: mean difference of neighbors over all slabs, over the mean within.
    """

    latent: int
    start: int
    stop: int
    low: float
    high: float
    ratio: float


@dataclass(frozen=True, eq=False)
class LatentSteps:
    """The sorted labels of a latent, and the intervals of least change.

    Attributes:
        latent: Index of the latent in the model.
        values: Sorted labels, ``(n,)``.
        differences: Differences of neighboring labels, ``(n - 1,)``.
        peaks: Indices of the differences that stand out; empty for a smooth latent.
        height: Height that a difference must have to stand out.
        intervals: Intervals between peaks, or slabs of a smooth latent, those of least
            change first.
    """

    latent: int
    values: NDArray[np.float64]
    differences: NDArray[np.float64]
    peaks: NDArray[np.int64]
    height: float
    intervals: tuple[Interval, ...]


def find_intervals(
    values: ArrayLike,
    settings: ReductionSettings = PUBLISHED,
    *,
    latent: int = 0,
) -> LatentSteps:
    """Find the intervals of least change between the jumps of a latent.

    The sorted labels of a latent that encodes a factor of few values look like a
    staircase: their derivative has a peak at every step and is small in between. The
    ratio of an interval between two peaks is the height of the lower peak over the mean
    derivative within. A single peak has an interval on either side.

    Args:
        values: Labels, ``(n,)``, in any order.
        settings: Settings that decide which differences count as peaks.
        latent: Index of the latent, copied to the result.

    Returns:
        Peaks and intervals; none of either if the labels are smooth. See
        :func:`find_slabs` for smooth labels.

    Example:
        >>> stairs = np.repeat([0.0, 1.0, 2.0, 3.0], 50) + np.linspace(0, 0.01, 200)
        >>> steps = find_intervals(stairs)
        >>> steps.peaks.tolist()
        [49, 99, 149]
        >>> sorted((part.start, part.stop) for part in steps.intervals)
        [(50, 100), (100, 150)]
        >>> find_intervals(np.linspace(0, 1, 200)).intervals
        ()

    References:
        Estermann, Marks and Yanik (2020), section 4.2 and Figure 3.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n_labels = len(ordered)
    differences = np.diff(ordered)
    first = int(n_labels * settings.trim)
    inner = differences[first : max(n_labels - 1 - first, first)]
    if len(inner) < 3:
        return LatentSteps(
            latent, ordered, differences, np.empty(0, np.int64), np.inf, ()
        )
    from scipy.signal import find_peaks

    median = float(np.median(inner))
    ordinary = _select_ordinary(inner, median, settings.ordinary)
    # The tiny number makes any jump stand out among labels that are exactly constant.
    height = median + settings.height * float(ordinary.std()) + np.finfo(float).tiny
    distance = max(1, int(n_labels * settings.distance))
    needed = np.maximum(height, _chance_height(inner, distance, settings.false_peaks))
    peaks = find_peaks(inner, height=needed, distance=distance)[0] + first
    ends = peaks
    if len(peaks) == 1:
        ends = np.array([first - 1, peaks[0], n_labels - 1 - first])
    intervals = []
    for before, after in itertools.pairwise(ends.tolist()):
        adjacent = [end for end in (before, after) if end in peaks]
        lower = min(differences[peak] for peak in adjacent)
        within = differences[before + 1 : after]
        mean = float(within.mean()) if len(within) else 0.0
        intervals.append(
            Interval(
                latent=latent,
                start=before + 1,
                stop=after + 1,
                low=float(ordered[before + 1]),
                high=float(ordered[after]),
                ratio=float(lower / max(mean, np.finfo(float).tiny)),
            )
        )
    intervals.sort(key=lambda part: (-part.ratio, part.start))
    return LatentSteps(latent, ordered, differences, peaks, height, tuple(intervals))


def find_slabs(
    values: ArrayLike,
    n_slabs: int,
    settings: ReductionSettings = PUBLISHED,
    *,
    latent: int = 0,
) -> tuple[Interval, ...]:
    """Cut the labels of a smooth latent into slabs with equally many images.

    A latent that encodes a continuous factor has no jump. Within one of ``n`` slabs it
    varies by about ``1 / n`` of its range, so that the variance of the factor falls to
    about ``1 / n ** 2``.

    Args:
        values: Labels, ``(n,)``, in any order.
        n_slabs: Number of slabs.
        settings: Share of the labels that is ignored at both ends.
        latent: Index of the latent, copied to the result.

    Returns:
        Slabs, those of least change first; none if there are fewer than two labels per
        slab or all of them are equal. Slabs that would hold the same labels, as happens
        when many are equal, appear once.

    Example:
        >>> labels = np.linspace(0, 1, 100) ** 2
        >>> slabs = find_slabs(labels, 2, ReductionSettings(trim=0.0))
        >>> [(slab.start, slab.stop) for slab in slabs]
        [(0, 50), (50, 100)]
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    first = int(len(ordered) * settings.trim)
    last = len(ordered) - first
    if last - first < 2 * n_slabs or ordered[first] == ordered[last - 1]:
        return ()
    mean = (ordered[last - 1] - ordered[first]) / (last - 1 - first)
    slabs: dict[tuple[float, float], Interval] = {}
    ends = np.linspace(first, last, n_slabs + 1).round().astype(int).tolist()
    for start, stop in itertools.pairwise(ends):
        low, high = float(ordered[start]), float(ordered[stop - 1])
        within = max((high - low) / (stop - 1 - start), np.finfo(float).tiny)
        ratio = float(mean / within)
        slabs[low, high] = Interval(latent, start, stop, low, high, ratio)
    return tuple(sorted(slabs.values(), key=lambda slab: (-slab.ratio, slab.start)))


def _select_ordinary(
    differences: NDArray[np.float64], median: float, n_deviations: float
) -> NDArray[np.float64]:
    """Return the differences that are too small to be jumps."""
    deviation = float(differences.std())
    if median + n_deviations * deviation >= differences.max():
        # Many jumps among few labels inflate the standard deviation and hide in it: use
        # that of random labels with the same median instead.
        deviation = min(deviation, median / np.log(2))
    return differences[differences <= median + n_deviations * deviation]


def _chance_height(
    differences: NDArray[np.float64], width: int, false_peaks: float
) -> NDArray[np.float64]:
    """Return the height that differences of smooth labels reach by chance.

    Differences of random labels are exponentially distributed, with a mean that depends
    on the density of the labels. It is estimated from the local median, which a few
    jumps hardly change.
    """
    from scipy.ndimage import median_filter

    around = median_filter(differences, size=4 * max(width, 10) + 1, mode="reflect")
    mean = around / np.log(2)
    return mean * max(np.log(len(differences) / false_peaks), 0.0)


@dataclass(frozen=True, eq=False)
class Reduced:
    """Images that are alike in the factors learned so far.

    Attributes:
        intervals: One interval of each active latent.
        rows: Rows of the dataset whose labels lie in all of these intervals.
    """

    intervals: tuple[Interval, ...]
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """All ways to reduce a set of images, the preferred one first.

    Attributes:
        steps: Sorted labels, peaks and intervals of every active latent.
        choices: Images that each combination of intervals keeps.
        reason: Why there is no choice; empty if there is one.
    """

    steps: tuple[LatentSteps, ...]
    choices: tuple[Reduced, ...]
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types, without the labels themselves."""
        return {
            "reason": self.reason,
            "latents": [
                {
                    "latent": steps.latent,
                    "height": steps.height if np.isfinite(steps.height) else None,
                    "peaks": steps.peaks.tolist(),
                    "intervals": [vars(part) for part in steps.intervals],
                }
                for steps in self.steps
            ],
            "choices": [
                {
                    "intervals": [vars(part) for part in choice.intervals],
                    "images": len(choice.rows),
                }
                for choice in self.choices
            ],
        }


def reduce_images(
    labels: SurrogateLabels,
    settings: ReductionSettings = PUBLISHED,
) -> Reduction:
    """Find sets of images over which the active latents vary least.

    A latent with jumps offers its best intervals between them, a smooth latent its
    slabs. Each combination of one interval of every latent is a choice, with the images
    that lie in all of them.

    Args:
        labels: Surrogate labels of the current images.
        settings: Settings for peaks, slabs and the interval rule.

    Example:
        >>> stairs = np.repeat(np.arange(4.0), 64) + np.linspace(0, 0.01, 256)
        >>> one = SurrogateLabels(rows=np.arange(256), values=stairs[:, None],
        ...     latents=np.array([3]), kl=np.ones(4))
        >>> reduce_images(one).choices[0].rows.tolist() == list(range(64, 128))
        True
    """
    steps = _find_all_intervals(labels, settings)
    varying = [k for k, found in enumerate(steps) if found.intervals]
    if not varying:
        reason = f"too little data: {len(labels.rows)} images cannot be divided"
        return Reduction(steps, (), reason if len(steps) else "no active latent")
    choices = []
    for parts in itertools.product(
        *(steps[k].intervals[: settings.intervals] for k in varying)
    ):
        is_inside = np.ones(len(labels.rows), dtype=bool)
        for k, part in zip(varying, parts, strict=True):
            column = labels.values[:, k]
            is_inside &= (column >= part.low) & (column <= part.high)
        choices.append(Reduced(parts, labels.rows[is_inside]))
    usable = [choice for choice in choices if len(choice.rows) >= settings.least_images]
    if not usable:
        most = max(len(choice.rows) for choice in choices)
        return Reduction(
            steps,
            (),
            f"too little data: {most} images are left where "
            f"{settings.least_images} are needed",
        )
    # Sorting is stable: choices of equal size stay in the order of least change.
    sizes = np.array([len(choice.rows) for choice in usable])
    if settings.prefer == "largest":
        order = np.argsort(-sizes, kind="stable")
    elif len(varying) == 1:
        order = np.arange(len(usable))
    else:
        order = np.argsort(np.abs(sizes - np.median(sizes)), kind="stable")
    return Reduction(steps, tuple(usable[k] for k in order))


def _find_all_intervals(
    labels: SurrogateLabels, settings: ReductionSettings
) -> tuple[LatentSteps, ...]:
    """Return the intervals between peaks of each latent, or slabs if it has none."""
    columns = {int(k): v for k, v in zip(labels.latents, labels.values.T, strict=True)}
    steps = [
        find_intervals(column, settings, latent=latent)
        for latent, column in columns.items()
    ]
    n_smooth = sum(not found.intervals for found in steps)
    if not n_smooth:
        return tuple(steps)
    n_slabs = _n_slabs(len(labels.rows), n_smooth, steps, settings)
    return tuple(
        found
        if found.intervals
        else replace(
            found,
            intervals=find_slabs(found.values, n_slabs, settings, latent=found.latent),
        )
        for found in steps
    )


def _n_slabs(
    n_images: int,
    n_smooth: int,
    steps: Sequence[LatentSteps],
    settings: ReductionSettings,
) -> int:
    """Return the number of slabs of each smooth latent that leaves enough images.

    Assumes independent latents: the share of images in an intersection is the product
    of the shares in its intervals.
    """
    expected = n_images * (1 - 2 * settings.trim) ** n_smooth
    for found in steps:
        if found.intervals:
            best = found.intervals[: settings.intervals]
            expected *= np.mean([part.stop - part.start for part in best]) / n_images
    n_slabs = math.floor((expected / settings.slab_images) ** (1 / n_smooth))
    return min(max(n_slabs, 2), settings.slabs)


class RecursionSettings(Section):
    """Stopping rules of the recursion. The defaults are those of the paper.

    Attributes:
        leaf_runs: Number of leaf runs, each on other images.
        active: KL divergence in nats above which a latent is active.
        least_agreement: UDR of the best member below which only noise was learned.
        least_images: Smallest number of images to learn from.
        most_stages: Largest number of stages of a leaf run.
        label_bins: Bins of equal width for the surrogate labels of each stage, from the
            smallest to the largest label of that stage.
        reduction: Settings that select images alike in the factors learned so far.
    """

    leaf_runs: Annotated[int, pydantic.Field(ge=0)] = 3
    active: Positive = 1.0
    least_agreement: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.1
    least_images: Whole = 10
    most_stages: Whole = 10
    label_bins: Annotated[int, pydantic.Field(ge=2)] = BINS
    reduction: ReductionSettings = PUBLISHED
