"""Everything that decides the outcome of a run, apart from the data."""

import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from unbraid.foundation import Joined, from_plain, to_plain
from unbraid.models import (
    RECORDS,
    AbstractLikelihood,
    Bernoulli,
    Number,
    fill_steps,
    restore_former_settings,
)
from unbraid.models.networks import AbstractNetwork, Dense
from unbraid.models.objectives import AbstractObjective, BetaVAE

from ._settings import LEARNING_RATE, TrainingSettings, read_names, write_names

FORMAT = 1
_OWN = "own"
_KINDS = {
    "objective": AbstractObjective,
    "network": AbstractNetwork,
    "likelihood": AbstractLikelihood,
}
_DEFAULTS = TrainingSettings()
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
    """Settings of a run, with everything chosen that a user may leave open.

    Those that are not described here are as in :class:`TrainingSettings`.

    Args:
        objective: Training objective.
        network: Encoder and decoder.
        likelihood: Likelihood.
        image_shape: Shape of an image, or of a vector.
        optimizer_options: Further options of the optimizer, as pairs.
        mean: Mean of every channel, which is subtracted; empty for none.
        std: Standard deviation of every channel, by which it is divided; empty for
            none.
        changes: Changes of settings during the run, in the order of their steps.
    """

    objective: AbstractObjective = field(default_factory=BetaVAE)
    network: AbstractNetwork = field(default_factory=Dense)
    likelihood: AbstractLikelihood = field(default_factory=Bernoulli)
    image_shape: tuple[int, ...] = (1, 64, 64)
    n_latents: int = _DEFAULTS.n_latents
    steps: int = _DEFAULTS.steps
    batch_size: int = _DEFAULTS.batch_size
    order: Literal["iid", "shuffled"] = _DEFAULTS.order
    optimizer: str = _DEFAULTS.optimizer
    learning_rate: Number = LEARNING_RATE
    optimizer_options: tuple[tuple[str, Any], ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    seed: int = _DEFAULTS.seed
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        names = self.shared_settings()
        given = {name: getattr(self, name) for name in names}
        checked = TrainingSettings.read(given, "fit")
        for name in names:
            object.__setattr__(self, name, getattr(checked, name))
        rate = fill_steps(self.learning_rate, self.steps)
        object.__setattr__(self, "learning_rate", rate)
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
            self.segments()  # meets what is wrong with the settings of a change

    @classmethod
    def shared_settings(cls) -> set[str]:
        """Names of the fields that are also those of :class:`TrainingSettings`."""
        own = {part.name for part in fields(cls)} - {"optimizer_options"}
        return own & set(TrainingSettings.model_fields)

    def segments(self) -> list[Self]:
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
        return {"format": FORMAT, "name": "run", **write_names(parts)}

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
        plain = read_names(data)
        plain.pop("format", None)
        for name in _KINDS:
            if name in plain:
                plain[name] = read_part(name, plain[name], own.get(name))
        return from_plain(plain, Joined({"run": cls}, _TABLE))


_TABLE = Joined[type]({"change": Change}, RECORDS)


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
