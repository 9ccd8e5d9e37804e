"""RunSettings: what is learned from, what learns, and how, as plain data."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import pydantic

from unbraid.data import AbstractDataset, ChannelStatistics
from unbraid.foundation import Section, Whole, from_plain, make_record, to_plain
from unbraid.models import LIKELIHOODS, RECORDS, SCHEDULES
from unbraid.models.networks import NETWORKS
from unbraid.models.objectives import OBJECTIVES

from ._specification import MOST_STEPS, TrainingSpec
from ._specify import specify

Rate = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class Training(Section):
    """How a run is trained; the fields are arguments of :func:`unbraid.fit`.

    The learning rate is a number, or a schedule by its name and options, such as
    ``{name: decay, value: 1e-3}``.
    """

    steps: Annotated[int, pydantic.Field(ge=1, le=MOST_STEPS)] = 10_000
    batch_size: Whole = 64
    n_latents: Whole = 10
    learning_rate: Rate | dict[str, Any] = 1e-4
    optimiser: str = "Adam"
    optimiser_options: dict[str, Any] = {}
    order: Literal["iid", "shuffled"] = "iid"
    standardise: bool = False
    log_every: Whole = 100

    @pydantic.field_validator("learning_rate")
    @classmethod
    def _complete(cls, value: float | dict[str, Any]) -> float | dict[str, Any]:
        """Fill in the defaults of a schedule, so that leaving them out is the same."""
        if not isinstance(value, dict):
            return value
        return to_plain(from_plain(value, SCHEDULES), SCHEDULES)


class RunSettings(Section):
    """Settings of one training run.

    Objective, network and likelihood are names, or dictionaries with a ``name`` and
    hyperparameters; what is left out is filled with defaults, so that two ways of
    writing the same settings are equal.

    Attributes:
        data: Dataset, as :func:`unbraid.data.open_dataset` takes it.
        objective: Training objective.
        network: Network, or ``"auto"``: a published one at 64x64, dense for vectors and
            smaller images.
        likelihood: Likelihood, or ``"auto"``: Bernoulli for images, Gaussian otherwise.
        training: Length, batches and optimizer.
        seed: Seed of everything random in training.
    """

    data: Annotated[str, pydantic.Field(min_length=1)]
    objective: dict[str, Any] = {"name": "beta_vae"}
    network: dict[str, Any] = {"name": "auto"}
    likelihood: dict[str, Any] = {"name": "auto"}
    training: Training = Training()
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**63)] = 0

    @pydantic.field_validator("objective", "network", "likelihood", mode="before")
    @classmethod
    def _filled(cls, value: Any, info: pydantic.ValidationInfo) -> dict[str, Any]:
        """With every hyperparameter, so that its absence makes no difference."""
        plain = {"name": value} if isinstance(value, str) else value
        if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
            raise ValueError(f"expected a name, or a name with options, got {value!r}.")
        if plain["name"] == "auto" and info.field_name != "objective":
            if len(plain) > 1:
                raise ValueError(f"expected no options for 'auto', got {value!r}.")
            return dict(plain)
        known = {
            "objective": OBJECTIVES,
            "network": NETWORKS,
            "likelihood": LIKELIHOODS,
        }[info.field_name or ""]
        options = {
            key: from_plain(part, RECORDS)
            for key, part in plain.items()
            if key != "name"
        }
        try:
            return to_plain(make_record(plain["name"], options, known), RECORDS)
        except TypeError as error:  # an option that must be given
            raise ValueError(f"{plain['name']}: {error}.") from error

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them; 4.0 as 4, as in YAML."""
        return dict(self._plain)

    @cached_property
    def _plain(self) -> dict[str, Any]:
        return _with_whole_numbers(self.model_dump(mode="json"))

    def training_spec(
        self, dataset: AbstractDataset, statistics: ChannelStatistics | None = None
    ) -> TrainingSpec:
        """What :func:`unbraid.training.train_run` takes.

        Args:
            dataset: What ``data`` says, opened.
            statistics: Of the dataset, if they are known already.
        """
        settings = self.training.model_dump(exclude={"log_every", "standardise"})
        options = settings.pop("optimiser_options")
        settings["learning_rate"] = from_plain(settings["learning_rate"], SCHEDULES)
        network, likelihood = self.network, self.likelihood
        return specify(
            _record(self.objective),
            dataset,
            network="auto" if network["name"] == "auto" else _record(network),
            likelihood="auto" if likelihood["name"] == "auto" else _record(likelihood),
            standardise=self.training.standardise and (statistics or True),
            optimiser_options=tuple(sorted(options.items())),
            seed=self.seed,
            **settings,
        )


def _record(plain: dict[str, Any]) -> Any:
    return from_plain(plain, RECORDS)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_whole_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
