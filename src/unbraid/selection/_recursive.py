"""Recursion: images among which what has been learned hardly varies any more."""

import itertools
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import median_filter
from scipy.signal import find_peaks

from unbraid.sections import Section, Whole

from ._surrogate_labels import SurrogateLabels

Share = Annotated[float, pydantic.Field(ge=0, lt=0.5)]
Positive = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class ReductionSettings(Section):
    """How steps of latents are found.

    The defaults are those of the paper's code. Two things are ours. ``false_peaks``:
    differences of neighbours of smooth labels are as irregular as the times between
    random events, so that among many of them some are always seven deviations high. And
    where the jumps themselves make the deviation so large that none stands out, as they
    do among a few dozen labels, it is that of random labels with the same median.

    Attributes:
        trim: Share of the sorted labels left out at both ends, where they are sparse.
        height: Deviations above the median that the difference of two neighbours must
            have to be a peak.
        ordinary: Deviations above the median up to which differences count as ordinary;
            the deviation of these is the unit of ``height``.
        false_peaks: Expected number of peaks among labels that are smooth; a peak must
            be higher than the mean difference around it times ``log(n / false_peaks)``.
        distance: Least distance of two peaks, as a share of the labels; the mean around
            a peak is taken over twice as many on either side.
        intervals: Of each latent, that are combined with those of the others.
        least_images: Without which a combination is no use.
        prefer: Among combinations: the ``"largest"``, or those nearest to the
            ``"median"`` size.
    """

    trim: Share = 1 / 15
    height: Positive = 7.0
    ordinary: Positive = 4.0
    false_peaks: Positive = 0.01
    distance: Share = 1 / 50
    intervals: Whole = 5
    least_images: Whole = 10
    prefer: Literal["median", "largest"] = "median"


PUBLISHED = ReductionSettings()
"""As in the paper's code."""


@dataclass(frozen=True)
class Interval:
    """A range of a latent over which it changes little.

    Attributes:
        latent: Of the model.
        start: Place of its first label among the sorted ones.
        stop: Place after its last.
        low: First label.
        high: Last label.
        ratio: Height of the lower of the peaks beside it, over the mean difference of
            neighbours within.
    """

    latent: int
    start: int
    stop: int
    low: float
    high: float
    ratio: float


@dataclass(frozen=True, eq=False)
class LatentSteps:
    """The sorted labels of a latent, and where they jump.

    Attributes:
        latent: Of the model.
        values: Sorted labels, ``(n,)``.
        differences: Of neighbours, ``(n - 1,)``.
        peaks: Places of the differences that stand out.
        height: That a difference must have to stand out, wherever it is.
        intervals: Between peaks, those that change least first.
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
    """Intervals of least change between the jumps of a latent.

    A latent that holds a factor of few values has sorted labels like a staircase: their
    derivative has a peak at every step, and is small between. Each interval between two
    peaks is worth the height of the lower one over the mean derivative within. A single
    peak has an interval on either side.

    Args:
        values: Labels, ``(n,)``, in any order.
        settings: What counts as a peak.
        latent: What to call it.

    Returns:
        Peaks and intervals; none of either if the labels are smooth.

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
    median = float(np.median(inner))
    ordinary = _ordinary(inner, median, settings.ordinary)
    # Differences of what is level to the last digit do not vary: any jump stands out.
    height = median + settings.height * float(ordinary.std()) + np.finfo(float).tiny
    distance = max(1, int(n_labels * settings.distance))
    needed = np.maximum(height, _chance_height(inner, distance, settings.false_peaks))
    peaks = find_peaks(inner, height=needed, distance=distance)[0] + first
    ends = peaks
    if len(peaks) == 1:
        ends = np.array([first - 1, peaks[0], n_labels - 1 - first])
    found = []
    for before, after in itertools.pairwise(ends.tolist()):
        beside = [place for place in (before, after) if place in peaks]
        lower = min(differences[place] for place in beside)
        within = differences[before + 1 : after]
        mean = float(within.mean()) if len(within) else 0.0
        found.append(
            Interval(
                latent=latent,
                start=before + 1,
                stop=after + 1,
                low=float(ordered[before + 1]),
                high=float(ordered[after]),
                ratio=float(lower / max(mean, np.finfo(float).tiny)),
            )
        )
    found.sort(key=lambda part: (-part.ratio, part.start))
    return LatentSteps(latent, ordered, differences, peaks, height, tuple(found))


