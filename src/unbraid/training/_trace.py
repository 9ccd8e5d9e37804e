"""Traces: activations of a decoder layer for fixed observations during training."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import (
    CheckpointFormatError,
    check_count,
    check_option,
    expand_user,
    numpy_generator,
    read_json,
)
from unbraid.models import NO_DECODER, Autoencoder

from ._tensor_file import read_tensors, write_tensors

_KIND = "trace"
_PARTS = ("rows", "steps", "activations")
_OTHER = "activations of "
"""Beginning of the names of tensors of further layers."""


@dataclass(frozen=True, kw_only=True)
class TraceSettings:
    """Which activations are recorded during training, and when.

    The observations depend on the dataset alone, so that runs with other seeds or
    objectives record the same ones.

    Args:
        layer: Name of a module within the decoder, as ``named_modules`` gives it, or
            several names; the last hidden layer when not given.
        n_observations: Number of rows of the dataset to record, drawn at random.
        rows: Rows to record, instead of random ones.
        n_snapshots: Number of snapshots, evenly spaced from before the first step to
            after the last. A run of ``n`` steps has at most ``n + 1``.
        steps: Steps to record, instead of evenly spaced ones. A snapshot at step 0 is
            taken before the first update.
    """

    layer: str | tuple[str, ...] = ""
    n_observations: int = 64
    rows: tuple[int, ...] = ()
    n_snapshots: int = 10
    steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.layer, str):
            object.__setattr__(self, "layer", _read_layers(self.layer))
        object.__setattr__(self, "rows", tuple(map(int, self.rows)))
        object.__setattr__(self, "steps", tuple(sorted(set(map(int, self.steps)))))
        check_count("n_observations", self.n_observations, least=1)
        check_count("n_snapshots", self.n_snapshots, least=1)

    def steps_of(self, n_steps: int) -> tuple[int, ...]:
        """Return the steps of a run at which snapshots are taken.

        Args:
            n_steps: Number of steps of the run.

        Raises:
            ValueError: If the run is too short for all snapshots.

        Example:
            >>> TraceSettings(n_snapshots=6).steps_of(150)
            (0, 30, 60, 90, 120, 150)
        """
        if self.steps:
            outside = [step for step in self.steps if not 0 <= step <= n_steps]
            if outside:
                raise ValueError(
                    f"steps of a trace must lie between 0 and the {n_steps} steps "
                    f"of the run, got {', '.join(map(str, outside))}."
                )
            return self.steps
        if self.n_snapshots > n_steps + 1:
            raise ValueError(
                f"n_snapshots must be at most {n_steps + 1} for a run "
                f"of {n_steps} steps, got {self.n_snapshots}."
            )
        even = np.linspace(0, n_steps, self.n_snapshots).round().astype(int)
        return tuple(even.tolist())

    def to_plain(self) -> dict[str, Any]:
        """Convert to JSON types."""
        plain = asdict(self)
        layer = self.layer if isinstance(self.layer, str) else list(self.layer)
        rows, steps = list(self.rows), list(self.steps)
        return {**plain, "layer": layer, "rows": rows, "steps": steps}


@dataclass(frozen=True, eq=False)
class Trace:
    """Activations of a layer during training, and of other layers if recorded.

    Attributes:
        layer: Name of the module within the decoder.
        rows: Rows of the observations in the dataset, ``(n_observations,)``.
        steps: Steps of the snapshots, ``(n_snapshots,)``.
        activations: Activations, ``(n_snapshots, n_observations, n_units)``.
        others: Activations of the other recorded layers, by name.
    """

    layer: str
    rows: NDArray[np.int64]
    steps: NDArray[np.int64]
    activations: NDArray[np.float32]
    others: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of all recorded layers."""
        return (self.layer, *self.others)

    def at(self, layer: str) -> "Trace":
        """Return the trace of one of the recorded layers.

        Args:
            layer: Name of the module within the decoder.

        Example:
            >>> rows, steps, one = np.arange(2), np.arange(3), np.zeros((3, 2, 4))
            >>> trace = Trace("1", rows, steps, one, {"3": np.ones((3, 2, 5))})
            >>> trace.layers, trace.at("3").activations.shape
            (('1', '3'), (3, 2, 5))
        """
        check_option("layer", layer, self.layers)
        every = {self.layer: self.activations, **self.others}
        return Trace(layer, self.rows, self.steps, every[layer])

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, layer: str = "") -> "Trace":
        """Load what a run has recorded so far.

        Args:
            path: Folder of the run.
            layer: Name of one of the recorded layers; all of them when not given.

        Raises:
            CheckpointFormatError: If the file is damaged, or belongs to another run.
        """
        file = expand_user(path)
        if file.is_dir():
            file = file / "traces.safetensors"
        if not file.is_file():
            raise FileNotFoundError(
                f"{path}: the run has no traces. Train it with traces=True."
            )
        tensors, about = read_tensors(file, kind=_KIND)
        shapes = [tensors[name].shape for name in _PARTS if name in tensors]
        first = about.get("layer")
        others = {
            name.removeprefix(_OTHER): tensor
            for name, tensor in tensors.items()
            if name.startswith(_OTHER)
        }
        if not (
            isinstance(first, str)
            and list(map(len, shapes)) == [1, 1, 3]
            and all(
                len(shape) == 3 and shape[:2] == (*shapes[1], *shapes[0])
                for shape in (shapes[2], *(other.shape for other in others.values()))
            )
        ):
            raise CheckpointFormatError(
                f"{file}: the file is damaged: it has no activations of a layer."
            )
        _check_owner(file, about.get("run"))
        rows, steps, activations = (tensors[name].numpy() for name in _PARTS)
        order = about.get("others", sorted(others))
        more = {name: others[name].numpy() for name in order}
        trace = cls(first, rows, steps, activations, more)
        return trace.at(layer) if layer else trace


