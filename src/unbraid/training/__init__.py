"""How it is learned: a loop that can be stopped and resumed at any step."""

from ._cost import TrainingCost, measure_training
from ._diagnosis import Diagnosis
from ._fit import choose_device, fit, train_run
from ._loop import Snapshot, train
from ._memory import keep_freed_memory
from ._model_file import load, save_model
from ._population import join_stretches, train_stretch
from ._recipes import Recipe, RecipeName, choose_recipe
from ._run import Run
from ._specification import Change, TrainingSpec
from ._specify import LEARNING_RATE, specify
from ._state import TrainingState
from ._trace import Trace, TraceSettings

__all__ = [
    "Change",
    "Diagnosis",
    "Run",
    "Snapshot",
    "Trace",
    "TraceSettings",
    "TrainingCost",
    "TrainingSpec",
    "TrainingState",
    "Recipe",
    "RecipeName",
    "LEARNING_RATE",
    "choose_device",
    "choose_recipe",
    "fit",
    "join_stretches",
    "keep_freed_memory",
    "load",
    "measure_training",
    "save_model",
    "specify",
    "train",
    "train_run",
    "train_stretch",
]
