"""A trained model in two files: what it is in JSON, its weights in safetensors."""

import os
from pathlib import Path
from typing import Any

import torch

from unbraid.errors import CheckpointFormatError
from unbraid.models import AbstractLikelihood, Autoencoder
from unbraid.models._build import build_model
from unbraid.models.networks import AbstractNetwork

from ._specification import TrainingSpec, plain_part, read_part
from ._tensor_file import copy_into, read_json, read_tensors, write_json, write_tensors

_KIND = "model"


def save_model(model: Autoencoder, folder: Path, spec: TrainingSpec) -> None:
    """Write ``model.json`` and ``model.safetensors``, in place of what was there.

    Args:
        model: What to save.
        folder: Where to.
        spec: Settings that made it.
    """
    # The weights first: where there is a description, there is all of a model.
    write_tensors(folder / "model.safetensors", model.state_dict(), kind=_KIND)
    about = {
        "network": plain_part(spec.network),
        "likelihood": plain_part(spec.likelihood),
        "image_shape": list(model.image_shape),
        "n_latents": model.n_latents,
        "is_variational": model.is_variational,
        "mean": list(spec.mean),
        "std": list(spec.std),
        "objective": plain_part(spec.objective),
    }
    write_json(folder / "model.json", about, kind=_KIND)


def load(
    path: str | os.PathLike[str],
    *,
    network: AbstractNetwork | None = None,
    likelihood: AbstractLikelihood | None = None,
    device: str | torch.device = "cpu",
) -> Autoencoder:
    """A saved model: a torch module with ``encode``, ``decode`` and ``sample``.

    Args:
        path: Folder of a run, or of ``model.json`` and ``model.safetensors``.
        network: Settings of the network, if it was not one of unbraid's own.
        likelihood: Likewise.
        device: Where to put it.

    Raises:
        CheckpointFormatError: If the files are damaged, are something else, or were
            written by a newer version; the message says which.

    Example:
        >>> import tempfile, unbraid
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run = unbraid.fit("vae", squares, steps=1, n_latents=2, out=folder)
        ...     model = load(folder)
        >>> model.decode(torch.zeros(5, 2)).shape
        torch.Size([5, 3, 8, 8])
    """
    folder = Path(path).expanduser()
    if folder.name in ("model.json", "model.safetensors"):
        folder = folder.parent
    description = folder / "model.json"
    if not description.is_file():
        raise FileNotFoundError(_explain_missing(folder))
    about = read_json(description, kind=_KIND)
    try:
        model = _build(about, network, likelihood)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise CheckpointFormatError(
            f"{description}: expected settings of a model, got some that make none: "
            f"{reason}"
        ) from error
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise CheckpointFormatError(
            f"{weights}: expected the weights of the model beside model.json, got no "
            "such file."
        )
    copy_into(weights, model.state_dict(), read_tensors(weights, kind=_KIND)[0])
    return model.to(device).eval()


def _build(
    about: dict[str, Any],
    network: AbstractNetwork | None,
    likelihood: AbstractLikelihood | None,
) -> Autoencoder:
    return build_model(
        read_part("network", about["network"], network),
        image_shape=tuple(about["image_shape"]),
        n_latents=about["n_latents"],
        likelihood=read_part("likelihood", about["likelihood"], likelihood),
        seed=0,  # overwritten by the saved weights
        is_variational=about["is_variational"],
        mean=tuple(about["mean"]) or None,
        std=tuple(about["std"]) or None,
    )


def _explain_missing(folder: Path) -> str:
    if (folder / "state.safetensors").is_file():
        return (
            f"load: expected a finished run, got {str(folder)!r}, which is not. The "
            "command that began it goes on with it."
        )
    return (
        f"load: expected a folder with model.json, got {str(folder)!r}, which has none."
    )
