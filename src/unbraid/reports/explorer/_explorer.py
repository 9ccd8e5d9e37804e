"""The explorer: a page with a model inside, whose latents are moved by hand."""

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, ImageFolder, as_dataset, float_images
from unbraid.foundation import atomic_write, expand_user, numpy_generator
from unbraid.models import Autoencoder, DiagonalGaussian, LinearModel
from unbraid.reports.figures._latent_matching import match_latents
from unbraid.reports.figures._outputs import require_own_page
from unbraid.training import ACTIVE

from ._explorer_page import fill_page
from ._latent_names import checked_names
from ._network_description import describe_model

_ENCODED = 2_000
"""Images from which it is estimated how much each latent says."""
_AT_ONCE = 250
_LABELS = ("A", "B")
_ACTIVE_SHARE = 0.05**2
"""Of the largest variance, for models without uncertainty."""


def write_explorer(
    model: Autoencoder | LinearModel,
    data: Any,
    path: str | os.PathLike[str],
    *,
    other: Autoencoder | LinearModel | None = None,
    names: Mapping[int, str] | None = None,
    model_names: Sequence[str] = (),
    n_examples: int = 12,
    seed: int = 0,
) -> Path:
    """Write a page on which the latents of a model are moved and its pictures seen.

    The page is one file that needs no network: encoder and decoder are inside, in half
    precision, and are computed by the browser. With a second model, latents are matched
    by the correlation of their codes, and one slider moves both.

    Args:
        model: Trained on grey or coloured images.
        data: A dataset or images, as :func:`~unbraid.data.as_dataset` takes them.
        path: Where to write, usually ``explorer.html``.
        other: A second model of images of the same shape.
        names: Of latents of the first model, by number.
        model_names: What the models are called on the page; A and B if not given.
        n_examples: Images to start from, drawn at random.
        seed: Of the draw.

    Returns:
        The path.

    Raises:
        ValueError: If a network has a layer that the page cannot compute; says which.
        FileExistsError: If the path is that of a file that is no page of ours.

    Example:
        >>> import tempfile
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit("vae", squares, steps=1, n_latents=4).model
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = write_explorer(model, squares, Path(folder, "explorer.html"))
        ...     page.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
    """
    target = expand_user(path)
    require_own_page(target)
    models = [model] if other is None else [model, other]
    text = explorer_text(
        models,
        as_dataset(data),
        names=names or {},
        model_names=model_names,
        n_examples=n_examples,
        seed=seed,
    )
    with atomic_write(target, follow=True) as file:
        # Halves of characters, which file names may hold, have no bytes.
        file.write(text.encode(errors="replace"))
    return target


def explorer_text(
    models: Sequence[Autoencoder | LinearModel],
    dataset: AbstractDataset,
    *,
    names: Mapping[int, str],
    model_names: Sequence[str] = (),
    n_examples: int = 12,
    seed: int = 0,
    is_part: bool = False,
) -> str:
    """The page itself.

    Args:
        models: One or two.
        dataset: What they were trained on.
        names: As :func:`write_explorer` takes them, like all that follows.
        model_names: Of the models.
        n_examples: Images to start from.
        seed: Of their draw.
        is_part: Whether it stands inside another page, which has a heading for it.
    """
    _check(models, dataset, model_names, n_examples)
    named = checked_names(names, n_latents=models[0].n_latents)
    generator = numpy_generator(seed, "explorer")
    n_rows = min(len(dataset), max(n_examples, _ENCODED))
    rows = generator.choice(len(dataset), n_rows, replace=False)
    content = {
        "image_shape": list(dataset.image_shape),
        "data_name": dataset.name,
        "is_part": is_part,
        "examples": _examples(dataset, rows[:n_examples]),
        **_describe(models, [_encode(one, dataset, rows) for one in models]),
    }
    labels = model_names or _LABELS[: len(models)]
    for about, label in zip(content["models"], labels, strict=True):
        about["name"] = label
    for latent in content["models"][0]["latents"]:
        latent["name"] = named.get(latent["number"], "")
    return fill_page(content)


@dataclass(frozen=True)
class _Encoded:
    """Codes of some images ``(n, n_latents)``, and what each latent says."""

    codes: NDArray[np.float64]
    says: NDArray[np.float64]
    is_variational: bool


