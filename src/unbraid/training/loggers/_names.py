"""Loggers by name: for the command line."""

from ._base import AbstractLogger
from ._mlflow import MLflowLogger
from ._tensorboard import TensorBoardLogger
from ._wandb import WandbLogger

LOGGERS: dict[str, type[AbstractLogger]] = {
    "mlflow": MLflowLogger,
    "tensorboard": TensorBoardLogger,
    "wandb": WandbLogger,
}


def choose_logger(wanted: AbstractLogger | str) -> AbstractLogger:
    """A logger from a name."""
    if isinstance(wanted, AbstractLogger):
        return wanted
    if wanted not in LOGGERS:
        raise ValueError(
            f"loggers: expected some of {', '.join(LOGGERS)}, got {wanted!r}."
        )
    return LOGGERS[wanted]()
