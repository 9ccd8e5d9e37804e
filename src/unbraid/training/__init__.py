"""Training: settings, a loop that can be interrupted and resumed, and run folders."""

from ._checkpoint import load_state
from ._cost import TrainingCost, measure_training
from ._diagnosis import HISTORY_DAMAGED, NO_SCORE, Diagnosis
from ._fit import choose_device, fit, train_run
from ._history import ACTIVE, read_history
from ._loop import Snapshot, train
from ._memory import keep_freed_memory
from ._model_file import (
    SavedModel,
    copy_model,
    load,
    read_model,
    read_model_hash,
    read_weight_hashes,
    save_model,
)
from ._population import join_segments, train_segment
from ._recipes import Recipe, RecipeName, choose_recipe
from ._run import Run
from ._run_folder import RunFolder
from ._run_settings import RunSettings
from ._scores import ScoreCurve, ScoreSettings, score_curves
from ._settings import (
    LEARNING_RATE,
    Training,
    TrainingOverrides,
    TrainingSettings,
    read_names,
)
from ._specification import Change, TrainingSpec, hash_plain
from ._specify import specify
from ._state import TrainingState
from ._tensor_file import read_tensors
from ._threads import torch_threads
from ._trace import Trace, TraceRecorder, TraceSettings, find_last_layer

__all__ = [
    "load_state",
    "HISTORY_DAMAGED",
    "NO_SCORE",
    "ACTIVE",
    "read_history",
    "copy_model",
    "read_model_hash",
    "read_weight_hashes",
    "RunFolder",
    "read_tensors",
    "TraceRecorder",
    "find_last_layer",
    "Change",
    "Diagnosis",
    "Run",
    "SavedModel",
    "RunSettings",
    "Training",
    "hash_plain",
    "ScoreCurve",
    "ScoreSettings",
    "Snapshot",
    "Trace",
    "TraceSettings",
    "TrainingCost",
    "TrainingOverrides",
    "TrainingSettings",
    "TrainingSpec",
    "TrainingState",
    "Recipe",
    "RecipeName",
    "LEARNING_RATE",
    "choose_device",
    "choose_recipe",
    "fit",
    "join_segments",
    "keep_freed_memory",
    "load",
    "read_model",
    "read_names",
    "measure_training",
    "save_model",
    "score_curves",
    "specify",
    "torch_threads",
    "train",
    "train_run",
    "train_segment",
]