def _ordinary(
    differences: NDArray[np.float64], median: float, n_deviations: float
) -> NDArray[np.float64]:
    """Those that are no jumps, as far as their size tells."""
    deviation = float(differences.std())
    if median + n_deviations * deviation >= differences.max():
        # Jumps that are many among few hide in the deviation that they make: then take
        # that of random labels with the same median.
        deviation = min(deviation, median / np.log(2))
    return differences[differences <= median + n_deviations * deviation]


def _chance_height(
    differences: NDArray[np.float64], width: int, false_peaks: float
) -> NDArray[np.float64]:
    """What differences of smooth labels reach by chance, around each of them.

    Those of random labels are exponential, with a mean that follows the density of the
    labels; a median is not moved by the few jumps that are looked for.
    """
    around = median_filter(differences, size=4 * max(width, 10) + 1, mode="reflect")
    mean = around / np.log(2)
    return mean * max(np.log(len(differences) / false_peaks), 0.0)


@dataclass(frozen=True, eq=False)
class Reduced:
    """Images that are alike in what has been learned.

    Attributes:
        intervals: One of each latent that jumps.
        rows: Of the dataset, that lie in all of them.
    """

    intervals: tuple[Interval, ...]
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """All ways to reduce a set of images, the preferred one first.

    Attributes:
        steps: Of every active latent.
        choices: What is left by each combination of intervals.
        reason: Why there is no choice; empty if there is one.
    """

    steps: tuple[LatentSteps, ...]
    choices: tuple[Reduced, ...]
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it, without the labels themselves."""
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
    """Sets of images over which the active latents vary least.

    Of every latent that jumps, the best intervals are taken; each combination of one
    interval of each is a choice, with the images that lie in all of them. Latents
    without a peak take no part.

    Args:
        labels: Of the images that there are now.
        settings: What counts as a peak, and as enough images.

    Example:
        >>> stairs = np.repeat(np.arange(4.0), 64) + np.linspace(0, 0.01, 256)
        >>> one = SurrogateLabels(rows=np.arange(256), values=stairs[:, None],
        ...     latents=np.array([3]), kl=np.ones(4))
        >>> reduce_images(one).choices[0].rows.tolist() == list(range(64, 128))
        True
    """
    steps = tuple(
        find_intervals(column, settings, latent=int(latent))
        for latent, column in zip(labels.latents, labels.values.T, strict=True)
    )
    jumping = [k for k, found in enumerate(steps) if found.intervals]
    if not jumping:
        reason = "no peak in the derivative of any active latent"
        return Reduction(steps, (), reason if len(steps) else "no active latent")
    choices = []
    for parts in itertools.product(
        *(steps[k].intervals[: settings.intervals] for k in jumping)
    ):
        is_inside = np.ones(len(labels.rows), dtype=bool)
        for k, part in zip(jumping, parts, strict=True):
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
    sizes = np.array([len(choice.rows) for choice in usable])
    if len(jumping) == 1:
        order = np.arange(len(usable))  # by how little the latent changes
    elif settings.prefer == "largest":
        order = np.argsort(-sizes, kind="stable")
    else:
        order = np.argsort(np.abs(sizes - np.median(sizes)), kind="stable")
    return Reduction(steps, tuple(usable[place] for place in order))


class RecursionSettings(Section):
    """When the recursion ends; the defaults are the paper's.

    Attributes:
        leaf_runs: Paths of ever smaller sets of images.
        active: Nats above which a latent has learned something.
        least_agreement: UDR of the best member, below which only noise was learned.
        least_images: Below which a set of images is not learned from.
        most_stages: Of a leaf run.
        reduction: How images are chosen among which the learned varies least.
    """

    leaf_runs: Annotated[int, pydantic.Field(ge=0)] = 3
    active: Positive = 1.0
    least_agreement: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.1
    least_images: Whole = 10
    most_stages: Whole = 10
    reduction: ReductionSettings = PUBLISHED
