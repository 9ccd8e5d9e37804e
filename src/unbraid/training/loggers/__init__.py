"""Loggers, which report a run while it is training."""

from ._base import AbstractLogger, flat_settings
from ._mlflow import MLflowLogger
from ._names import LOGGERS, choose_logger
from ._tensorboard import TensorBoardLogger
from ._wandb import WandbLogger

__all__ = [
    "LOGGERS",
    "AbstractLogger",
    "MLflowLogger",
    "TensorBoardLogger",
    "WandbLogger",
    "choose_logger",
    "flat_settings",
]
