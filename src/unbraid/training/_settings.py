"""TrainingSettings: everything that decides how a model is trained.

To add a setting, add a field with its default and description to :class:`Training`,
and its type to :class:`TrainingOverrides`. ``unbraid.fit``, study files, populations
and ``unbraid train`` all take their settings from here.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypedDict

import pydantic
from pydantic import Field

from unbraid.foundation import Section
from unbraid.models import AbstractLikelihood, Number
from unbraid.models.networks import AbstractNetwork

from ._recipes import RecipeName
from ._setting_types import (
    Count,
    LearningRate,
    LikelihoodChoice,
    NetworkChoice,
    OptimizerName,
    RecipeChoice,
    Seed,
    Steps,
)

LEARNING_RATE = 1e-4
"""Learning rate of a run that neither gives one nor follows a recipe."""

_NAMES_ON_DISK = {
    "optimizer": "optimiser",
    "optimizer_options": "optimiser_options",
    "standardize": "standardise",
}
"""Former spelling of settings, which files and run ids keep."""
_NAMES = {former: name for name, former in _NAMES_ON_DISK.items()}


def write_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the names that they have in files."""
    return {_NAMES_ON_DISK.get(name, name): part for name, part in settings.items()}


def read_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings from a file under their present names.

    Raises:
        ValueError: If a setting is given under its present and its former name.

    Example:
        >>> read_names({"optimiser": "SGD", "steps": 10})
        {'optimizer': 'SGD', 'steps': 10}
    """
    for former, name in _NAMES.items():
        if former in settings and name in settings:
            raise ValueError(
                f"{name} and {former} are the same setting. Give only one of them."
            )
    return {_NAMES.get(name, name): part for name, part in settings.items()}


class ModelSettings(Section):
    """Network, likelihood and seed, which are top-level keys of a study file."""

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    network: NetworkChoice = Field(
        default="auto",
        description="Encoder and decoder: auto, dense, convolutional, the name of a "
        "published network, or a network object. auto takes a published network for "
        "64x64 pixels, and a dense one for vectors and the smallest images.",
    )
    likelihood: LikelihoodChoice = Field(
        default="auto",
        description="Likelihood of images given codes: auto, bernoulli, "
        "gaussian, laplace, kernel_augmented, the .json file of a learned likelihood, "
        "or a likelihood object. auto is bernoulli for images, and gaussian for "
        "vectors and standardized data.",
    )
    seed: Seed = Field(
        default=0,
        description="Seed of everything random; the same seed gives the same model.",
    )


class Training(Section):
    """How a model is updated: the ``training`` section of a study file.

    Settings that are ``None`` are not written, so that runs from before such a setting
    existed keep their ids.
    """

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    steps: Steps = Field(default=10_000, description="Number of updates.")
    batch_size: Count = Field(
        default=64, description="Images (or pairs, or triplets) per update."
    )
    n_latents: Count = Field(
        default=10, description="Number of latents, the length of a code."
    )
    learning_rate: LearningRate = Field(
        default=None,
        description="Learning rate of the optimizer: a number, or a schedule such as "
        "{name: decay, value: 1e-3}, which falls to zero over the last 30% of the "
        "steps. If not given, that of the recipe, or 0.0001.",
    )
    recipe: RecipeChoice = Field(
        default=None,
        description="Recipe that chooses the network and the learning rate unless they "
        "are given: small suits images of up to 32x32 pixels and minutes on a CPU.",
    )
    optimizer: OptimizerName = Field(
        default="Adam", description="Name of an optimizer class of torch.optim."
    )
    optimizer_options: dict[str, Any] = Field(
        default={},
        description="Further options of the optimizer, such as {weight_decay: 1e-4}.",
    )
    order: Literal["iid", "shuffled"] = Field(
        default="iid",
        description="Draw rows independently (iid), or each once per epoch (shuffled).",
    )
    standardize: bool = Field(
        default=False,
        description="Give every channel mean 0 and standard deviation 1 inside the "
        "model.",
    )
    log_every: Count = Field(
        default=100, description="Steps per record of the history."
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _read_names(cls, data: Any) -> Any:
        return read_names(data) if isinstance(data, Mapping) else data

    @pydantic.model_validator(mode="after")
    def _fill_learning_rate(self) -> Self:
        if self.learning_rate is None and self.recipe is None:
            # Not marked as given, so that a recipe may still choose another.
            object.__setattr__(self, "learning_rate", LEARNING_RATE)
        return self

    @pydantic.model_serializer(mode="wrap")
    def _write(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        plain = write_names(write(self))
        return {name: value for name, value in plain.items() if value is not None}


class TrainingSettings(ModelSettings, Training):
    """Settings of a training run, apart from the objective and the data.

    Example:
        >>> settings = TrainingSettings(steps=500, network="dense")
        >>> settings.batch_size, settings.learning_rate, settings.network.widths
        (64, 0.0001, (256, 256))
    """


class TrainingOverrides(TypedDict, total=False):
    """Types of the keyword arguments of functions that take training settings."""

    steps: int
    batch_size: int
    n_latents: int
    network: AbstractNetwork | str | Mapping[str, Any]
    likelihood: AbstractLikelihood | str | Mapping[str, Any]
    learning_rate: Number | Mapping[str, Any] | None
    recipe: RecipeName | None
    optimizer: str
    optimizer_options: Mapping[str, Any]
    order: Literal["iid", "shuffled"]
    standardize: bool
    seed: int
    log_every: int
