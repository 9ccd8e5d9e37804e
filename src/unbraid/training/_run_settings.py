"""RunSettings: data, objective and training settings as plain data."""

from functools import cached_property
from typing import Any

import pydantic

from unbraid.data import AbstractDataset, ChannelStatistics, DataSpec
from unbraid.foundation import from_plain, to_plain
from unbraid.models import RECORDS
from unbraid.models.objectives import OBJECTIVES, AbstractObjective

from ._setting_types import read_record
from ._settings import ModelSettings, Training, TrainingSettings
from ._specification import TrainingSpec
from ._specify import specify


class RunSettings(ModelSettings):
    """Settings of one training run.

    Objective, network and likelihood are names, or dictionaries with a ``name`` and
    hyperparameters. Missing values are filled with defaults, so that two ways to write
    the same settings are equal.

    Attributes:
        data: Dataset, by its name or path and its options.
        objective: Training objective.
        training: Length, batches and optimizer.

    Network, likelihood and seed are described in :class:`TrainingSettings`.
    """

    data: DataSpec
    objective: dict[str, Any] = {"name": "beta_vae"}
    training: Training = Training()

    @pydantic.field_validator("objective", mode="before")
    @classmethod
    def _fill_objective(cls, value: Any) -> dict[str, Any]:
        """Add the defaults of hyperparameters that are not given."""
        return to_plain(read_record(value, AbstractObjective, OBJECTIVES), RECORDS)

    @pydantic.field_validator("seed")
    @classmethod
    def _check_seed(cls, seed: int) -> int:
        """Require a seed that fits into a column of a study's table."""
        if seed >= 2**63:
            raise ValueError(f"seed must be below 2**63, got {seed}.")
        return seed

    @property
    def settings(self) -> TrainingSettings:
        """All training settings in one record."""
        own = {name: getattr(self, name) for name in ModelSettings.model_fields}
        return TrainingSettings(**own, **dict(self.training))

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types; 4.0 becomes 4, as in YAML."""
        return dict(self._plain)

    @cached_property
    def _plain(self) -> dict[str, Any]:
        return _with_whole_numbers(self.model_dump(mode="json"))

    def training_spec(
        self, dataset: AbstractDataset, statistics: ChannelStatistics | None = None
    ) -> TrainingSpec:
        """Return the settings for :func:`unbraid.training.train_run`.

        Args:
            dataset: The dataset named by ``data``.
            statistics: Statistics of the dataset, if they are known already.
        """
        return specify(
            from_plain(self.objective, RECORDS),
            dataset,
            statistics=statistics,
            settings=self.settings,
        )


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_whole_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
