"""How it is learned: a loop that can be stopped and resumed at any step."""

from ._fit import Run, fit
from ._loop import Snapshot, train
from ._specification import TrainingSpec
from ._state import TrainingState

__all__ = ["Run", "Snapshot", "TrainingSpec", "TrainingState", "fit", "train"]
