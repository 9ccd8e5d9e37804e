"""Files of a model: its description in JSON and its weights in safetensors."""

import contextlib
import math
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from unbraid.data import Framing
from unbraid.foundation import (
    CheckpointFormatError,
    atomic_write,
    check_integer,
    check_integers,
    expand_user,
    is_number,
    read_json,
    write_json,
)
from unbraid.models import AbstractLikelihood, Autoencoder, LinearModel, build_model
from unbraid.models.networks import AbstractNetwork

from ._specification import TrainingSpec, plain_part, read_part
from ._tensor_file import (
    check_shapes,
    copy_into,
    hash_tensors,
    parse_tensors,
    read_about,
    write_tensors,
)

_KIND = "model"
_LINEAR = {"name": "linear_model"}
# Errors that building a model from wrong settings may raise.
_WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def save_model(
    model: Autoencoder | LinearModel,
    folder: str | os.PathLike[str],
    spec: TrainingSpec | None = None,
    *,
    run: str = "",
) -> None:
    """Write ``model.json`` and ``model.safetensors``, replacing older files.

    Both files contain the hash of the weights, so that files of different models are
    not mixed up.

    Args:
        model: Model to save.
        folder: Folder to write to.
        spec: Settings of the model; not needed for a linear model.
        run: Id of the run that trained it, if there is one.

    Example:
        >>> import tempfile
        >>> from unbraid.data import XYSquares
        >>> from unbraid.models import fit_pca
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_model(fit_pca(squares, n_latents=2), folder)
        ...     load(folder).n_latents
        2
    """
    folder = expand_user(folder)
    about: dict[str, Any] = {
        "image_shape": list(model.image_shape),
        "n_latents": model.n_latents,
    }
    if isinstance(model, LinearModel):
        about["network"] = _LINEAR
    elif spec is None:
        raise ValueError(
            "save_model needs the settings of the model. Pass those of the run: "
            "spec=run.spec."
        )
    else:
        about |= {
            "network": plain_part(spec.network),
            "likelihood": plain_part(spec.likelihood),
            "is_variational": model.is_variational,
            "mean": list(spec.mean),
            "std": list(spec.std),
            "objective": plain_part(spec.objective),
        }
        if not model.has_decoder:
            about["has_decoder"] = False
        if model.framing is not None:
            about["framing"] = model.framing.model_dump()
    weights = model.state_dict()
    about |= {"run": run, "weights": hash_tensors(weights)}
    # Weights first, so that where there is a description, the model is complete.
    write_tensors(
        folder / "model.safetensors",
        weights,
        kind=_KIND,
        about={"weights": about["weights"]},
    )
    write_json(folder / "model.json", about, kind=_KIND)


def copy_model(source: Path, target: Path) -> None:
    """Copy a saved model to another folder."""
    # The description last, because it marks a complete model.
    for name in ("model.safetensors", "model.json"):
        with (source / name).open("rb") as file, atomic_write(target / name) as copy:
            shutil.copyfileobj(file, copy)


def read_model_hash(folder: Path) -> str | None:
    """Return the hash of the weights that both files of a model name.

    Returns:
        The hash; ``None`` if there is no model, or if its files do not name the hash,
        as in the first versions.

    Raises:
        CheckpointFormatError: If a file cannot be read, or if the description belongs
            to other weights.
    """
    description, weights = folder / "model.json", folder / "model.safetensors"
    if not description.is_file() or not weights.is_file():
        return None
    return _check_weights(
        description,
        read_json(description, kind=_KIND),
        weights,
        read_about(weights, kind=_KIND),
    )


def read_weight_hashes(folder: Path) -> set[str]:
    """Return the hashes that the files of a model name, as far as they are readable."""
    found = []
    with contextlib.suppress(OSError, CheckpointFormatError):
        found.append(read_json(folder / "model.json", kind=_KIND).get("weights"))
    with contextlib.suppress(OSError, CheckpointFormatError):
        about = read_about(folder / "model.safetensors", kind=_KIND)
        found.append(about.get("weights"))
    return {name for name in found if isinstance(name, str)}


def _check_weights(
    description: Path, about: dict[str, Any], weights: Path, header: dict[str, Any]
) -> str | None:
    """Return the hash that both files of a model name, if they name one."""
    named, found = about.get("weights"), header.get("weights")
    if named is None and found is None:
        return None
    if named != found or not isinstance(found, str):
        raise CheckpointFormatError(
            f"{weights}: these are not the weights that {description.name} beside them "
            "describes. Restore both files of the model from the same run."
        )
    return found


