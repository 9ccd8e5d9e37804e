"""Everything that decides the outcome of a run, apart from the data."""

import dataclasses
import hashlib
import itertools
import json
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import torch

from unbraid.foundation import Joined, check_seed, from_plain, is_number, to_plain
from unbraid.models import (
    RECORDS,
    AbstractLikelihood,
    Bernoulli,
    Number,
    fill_steps,
    restore_former_settings,
    schedule_ends,
)
from unbraid.models.networks import AbstractNetwork, Dense
from unbraid.models.objectives import AbstractObjective, BetaVAE

FORMAT = 1
MOST_STEPS = 10**11
"""Three years at 1,000 steps per second, more than any machine does at present."""

_OWN = "own"
# The parent of all, one that evaluates the loss at will, and one for sparse gradients.
_UNUSABLE = ("Optimizer", "LBFGS", "SparseAdam")
_KINDS = {
    "objective": AbstractObjective,
    "network": AbstractNetwork,
    "likelihood": AbstractLikelihood,
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, kw_only=True)
class Change:
    """Settings that take the place of a run's own from a step on.

    Args:
        at: Updates after which it holds, from 1.
        objective: What is made small from then on.
        batch_size: Images (or pairs, or triplets) of an update.
        learning_rate: Learning rate from then on, a number or a schedule. The
            optimizer keeps its averages.
        seed: Of batches and noise.
    """

    at: int
    objective: AbstractObjective
    batch_size: int
    learning_rate: Number
    seed: int


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """Settings of a run: what is taught, to which network, for how long.

    Args:
        objective: What is made small.
        network: Encoder and decoder.
        likelihood: How images are compared with reconstructions.
        image_shape: Of the data.
        n_latents: Length of a code.
        steps: Updates of the model.
        batch_size: Images (or pairs, or triplets) of an update.
        order: Rows drawn independently (``"iid"``), or all in turn (``"shuffled"``).
        optimiser: Name of a class of ``torch.optim``.
        learning_rate: Learning rate of the optimizer, above 0, or a schedule such as
            :class:`unbraid.models.Decay`.
        optimiser_options: More options of the optimiser.
        mean: To be subtracted from every channel; nothing when empty.
        std: For every channel to be divided by; nothing when empty.
        seed: Of initial weights, batches and noise.
        changes: Of settings on the way, in the order of their steps.
    """

    objective: AbstractObjective = field(default_factory=BetaVAE)
    network: AbstractNetwork = field(default_factory=Dense)
    likelihood: AbstractLikelihood = field(default_factory=Bernoulli)
    image_shape: tuple[int, ...] = (1, 64, 64)
    n_latents: int = 10
    steps: int = 10_000
    batch_size: int = 64
    order: Literal["iid", "shuffled"] = "iid"
    optimiser: str = "Adam"
    learning_rate: Number = 1e-4
    optimiser_options: tuple[tuple[str, Any], ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    seed: int = 0
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", check_seed(self.seed))
        for name in ("n_latents", "steps", "batch_size"):
            object.__setattr__(self, name, checked_count(name, getattr(self, name)))
        if self.steps > MOST_STEPS:
            raise ValueError(
                f"steps must be at most {MOST_STEPS:,}, got {self.steps:,}: even at "
                "1,000 steps per second this would take "
                f"{self.steps / 1000 / 3600 / 24 / 365:,.0f} years."
            )
        self._check_learning_rate()
        kind = getattr(torch.optim, str(self.optimiser), None)
        if not (
            isinstance(kind, type)
            and issubclass(kind, torch.optim.Optimizer)
            and self.optimiser not in _UNUSABLE
        ):
            raise ValueError(
                "fit: expected the name of an optimiser of torch.optim, such as 'Adam' "
                "or 'SGD', which can use dense gradients of one pass, got "
                f"{self.optimiser!r}."
            )
        least = self.objective.least_batch
        if self.batch_size < least:
            raise ValueError(
                f"fit: expected a batch size from {least} for "
                f"{type(self.objective).__name__}, got {self.batch_size}."
            )
        steps = [0, *(change.at for change in self.changes), self.steps]
        if any(later <= earlier for earlier, later in itertools.pairwise(steps)):
            raise ValueError(
                f"fit: expected changes at growing steps from 1 and below "
                f"{self.steps}, got {steps[1:-1]}."
            )
        if self.changes:
            self.stretches()  # meets what is wrong with the settings of a change

    def _check_learning_rate(self) -> None:
        rate = fill_steps(self.learning_rate, self.steps)
        object.__setattr__(self, "learning_rate", rate)
        ends = schedule_ends(rate)
        # A schedule may start or end at zero, but not stay there.
        if not all(is_number(end, least=0.0) for end in ends) or not max(ends) > 0:
            raise ValueError(
                f"The learning rate must be positive, got {self.learning_rate!r}."
            )

    def stretches(self) -> list[Self]:
        """The run in parts without changes; ``steps`` is where each of them ends."""
        ends = [*(change.at for change in self.changes), self.steps]
        parts = [dataclasses.replace(self, changes=(), steps=ends[0])]
        for change, end in zip(self.changes, ends[1:], strict=True):
            settings = {
                part.name: getattr(change, part.name)
                for part in fields(change)
                if part.name != "at"
            }
            parts.append(dataclasses.replace(parts[0], steps=end, **settings))
        return parts

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it.

        An objective, network or likelihood of the user's own is written as its class
        and settings in words, which tell it apart but cannot make it again.
        """
        parts = {
            part.name: plain_part(getattr(self, part.name)) for part in fields(self)
        }
        if not self.changes:  # as runs were written before there were any
            del parts["changes"]
        return {"format": FORMAT, "name": "run", **parts}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], **own: Any) -> Self:
        """What :meth:`to_plain` wrote.

        Args:
            data: The plain data.
            own: ``objective``, ``network`` and ``likelihood``, for those that are not
                unbraid's.
        """
        if data.get("format", FORMAT) > FORMAT:
            raise ValueError(
                f"run: expected format {FORMAT} or older, got {data['format']}. Update "
                "unbraid to read it."
            )
        plain = {key: value for key, value in data.items() if key != "format"}
        for name in _KINDS:
            if name in plain:
                plain[name] = read_part(name, plain[name], own.get(name))
        return from_plain(plain, Joined({"run": cls}, _TABLE))


_TABLE = Joined[type]({"change": Change}, RECORDS)


def checked_count(name: str, value: Any) -> int:
    """A setting as a plain whole number from 1, or a clear error."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(
            f"fit: expected {name} to be a whole number from 1, got {value!r}."
        )
    return number


def plain_part(value: Any) -> Any:
    """A field of a specification as JSON can hold it."""
    try:
        return to_plain(value, _TABLE)
    except ValueError:
        if not isinstance(value, tuple(_KINDS.values())):
            raise
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return {"name": _OWN, "kind": kind, "settings": without_addresses(repr(value))}


def without_addresses(text: str) -> str:
    """Words about objects, without where these lie in memory."""
    return _ADDRESS.sub("", text)


def read_part(name: str, plain: Any, own: Any = None) -> Any:
    """What :func:`plain_part` wrote, or what the user gives in its place."""
    part = own
    if not (isinstance(plain, Mapping) and plain.get("name") == _OWN):
        part = from_plain(restore_former_settings(plain), RECORDS)
    elif own is None:
        raise ValueError(
            f"run: expected {name}=..., because it was made with {plain.get('kind')}, "
            "which is not one of unbraid's own."
        )
    if not isinstance(part, _KINDS[name]):
        raise ValueError(f"run: expected the settings of a {name}, got {part!r}.")
    return part


def hash_plain(*parts: Any) -> str:
    """Hash of plain data: equal for equal data."""
    text = json.dumps(parts, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
