"""A study of the dissertation that no sweep file can hold: its loss is learnt first."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from unbraid.data import open_dataset
from unbraid.geometry import learn_loss
from unbraid.studies import preset as sweep

from ._threads import one_thread

Plain = dict[str, Any]

QUICK_METRICS = ("mig", "linearity", "axis_alignment")
"""What is measured at the smallest size: the others take longer than the training."""

_STEPS = {"smoke": 5, "mini": 100, "paper": 400}
_DIGITS = 4


def _learnt_losses(preset: str) -> Plain:
    """Squares compared through a Gaussian and through a learnt kernel (Figure 6.4).

    Below the published size, squared error and the box are left to
    ``michlo-2022-a3-3``, which trains them with the same betas and seeds. The learnt
    kernel is weighted as any other, by 1 over the sum of its squares, so that a beta
    means the same for all; the dissertation does not give its weights.
    """
    plain = sweep("michlo-2022-a6", "paper" if preset == "paper" else "mini")
    learnt = {
        "name": "kernel_augmented",
        "kernel": [list(row) for row in _learnt_kernel(plain["data"], _STEPS[preset])],
    }
    squared, blurred, box = plain["grid"]["likelihood"]
    if preset == "paper":
        plain["grid"]["likelihood"] = [squared, blurred, box, learnt]
        return plain
    plain["grid"]["likelihood"] = [blurred, learnt]
    plain["methods"] = sweep("michlo-2022-a3-3", "mini")["methods"]
    if preset == "smoke":
        plain["evaluation"]["metrics"] = list(QUICK_METRICS)
    return plain


@cache
def _learnt_kernel(data: str, steps: int) -> tuple[tuple[float, ...], ...]:
    share = 0.7 if steps > 100 else 0.5
    # Sums that several threads share come out otherwise, and the runs of a study are
    # known by its numbers: the same kernel each time, or all would be trained again.
    with one_thread():
        learnt = learn_loss(open_dataset(data), steps=steps, along_factors=share)
    kernel = np.asarray(learnt.likelihood.kernel).round(_DIGITS)
    return tuple(tuple(row) for row in kernel.tolist())


MICHLO_STUDIES: dict[str, Callable[[str], Plain]] = {
    "michlo-2022-a6-learnt": _learnt_losses
}
"""By name: a function from the preset to the study as plain data."""