def load(
    path: str | os.PathLike[str],
    *,
    network: AbstractNetwork | None = None,
    likelihood: AbstractLikelihood | None = None,
    device: str | torch.device = "cpu",
) -> Autoencoder | LinearModel:
    """Load a saved model, a torch module with ``encode``, ``decode`` and ``sample``.

    Args:
        path: Folder of a run, or of ``model.json`` and ``model.safetensors``.
        network: Settings of the network, if it is not one of unbraid's own.
        likelihood: Settings of the likelihood, if it is not one of unbraid's own.
        device: Device of the model.

    Raises:
        CheckpointFormatError: If the files are damaged, of another kind, or written by
            a newer version.

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
    return read_model(path, network=network, likelihood=likelihood, device=device).model


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model, and the content of the files that it was loaded from.

    Attributes:
        model: The model.
        about: Content of ``model.json``.
        content: Content of ``model.safetensors``.
    """

    model: Autoencoder | LinearModel
    about: dict[str, Any] = field(repr=False)
    content: bytes = field(repr=False)

    @property
    def weights(self) -> str | None:
        """Hash of the weights; ``None`` in files of the first versions."""
        return self.about.get("weights")

    def write(self, folder: Path) -> None:
        """Write the same two files into another folder."""
        # The description last: where there is one, there is all of a model.
        with atomic_write(folder / "model.safetensors") as file:
            file.write(self.content)
        write_json(folder / "model.json", self.about, kind=_KIND)


def read_model(
    path: str | os.PathLike[str],
    *,
    network: AbstractNetwork | None = None,
    likelihood: AbstractLikelihood | None = None,
    device: str | torch.device = "cpu",
) -> SavedModel:
    """Load a model, and keep the content of its files; see :func:`load`."""
    folder = expand_user(path)
    if folder.name in ("model.json", "model.safetensors"):
        folder = folder.parent
    description = folder / "model.json"
    if not description.is_file():
        raise FileNotFoundError(_explain_missing(folder))
    about = read_json(description, kind=_KIND)
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise CheckpointFormatError(
            f"{weights}: there is no such file. The weights of a model must be in the "
            "same folder as model.json."
        )
    content = weights.read_bytes()
    tensors, header = parse_tensors(weights, content, kind=_KIND)
    _check_weights(description, about, weights, header)
    try:
        if network is None:
            # Without memory first, because wrong sizes may be too large for it.
            with torch.device("meta"):
                shape = _build(about, None, likelihood)
            check_shapes(weights, shape.state_dict(), tensors)
        model = _build(about, network, likelihood)
    except CheckpointFormatError:
        raise
    except _WRONG as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise CheckpointFormatError(
            f"{description}: no model can be made from these settings: {reason}"
        ) from error
    copy_into(weights, model.state_dict(), tensors)
    return SavedModel(model.to(device).eval(), about, content)


def _build(
    about: dict[str, Any],
    network: AbstractNetwork | None,
    likelihood: AbstractLikelihood | None,
) -> Autoencoder | LinearModel:
    image_shape, n_latents = about["image_shape"], about["n_latents"]
    check_integers("image_shape", image_shape, least=1)
    if len(image_shape) not in (1, 3):
        raise ValueError(f"image_shape must have 1 or 3 sizes, got {image_shape!r}.")
    check_integer("n_latents", n_latents, least=1)
    if about["network"] == _LINEAR:
        return LinearModel(tuple(image_shape), n_latents)
    # Files without "has_decoder" hold models with one.
    flags = {"has_decoder": True, **about}
    for name in ("is_variational", "has_decoder"):
        if not isinstance(flags[name], bool):
            raise ValueError(f"{name} must be true or false, got {flags[name]!r}.")
    model = build_model(
        read_part("network", about["network"], network),
        image_shape=tuple(image_shape),
        n_latents=n_latents,
        likelihood=read_part("likelihood", about["likelihood"], likelihood),
        seed=0,  # overwritten by the saved weights
        is_variational=flags["is_variational"],
        has_decoder=flags["has_decoder"],
        mean=_read_statistics(about, "mean"),
        std=_read_statistics(about, "std"),
    )
    if "framing" in about:
        model.framing = Framing.read(about["framing"], "framing")
    return model


def _read_statistics(about: dict[str, Any], name: str) -> tuple[float, ...] | None:
    values = about[name]
    least = 0.0 if name == "std" else -math.inf
    if (
        not isinstance(values, list)
        or len(values) not in (0, about["image_shape"][0])
        or not all(is_number(value, least=least) for value in values)
    ):
        raise ValueError(f"{name} must be a number per channel, got {values!r}.")
    return tuple(values) or None


def _explain_missing(folder: Path) -> str:
    if (folder / "state.safetensors").is_file():
        return (
            f"{folder}: the run is not finished. Resume it with the command that "
            "started it."
        )
    return f"{folder}: there is no model.json in this folder."