def _read_layers(names: Iterable[str]) -> tuple[str, ...]:
    """Return several names of layers, each once; a single name as it is."""
    layers = tuple(dict.fromkeys(names))
    if not layers or not all(isinstance(name, str) and name for name in layers):
        raise ValueError(
            f"layer must be the name of a module of the decoder, or several names, got "
            f"{list(layers)!r}."
        )
    return layers


def _check_owner(file: Path, owner: Any) -> None:
    """Raise an error if traces belong to another run than the settings beside them."""
    settings = file.with_name("spec.json")
    # Traces of the first versions do not name their run.
    if not owner or not settings.is_file():
        return
    if read_json(settings, kind="run").get("id") != owner:
        raise CheckpointFormatError(
            f"{file}: these traces belong to another run than spec.json beside them. "
            "Delete the file, or restore the one of this run."
        )


class TraceRecorder:
    """Records activations at chosen steps, in memory and in a file.

    Args:
        settings: Settings of the activations to record.
        dataset: Dataset with the observations.
        model: Model that is being trained.
        n_steps: Number of steps of the run.
        path: File to write to, if any.

    Attributes:
        wanted: Steps at which activations are recorded, in ascending order.
    """

    def __init__(
        self,
        settings: TraceSettings,
        dataset: AbstractDataset,
        model: Autoencoder,
        *,
        n_steps: int,
        path: Path | None = None,
    ) -> None:
        if not model.has_decoder:
            raise ValueError(f"Traces are activations of the decoder. {NO_DECODER}")
        self.wanted = settings.steps_of(n_steps)
        names = settings.layer or last_hidden_layer(model.decoder)
        self._layers = (names,) if isinstance(names, str) else names
        self._modules = [_find_module(model.decoder, name) for name in self._layers]
        self._model = model
        self._rows = _choose_rows(settings, dataset)
        self._images = float_images(dataset, self._rows).to(model.mean.device)
        self._path, self._run_id = path, ""
        self._steps: list[int] = []
        self._activations: dict[str, list[NDArray[np.float32]]] = {
            name: [] for name in self._layers
        }

    @property
    def trace(self) -> Trace:
        """Everything that was recorded."""
        shape = (0, len(self._rows), 0)
        every = {
            name: np.stack(recorded) if recorded else np.empty(shape, np.float32)
            for name, recorded in self._activations.items()
        }
        steps = np.array(self._steps, dtype=np.int64)
        first = every.pop(self._layers[0])
        return Trace(self._layers[0], self._rows, steps, first, every)

    def resume(self, step: int, run_id: str) -> None:
        """Continue with the snapshots in the file.

        Args:
            step: Step from which training continues; later snapshots are dropped.
            run_id: Id of the run, which is written to the file.

        Raises:
            CheckpointFormatError: If a snapshot of an earlier step is missing.
        """
        self._run_id = run_id
        if self._path is None:
            return
        if self._path.is_file():
            kept = Trace.load(self._path)
            is_past = kept.steps <= step
            if kept.layers != self._layers:
                raise CheckpointFormatError(
                    f"{self._path}: the file holds the layers "
                    f"{', '.join(kept.layers)}, not {', '.join(self._layers)}. Delete "
                    "the folder of the run to train it again."
                )
            self._steps = kept.steps[is_past].tolist()
            self._activations = {
                name: list(kept.at(name).activations[is_past]) for name in self._layers
            }
        past = [wanted for wanted in self.wanted if wanted < step]
        if [recorded for recorded in self._steps if recorded < step] != past:
            raise CheckpointFormatError(
                f"{self._path}: the run has reached step {step}, but the file does not "
                f"hold the snapshots of steps {', '.join(map(str, past))}. Delete the "
                "folder of the run to train it again."
            )

    def record(self, step: int) -> None:
        """Record the activations now, if this step is wanted and not recorded yet."""
        if step not in self.wanted or step in self._steps:
            return
        self._steps.append(step)
        for name, seen in self._observe().items():
            self._activations[name].append(seen)
        if self._path is not None:
            trace = self.trace
            tensors = {name: torch.from_numpy(getattr(trace, name)) for name in _PARTS}
            about: dict[str, Any] = {"layer": trace.layer, "run": self._run_id}
            if trace.others:
                about["others"] = list(trace.others)
                for name, activations in trace.others.items():
                    tensors[_OTHER + name] = torch.from_numpy(activations)
            write_tensors(self._path, tensors, kind=_KIND, about=about)

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        seen: dict[str, NDArray[np.float32]] = {}

        def keep(name: str, output: Any) -> None:
            if name not in seen:  # the first call of a module that is called often
                seen[name] = output.detach().flatten(1).float().cpu().numpy().copy()

        was_training = self._model.training
        self._model.eval()
        hooks = [
            module.register_forward_hook(
                lambda module, inputs, output, name=name: keep(name, output)
            )
            for name, module in zip(self._layers, self._modules, strict=True)
        ]
        try:
            with torch.no_grad():
                self._model.decoder(self._model.encode(self._images).mean)
        finally:
            for hook in hooks:
                hook.remove()
            self._model.train(was_training)
        return seen


