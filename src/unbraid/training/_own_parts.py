"""Hashes of custom networks and tensors, which settings do not describe."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from unbraid.models import RECORDS, AbstractLikelihood, Autoencoder
from unbraid.models.networks import AbstractNetwork
from unbraid.models.objectives import AbstractObjective

from ._specification import TrainingSpec, remove_addresses
from ._tensor_file import to_bytes


def hash_own_parts(spec: TrainingSpec, model: Autoencoder) -> dict[str, str]:
    """Return hashes of parts that may differ although their settings look equal.

    Args:
        spec: Settings of a run.
        model: Untrained model with these settings.

    Returns:
        Hashes by name of the setting, for settings that hold networks or tensors, and
        for a network that is not one of unbraid's own.

    Example:
        >>> from unbraid.models._build import build_model
        >>> spec = TrainingSpec()
        >>> model = build_model(
        ...     spec.network,
        ...     image_shape=(1, 8, 8),
        ...     n_latents=2,
        ...     likelihood=spec.likelihood,
        ...     seed=0,
        ... )
        >>> hash_own_parts(spec, model)
        {}
    """
    hashes = {}
    for name in ("objective", "network", "likelihood"):
        part = getattr(spec, name)
        held = list(_held(part))
        texts = []
        if name == "network" and type(part) not in RECORDS.values():
            texts = [repr(model.encoder), repr(model.decoder)]
        if held or texts:
            hashes[name] = _hash(held, texts)
    return hashes


def _held(value: Any) -> Iterator[nn.Module | torch.Tensor]:
    """Yield the networks and tensors within a value."""
    if isinstance(value, nn.Module | torch.Tensor):
        yield value
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        yield torch.from_numpy(value.copy())
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _held(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _held(inner)
    elif isinstance(value, AbstractObjective | AbstractNetwork | AbstractLikelihood):
        yield from _held(vars(value))


def _hash(held: list[nn.Module | torch.Tensor], texts: list[str]) -> str:
    texts = texts + [repr(part) for part in held if isinstance(part, nn.Module)]
    digest = hashlib.sha256("\n".join(map(remove_addresses, texts)).encode())
    for part in held:
        tensors = part.state_dict() if isinstance(part, nn.Module) else {"": part}
        for name, tensor in tensors.items():
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(to_bytes(tensor))
    return digest.hexdigest()
