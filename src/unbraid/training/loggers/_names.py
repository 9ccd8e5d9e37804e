"""Loggers by name."""

from unbraid.foundation import check_option

from ._base import AbstractLogger
from ._mlflow import MLflowLogger
from ._tensorboard import TensorBoardLogger
from ._wandb import WandbLogger

LOGGERS: dict[str, type[AbstractLogger]] = {
    "mlflow": MLflowLogger,
    "tensorboard": TensorBoardLogger,
    "wandb": WandbLogger,
}


def choose_logger(logger: AbstractLogger | str) -> AbstractLogger:
    """Return a logger, or the one with a name."""
    if isinstance(logger, AbstractLogger):
        return logger
    check_option("logger", logger, LOGGERS)
    return LOGGERS[logger]()
