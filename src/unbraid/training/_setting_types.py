"""Types of training settings, with the conversion of what users write."""

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
import torch
from pydantic_core import PydanticCustomError

from unbraid.foundation import check_seed, from_plain, is_number, make_record, to_plain
from unbraid.models import (
    LIKELIHOODS,
    RECORDS,
    SCHEDULES,
    AbstractLikelihood,
    AbstractSchedule,
    Number,
    choose_likelihood,
    schedule_ends,
)
from unbraid.models.networks import NETWORKS, AbstractNetwork

from ._recipes import RecipeName, check_recipe

MOST_STEPS = 10**11
"""Three years at 1,000 steps per second, more than any machine does at present."""

# The base class, one that evaluates the loss repeatedly, and one for sparse gradients.
_UNUSABLE = ("Optimizer", "LBFGS", "SparseAdam")


def _read_count(value: Any) -> int:
    """Accept the integers of any library, but no booleans."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise PydanticCustomError("count", "a positive integer")
    return number


def read_count(name: str, value: Any) -> int:
    """Return an argument as a Python integer, after checking that it is positive."""
    try:
        return _read_count(value)
    except PydanticCustomError as error:
        raise ValueError(f"{name} must be {error.message()}, got {value!r}.") from None


def _check_steps(steps: int) -> int:
    if steps > MOST_STEPS:
        years = steps / 1000 / 3600 / 24 / 365
        raise ValueError(
            f"steps must be at most {MOST_STEPS:,}, got {steps:,}: even at 1,000 steps "
            f"per second this would take {years:,.0f} years."
        )
    return steps


def _check_optimizer(name: Any) -> str:
    kind = getattr(torch.optim, str(name), None)
    is_optimizer = isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)
    if not is_optimizer or name in _UNUSABLE:
        raise PydanticCustomError(
            "optimizer",
            "the name of an optimizer of torch.optim that takes one dense gradient "
            "per step, such as 'Adam' or 'SGD'",
        )
    return name


def _read_learning_rate(value: Any) -> Number | None:
    if isinstance(value, Mapping):
        value = from_plain(value, SCHEDULES)
    ends = [] if value is None else schedule_ends(value)
    # A schedule may start or end at zero, but not stay there.
    if ends and not (all(is_number(end, least=0.0) for end in ends) and max(ends) > 0):
        raise ValueError(f"The learning rate must be positive, got {value!r}.")
    return float(value) if isinstance(value, int) else value


def read_record(value: Any, kind: type, known: Mapping[str, type]) -> Any:
    """Return the record that a setting describes.

    Args:
        value: A record, its name, or a dictionary with its name and options.
        kind: Class of the record.
        known: Classes by name.
    """
    if isinstance(value, kind):
        return value
    plain = {"name": value} if isinstance(value, str) else value
    if not isinstance(plain, Mapping) or not isinstance(plain.get("name"), str):
        raise ValueError(f"{value!r} is neither a name nor a name with options.")
    options = {k: from_plain(part, RECORDS) for k, part in plain.items() if k != "name"}
    try:
        return make_record(plain["name"], options, known)
    except TypeError as error:  # an option of a wrong type
        raise ValueError(f"{plain['name']}: {error}.") from error


def _read_network(value: Any) -> Any:
    return _read_choice(value, AbstractNetwork, NETWORKS)


def _read_likelihood(value: Any) -> Any:
    if isinstance(value, str) and value.endswith(".json"):
        return choose_likelihood(value)
    return _read_choice(value, AbstractLikelihood, LIKELIHOODS)


def _read_choice(value: Any, kind: type, known: Mapping[str, type]) -> Any:
    if value in ("auto", {"name": "auto"}):
        return "auto"
    if isinstance(value, Mapping) and value.get("name") == "auto":
        raise ValueError(f"'auto' takes no options, got {value!r}.")
    return read_record(value, kind, known)


def _write_choice(value: Any) -> dict[str, Any]:
    return {"name": "auto"} if value == "auto" else to_plain(value, RECORDS)


Count = Annotated[int, pydantic.BeforeValidator(_read_count)]
Steps = Annotated[Count, pydantic.AfterValidator(_check_steps)]
Seed = Annotated[int, pydantic.BeforeValidator(check_seed)]
OptimizerName = Annotated[str, pydantic.BeforeValidator(_check_optimizer)]
RecipeChoice = Annotated[RecipeName | None, pydantic.BeforeValidator(check_recipe)]
LearningRate = Annotated[
    float | AbstractSchedule | None,
    pydantic.BeforeValidator(_read_learning_rate),
    pydantic.PlainSerializer(lambda rate: to_plain(rate, SCHEDULES)),
]
NetworkChoice = Annotated[
    AbstractNetwork | Literal["auto"],
    pydantic.BeforeValidator(_read_network),
    pydantic.PlainSerializer(_write_choice),
]
LikelihoodChoice = Annotated[
    AbstractLikelihood | Literal["auto"],
    pydantic.BeforeValidator(_read_likelihood),
    pydantic.PlainSerializer(_write_choice),
]
