"""Files of training states, from which runs are continued exactly."""

import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unbraid.foundation import CheckpointFormatError

from ._state import TrainingState
from ._tensor_file import copy_into, read_tensors, write_tensors

_KIND = "training state"
# Options with which optimizers keep small tensors on the device of the weights.
_ON_DEVICE = ("fused", "capturable")


def save_state(state: TrainingState, path: Path, *, run_id: str) -> None:
    """Write a state, replacing the last one.

    Args:
        state: State with weights, optimizers and step.
        path: Path of the file.
        run_id: Id of the run.
    """
    tensors, options = {}, {}
    for prefix, network in _networks(state):
        for name, tensor in network.state_dict().items():
            tensors[f"{prefix}.{name}"] = tensor
    for prefix, optimizer in _optimizers(state):
        found, options[prefix] = _read_optimizer(optimizer)
        tensors |= {f"{prefix}.{name}": tensor for name, tensor in found.items()}
    about = {"run": run_id, "step": state.step, "optimisers": options}
    write_tensors(path, tensors, kind=_KIND, about=about)


def load_state(state: TrainingState, path: Path, *, run_id: str) -> None:
    """Load a saved state into a new one.

    Tensors are copied, so that they keep the memory layout of training: with another
    layout, sums would be computed in another order.

    Args:
        state: State from :meth:`TrainingState.create` for the run; changed in place.
        path: Path of a file from :func:`save_state`.
        run_id: Id of the run, which must be that of the file.

    Raises:
        CheckpointFormatError: If the file is damaged or belongs to another run.
    """
    tensors, about = read_tensors(path, kind=_KIND)
    if about.get("run") != run_id:
        raise CheckpointFormatError(
            f"{path}: this is the state of a run with other settings or data. Choose "
            "another folder."
        )
    for prefix, network in _networks(state):
        copy_into(path, network.state_dict(), _within(tensors, prefix))
    try:
        for prefix, optimizer in _optimizers(state):
            _fill_optimizer(
                optimizer, _within(tensors, prefix), about["optimisers"][prefix]
            )
        state.step = operator.index(about["step"])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: this is not a training state that can be continued: an optimizer "
            f"or the step is missing or wrong ({error})."
        ) from error


def _networks(state: TrainingState) -> Iterator[tuple[str, nn.Module]]:
    yield "model", state.model
    if state.extra is not None:
        yield "extra", state.extra


def _optimizers(state: TrainingState) -> Iterator[tuple[str, torch.optim.Optimizer]]:
    yield "optimiser", state.optimizer
    if state.adversary_optimizer is not None:
        yield "adversary_optimiser", state.adversary_optimizer


def _within(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    start = f"{prefix}."
    return {
        name.removeprefix(start): tensor
        for name, tensor in tensors.items()
        if name.startswith(start)
    }


def _read_optimizer(
    optimizer: torch.optim.Optimizer,
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return tensors by parameter and name, and everything else as plain data."""
    saved = optimizer.state_dict()
    tensors, plain = {}, {}
    for number, values in saved["state"].items():
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                tensors[f"{number}.{name}"] = value
            else:
                plain[f"{number}.{name}"] = value
    groups = [
        {key: value for key, value in group.items() if key != "params"}
        for group in saved["param_groups"]
    ]
    return tensors, {"groups": groups, "values": plain}


def _fill_optimizer(
    optimizer: torch.optim.Optimizer,
    tensors: dict[str, torch.Tensor],
    options: dict[str, Any],
) -> None:
    # Without load_state_dict, which keeps the memory layout of the file.
    parameters = []
    for group, saved in zip(optimizer.param_groups, options["groups"], strict=True):
        for key, value in saved.items():
            group[key] = tuple(value) if isinstance(value, list) else value
        on_device = any(group.get(name) for name in _ON_DEVICE)
        parameters += [(parameter, on_device) for parameter in group["params"]]
    optimizer.state.clear()
    for name, value in {**tensors, **options["values"]}.items():
        number, _, key = name.partition(".")
        parameter, on_device = parameters[int(number)]
        if isinstance(value, torch.Tensor):
            value = _convert(value, parameter, on_device=on_device)
        optimizer.state[parameter][key] = value


def _convert(
    value: torch.Tensor, parameter: nn.Parameter, *, on_device: bool
) -> torch.Tensor:
    if value.shape == parameter.shape and value.ndim:
        empty = torch.empty_like(parameter, dtype=value.dtype, requires_grad=False)
        return empty.copy_(value)
    return value.to(parameter.device) if on_device else value
