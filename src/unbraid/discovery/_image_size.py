"""Smaller images, where the time does not suffice for large ones."""

import numpy as np

from unbraid.data import LabeledImages
from unbraid.foundation import format_duration, numpy_generator
from unbraid.models.objectives import BetaTCVAE
from unbraid.studies import Cost
from unbraid.training import measure_training, specify

from ._budget import N_LATENTS, Limits
from ._proposal import BATCH_SIZE
from ._rounds import longest_race, seconds_of_good_race

_FACTORS = (1, 2, 4, 8)
_SMALLEST_SIDE = 16


def choose_factor(
    image_shape: tuple[int, ...], limits: Limits
) -> tuple[int, tuple[str, ...]]:
    """Choose how much smaller images must be for good runs in the time.

    Args:
        image_shape: Shape of the images.
        limits: Time and machine of the discovery.

    Returns:
        The factor, 1 if the images can stay as they are; and sentences that say why.
    """
    if len(image_shape) != 3:
        return 1, ()
    seconds, n_workers = limits.most_seconds, limits.n_workers
    side = min(image_shape[1:])
    factors = [f for f in _FACTORS if f == 1 or side // f >= _SMALLEST_SIDE]
    costs = {}
    for factor in factors:
        costs[factor] = _measure(_smaller(image_shape, factor), limits.device)
        if seconds_of_good_race(costs[factor], n_workers) <= seconds:
            break
    else:
        # Nothing is good: the first that is possible at all, or the smallest.
        possible = (f for f in factors if longest_race(costs[f], seconds, n_workers))
        factor = next(possible, factors[-1])
    if factor == 1:
        return 1, ()
    before, after = (
        "x".join(map(str, shape[1:]))
        for shape in (image_shape, _smaller(image_shape, factor))
    )
    needed = seconds_of_good_race(costs[1], n_workers)
    return factor, (
        f"The images were made smaller, from {before} to {after} pixels, because good "
        "runs of full size do not fit into the time. A budget of "
        f"{format_duration(needed)} keeps the full size.",
    )


def _measure(image_shape: tuple[int, ...], device: str) -> Cost:
    """Time a step on random images of this shape."""
    generator = numpy_generator(0, "timed images")
    shape = (2 * BATCH_SIZE, *image_shape)
    data = LabeledImages(generator.integers(0, 256, shape, dtype=np.uint8))
    spec = specify(
        BetaTCVAE(),
        data,
        steps=1_000,
        recipe="small",
        n_latents=N_LATENTS,
        batch_size=BATCH_SIZE,
    )
    cost = measure_training(spec, data, device=device)
    return Cost(cost.per_step, 0.0, cost.n_bytes)


def _smaller(image_shape: tuple[int, ...], factor: int) -> tuple[int, ...]:
    n_channels, *sides = image_shape
    return (n_channels, *(-(-side // factor) for side in sides))
