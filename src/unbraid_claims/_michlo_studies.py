"""A study of the dissertation that no sweep file can hold: its loss is learnt first."""

from collections.abc import Callable
from functools import cache
from typing import Any

from unbraid.data import open_dataset
from unbraid.foundation import to_plain
from unbraid.models import LIKELIHOODS, KernelAugmented
from unbraid.perception import learn_loss
from unbraid.studies import preset as sweep

from ._threads import one_thread

Plain = dict[str, Any]

QUICK_METRICS = ("mig", "linearity", "axis_alignment")
"""What is measured at the smallest size: the others take longer than the training."""

_STEPS = {"smoke": 5, "mini": 100, "paper": 400}


def _learnt_losses(preset: str) -> Plain:
    """Squares compared through a Gaussian and through a learnt kernel (Figure 6.4).

    Below the published size, squared error and the box are left to
    ``michlo-2022-a3-3``, which trains them with the same betas and seeds. The learned
    kernel keeps its numbers and the weight it was learned with.
    """
    plain = sweep("michlo-2022-a6", "paper" if preset == "paper" else "mini")
    learnt = to_plain(_learned_loss(plain["data"], _STEPS[preset]), LIKELIHOODS)
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
def _learned_loss(data: str, steps: int) -> KernelAugmented:
    share = 0.7 if steps > 100 else 0.5
    # Sums over several threads depend on their number. One thread gives the same
    # kernel each time, and so the same run ids: nothing is trained twice.
    with one_thread():
        learned = learn_loss(open_dataset(data), steps=steps, along_factors=share)
    return learned.likelihood


MICHLO_STUDIES: dict[str, Callable[[str], Plain]] = {
    "michlo-2022-a6-learnt": _learnt_losses
}
"""By name: a function from the preset to the study as plain data."""
