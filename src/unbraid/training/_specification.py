"""TrainingSpec: everything that decides the result of a run, except the data."""

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
    """New settings from a step of a run on.

    Args:
        at: Number of updates after which the change takes effect, at least 1.
        objective: Training objective.
        batch_size: Images (or pairs, or triplets) per update.
        learning_rate: Learning rate, a number or a schedule. The optimizer keeps its
            averages.
        seed: Seed of batches and noise.
    """

    at: int
    objective: AbstractObjective
    batch_size: int
    learning_rate: Number
    seed: int


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """Settings of a run, in which nothing is left to be chosen.

    Settings that are not described here are described in :class:`TrainingSettings`.

    Args:
        objective: Training objective.
        network: Encoder and decoder.
        likelihood: Likelihood of images given codes.
        image_shape: Shape of an image, ``(channels, height, width)``, or of a vector.
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
                f"batch_size must be at least {least} for "
                f"{type(self.objective).__name__}, got {self.batch_size}."
            )
        steps = [0, *(change.at for change in self.changes), self.steps]
        if any(later <= earlier for earlier, later in itertools.pairwise(steps)):
            raise ValueError(
                f"The steps of changes must be increasing, at least 1 and below "
                f"{self.steps}, got {steps[1:-1]}."
            )
        if self.changes:
            self.segments()  # checks the settings of every change

    @classmethod
    def shared_settings(cls) -> set[str]:
        """Return the names of fields that :class:`TrainingSettings` has too."""
        own = {part.name for part in fields(cls)} - {"optimizer_options"}
        return own & set(TrainingSettings.model_fields)

    def segments(self) -> list[Self]:
        """Return the segments between changes; ``steps`` is the end of each."""
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
        """Convert to JSON types.

        A custom objective, network or likelihood is written as the name of its class
        and its settings as text, from which it cannot be made again.
        """
        parts = {
            part.name: plain_part(getattr(self, part.name)) for part in fields(self)
        }
        if not self.changes:  # as runs were written before changes existed
            del parts["changes"]
        return {"format": FORMAT, "name": "run", **write_names(parts)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], **own: Any) -> Self:
        """Read what :meth:`to_plain` wrote.

        Args:
            data: Plain data.
            own: ``objective``, ``network`` and ``likelihood``, where they are not
                unbraid's own.
        """
        if data.get("format", FORMAT) > FORMAT:
            raise ValueError(
                f"The settings have format {data['format']}, but this version of "
                f"unbraid reads formats up to {FORMAT}. Update unbraid to read them."
            )
        plain = read_names(data)
        plain.pop("format", None)
        for name in _KINDS:
            if name in plain:
                plain[name] = read_part(name, plain[name], own.get(name))
        return from_plain(plain, Joined({"run": cls}, _TABLE))


_TABLE = Joined[type]({"change": Change}, RECORDS)


def plain_part(value: Any) -> Any:
    """Convert a field of :class:`TrainingSpec` to JSON types."""
    try:
        return to_plain(value, _TABLE)
    except ValueError:
        if not isinstance(value, tuple(_KINDS.values())):
            raise
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return {"name": _OWN, "kind": kind, "settings": remove_addresses(repr(value))}


def remove_addresses(text: str) -> str:
    """Return a text without addresses of objects in memory."""
    return _ADDRESS.sub("", text)


def read_part(name: str, plain: Any, own: Any = None) -> Any:
    """Read what :func:`plain_part` wrote, or return the user's own object."""
    part = own
    if not (isinstance(plain, Mapping) and plain.get("name") == _OWN):
        part = from_plain(restore_former_settings(plain), RECORDS)
    elif own is None:
        raise ValueError(
            f"The run was made with {plain.get('kind')}, which is not one of "
            f"unbraid's own. Pass it as {name}=..."
        )
    if not isinstance(part, _KINDS[name]):
        raise ValueError(f"{name} must be the settings of a {name}, got {part!r}.")
    return part


def hash_plain(*parts: Any) -> str:
    """Return a hash of plain data."""
    text = json.dumps(parts, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