def _check(
    models: Sequence[Autoencoder | LinearModel],
    dataset: AbstractDataset,
    model_names: Sequence[str],
    n_examples: int,
) -> None:
    for model in models:
        shape = model.image_shape
        if len(shape) != 3 or shape[0] not in (1, 3):
            raise ValueError(
                "explorer: expected a model of grey or coloured images, 1 or 3 "
                f"channels, got one of shape {shape}."
            )
        if tuple(dataset.image_shape) != shape:
            raise ValueError(
                f"explorer: expected data of shape {shape}, for which the model was "
                f"made, got {tuple(dataset.image_shape)}."
            )
    if model_names and len(model_names) != len(models):
        raise ValueError(
            f"explorer: expected {len(models)} names of models, got {len(model_names)}."
        )
    if n_examples < 1 or len(dataset) < 1:
        raise ValueError(
            f"explorer: expected at least one image to start from, got {n_examples} of "
            f"{len(dataset)}."
        )


def _encode(
    model: Autoencoder | LinearModel, dataset: AbstractDataset, rows: NDArray[np.int64]
) -> _Encoded:
    device = next(iter(model.state_dict().values())).device
    codes, says = [], []
    with torch.no_grad():
        for start in range(0, len(rows), _AT_ONCE):
            images = float_images(dataset, rows[start : start + _AT_ONCE])
            posterior = model.encode(images.to(device))
            codes.append(posterior.mean.cpu().double().numpy())
            if isinstance(posterior, DiagonalGaussian):
                says.append(posterior.kl_to_prior().cpu().double().numpy())
    table = np.concatenate(codes)
    activity = np.concatenate(says).mean(axis=0) if says else table.var(axis=0)
    if not np.isfinite(table).all() or not np.isfinite(activity).all():
        raise ValueError(
            "explorer: expected a model that gives finite codes, got one that gives "
            "NaN or infinity."
        )
    return _Encoded(table, activity, bool(says))


def _describe(
    models: Sequence[Autoencoder | LinearModel], encoded: Sequence[_Encoded]
) -> dict[str, Any]:
    """Networks and latents of each model, and which latents say the same."""
    described = [
        {
            **describe_model(model),
            "is_variational": model.is_variational,
            "latents": _latents(seen),
        }
        for model, seen in zip(models, encoded, strict=True)
    ]
    if len(models) == 1:
        return {"models": described, "matches": None}
    matches = _matches(encoded, described)
    # Shown if it says something in either model.
    for latent, match in zip(described[0]["latents"], matches, strict=True):
        latent["is_active"] |= match is not None and match["is_active"]
    return {"models": described, "matches": matches}


def _latents(encoded: _Encoded) -> list[dict[str, Any]]:
    """Those that say most first, with the centre and spread of their values."""
    says = encoded.says
    n_latents = len(says)
    if encoded.is_variational:
        active = says >= ACTIVE
        centres, spreads = np.zeros(n_latents), np.ones(n_latents)
    else:
        active = says > _ACTIVE_SHARE * says.max()
        centres, spreads = encoded.codes.mean(axis=0), encoded.codes.std(axis=0)
        # What never varies still gets a slider.
        spreads = np.where(spreads > 0, spreads, 1.0)
    return [
        {
            "number": int(latent),
            "says": float(says[latent]),
            "is_active": bool(active[latent]),
            "centre": float(centres[latent]),
            "spread": float(spreads[latent]),
        }
        for latent in np.argsort(-says, kind="stable")
    ]


def _matches(
    encoded: Sequence[_Encoded], models: Sequence[dict[str, Any]]
) -> list[dict[str, Any] | None]:
    """Counterpart of each latent of the first model, in the order of its list."""
    pairs = match_latents(encoded[0].codes, encoded[1].codes)
    others = {latent["number"]: latent for latent in models[1]["latents"]}
    found = {
        pair.latent: {
            **others[pair.other],
            "correlation": pair.correlation,
            "sign": pair.sign,
        }
        for pair in pairs
    }
    return [found.get(latent["number"]) for latent in models[0]["latents"]]


def _examples(
    dataset: AbstractDataset, rows: NDArray[np.int64]
) -> list[dict[str, Any]]:
    images = dataset.images(rows)
    if images.dtype != np.uint8:
        images = np.clip(np.round(images * 255), 0, 255).astype(np.uint8)
    pixels = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
    return [
        {"label": label, "pixels": base64.b64encode(picture.tobytes()).decode()}
        for label, picture in zip(_labels(dataset, rows), pixels, strict=True)
    ]


def _labels(dataset: AbstractDataset, rows: NDArray[np.int64]) -> list[str]:
    """Row of each image, its file, and the values of its factors, where known."""
    if isinstance(dataset, ImageFolder):
        labels = [dataset.paths[row] for row in rows]
    else:
        labels = [f"image {row}" for row in rows]
    factors = dataset.factors(rows) if dataset.factor_names else None
    if factors is None:
        return labels
    for place, values in enumerate(factors):
        for name, value in zip(dataset.factor_names, values, strict=True):
            labels[place] += f", {name} {value:g}"
    return labels
