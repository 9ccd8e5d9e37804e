"""Logger for MLflow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.foundation import import_extra

from ._base import AbstractLogger, flat_settings, flatten_record


class MLflowLogger(AbstractLogger):
    """Reports runs to an experiment of MLflow.

    Args:
        experiment: Name of the experiment.
        tracking_uri: URI of the tracking server; if not given, MLflow's own setting.
    """

    def __init__(
        self, experiment: str = "unbraid", *, tracking_uri: str | None = None
    ) -> None:
        self._experiment, self._tracking_uri = experiment, tracking_uri
        self._mlflow: Any = None

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Open a run with the settings."""
        del step, folder
        mlflow = import_extra("mlflow", "mlflow")
        if self._tracking_uri is not None:
            mlflow.set_tracking_uri(self._tracking_uri)
        mlflow.set_experiment(self._experiment)
        mlflow.start_run()
        self._mlflow = mlflow
        mlflow.log_params(flat_settings(settings))

    def log(self, record: Mapping[str, Any]) -> None:
        """Add a point to every curve."""
        self._mlflow.log_metrics(flatten_record(record), step=record["step"])

    def close(self) -> None:
        """End the run."""
        if self._mlflow is not None:
            self._mlflow.end_run()