def last_hidden_layer(decoder: nn.Module) -> str:
    """Return the name of the module before the last one with weights.

    Example:
        >>> layers = nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 4)
        >>> last_hidden_layer(nn.Sequential(*layers))
        '1'
    """
    leaves = [
        (name, module)
        for name, module in decoder.named_modules()
        if not list(module.children())
    ]
    weighted = [
        index for index, (_, module) in enumerate(leaves) if list(module.parameters())
    ]
    return leaves[max(weighted[-1] - 1, 0)][0] if weighted else ""


def find_last_layer(model: Autoencoder, n_units: int) -> str:
    """Return the last hidden layer of a decoder with at most a number of units.

    The last layers of convolutional decoders have thousands of units, more than traces
    need. If all layers are wider, the first one is returned.

    Args:
        model: Model whose decoder is searched.
        n_units: Largest number of units, over all positions of an image.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> model = fit("vae", XYSquares(), steps=1).model
        >>> find_last_layer(model, 2048), find_last_layer(model, 10**6)
        ('4', '10')
    """
    last = last_hidden_layer(model.decoder)
    widths: dict[str, int] = {}
    hooks = [
        module.register_forward_hook(
            lambda module, inputs, output, name=name: widths.update(
                {name: output[0].numel()}
            )
        )
        for name, module in model.decoder.named_modules()
        if not list(module.children())
    ]
    try:
        with torch.no_grad():
            model.decoder(torch.zeros(1, model.n_latents, device=model.mean.device))
    finally:
        for hook in hooks:
            hook.remove()
    names = list(widths)
    hidden = names[: names.index(last) + 1] if last in names else names
    narrow = [name for name in hidden if widths[name] <= n_units]
    return narrow[-1] if narrow else hidden[0]


def _find_module(decoder: nn.Module, name: str) -> nn.Module:
    modules = dict(decoder.named_modules())
    check_option("layer", name, [known for known in modules if known])
    return modules[name]


def _choose_rows(
    settings: TraceSettings, dataset: AbstractDataset
) -> NDArray[np.int64]:
    if settings.rows:
        return np.array(settings.rows, dtype=np.int64)
    n_rows = min(settings.n_observations, len(dataset))
    generator = numpy_generator(0, "traces")
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))
