"""The study of Michlo (2022) with a learned loss, which no sweep file can contain."""

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
"""Metrics of the size "smoke"; the others take longer than training."""

_STEPS = {"smoke": 5, "mini": 100, "paper": 400}


def _learned_losses_study(preset: str) -> Plain:
    """Return the study of Gaussian and learned kernels on XYSquares (Figure 6.4).

    At smaller sizes than published, squared error and the box kernel are part of
    ``michlo-2022-a3-3``, which trains them with the same betas and seeds.
    """
    plain = sweep("michlo-2022-a6", "paper" if preset == "paper" else "mini")
    learned = to_plain(_learned_loss(plain["data"], _STEPS[preset]), LIKELIHOODS)
    squared, blurred, box = plain["grid"]["likelihood"]
    if preset == "paper":
        plain["grid"]["likelihood"] = [squared, blurred, box, learned]
        return plain
    plain["grid"]["likelihood"] = [blurred, learned]
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
    "michlo-2022-a6-learnt": _learned_losses_study
}
"""Studies by name, as functions from the preset to the data of a study file."""
