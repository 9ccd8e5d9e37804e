"""Writing the explorer page of one or two models."""

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
from unbraid.models import NO_DECODER, Autoencoder, DiagonalGaussian, LinearModel
from unbraid.reports.figures._latent_matching import match_latents
from unbraid.reports.figures._outputs import require_own_page
from unbraid.training import ACTIVE

from ._explorer_page import fill_page
from ._latent_names import check_names
from ._network_description import describe_model

_ENCODED = 2_000
"""Number of images from which the activity of latents is estimated."""
_BATCH_SIZE = 250
_LABELS = ("A", "B")
_ACTIVE_SHARE = 0.05**2
"""Share of the largest variance above which a latent is active, if not variational."""


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
    """Write a page on which sliders move the latents of a model.

    The page is a single file that works offline: it contains encoder and decoder in
    half precision, and the browser evaluates them. With a second model, latents are
    matched by the correlation of their codes, and one slider moves both.

    Args:
        model: Model of gray or color images.
        data: Dataset or images, as for :func:`~unbraid.data.as_dataset`.
        path: Path of the page, usually ``explorer.html``.
        other: Second model, of images of the same shape.
        names: Names of latents of the first model, by index.
        model_names: Names of the models on the page. Default: A and B.
        n_examples: Number of images to start from, drawn at random.
        seed: Seed of the random images.

    Returns:
        Path of the page.

    Raises:
        ValueError: If the page cannot evaluate a layer of a network.
        FileExistsError: If the path is a file that unbraid did not write.

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
        # File names may contain lone surrogates, which cannot be encoded.
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
    """Return the HTML of an explorer page.

    Args:
        models: One or two models.
        dataset: Dataset from which images are drawn.
        names: Names of latents of the first model, by index.
        model_names: Names of the models. Default: A and B.
        n_examples: Number of images to start from.
        seed: Seed of the random images.
        is_part: Whether the page is embedded in another page and needs no heading.
    """
    _check(models, dataset, model_names, n_examples)
    named = check_names(names, n_latents=models[0].n_latents)
    generator = numpy_generator(seed, "explorer")
    n_rows = min(len(dataset), max(n_examples, _ENCODED))
    rows = generator.choice(len(dataset), n_rows, replace=False)
    content = {
        "image_shape": list(dataset.image_shape),
        "data_name": dataset.name,
        "is_part": is_part,
        "examples": _encode_examples(dataset, rows[:n_examples]),
        **_describe(models, [_encode(one, dataset, rows) for one in models]),
    }
    labels = model_names or _LABELS[: len(models)]
    for description, label in zip(content["models"], labels, strict=True):
        description["name"] = label
    for latent in content["models"][0]["latents"]:
        latent["name"] = named.get(latent["number"], "")
    return fill_page(content)


@dataclass(frozen=True)
class _Encoded:
    """Codes of some images ``(n, n_latents)``, and the activity of each latent."""

    codes: NDArray[np.float64]
    activity: NDArray[np.float64]
    is_variational: bool


def _check(
    models: Sequence[Autoencoder | LinearModel],
    dataset: AbstractDataset,
    model_names: Sequence[str],
    n_examples: int,
) -> None:
    for model in models:
        if not model.has_decoder:
            raise ValueError(f"The explorer shows decoded images. {NO_DECODER}")
        shape = model.image_shape
        if len(shape) != 3 or shape[0] not in (1, 3):
            raise ValueError(
                "The explorer needs a model of images with 1 or 3 channels, but this "
                f"one has inputs of shape {shape}."
            )
        if tuple(dataset.image_shape) != shape:
            raise ValueError(
                f"The model takes images of shape {shape}, but the data have shape "
                f"{tuple(dataset.image_shape)}."
            )
    if model_names and len(model_names) != len(models):
        raise ValueError(
            f"model_names must have {len(models)} elements, one per model, got "
            f"{len(model_names)}."
        )
    if n_examples < 1 or len(dataset) < 1:
        raise ValueError(
            "The explorer needs at least one image to start from, got n_examples="
            f"{n_examples} and {len(dataset)} images."
        )


def _encode(
    model: Autoencoder | LinearModel, dataset: AbstractDataset, rows: NDArray[np.int64]
) -> _Encoded:
    device = next(iter(model.state_dict().values())).device
    codes, divergences = [], []
    with torch.no_grad():
        for start in range(0, len(rows), _BATCH_SIZE):
            images = float_images(dataset, rows[start : start + _BATCH_SIZE])
            posterior = model.encode(images.to(device))
            codes.append(posterior.mean.cpu().double().numpy())
            if isinstance(posterior, DiagonalGaussian):
                divergences.append(posterior.kl_to_prior().cpu().double().numpy())
    table = np.concatenate(codes)
    activity = (
        np.concatenate(divergences).mean(axis=0) if divergences else table.var(axis=0)
    )
    if not np.isfinite(table).all() or not np.isfinite(activity).all():
        raise ValueError(
            "The explorer needs finite codes, but the model returns NaN or infinity."
        )
    return _Encoded(table, activity, bool(divergences))


def _describe(
    models: Sequence[Autoencoder | LinearModel], encoded: Sequence[_Encoded]
) -> dict[str, Any]:
    """Describe the networks and latents of each model, and match their latents."""
    described = [
        {
            **describe_model(model),
            "is_variational": model.is_variational,
            "latents": _describe_latents(codes),
        }
        for model, codes in zip(models, encoded, strict=True)
    ]
    if len(models) == 1:
        return {"models": described, "matches": None}
    matches = _match(encoded, described)
    # Active if it is active in either model.
    for latent, match in zip(described[0]["latents"], matches, strict=True):
        latent["is_active"] |= match is not None and match["is_active"]
    return {"models": described, "matches": matches}


def _describe_latents(encoded: _Encoded) -> list[dict[str, Any]]:
    """Describe the latents, the most active first."""
    activity = encoded.activity
    n_latents = len(activity)
    if encoded.is_variational:
        active = activity >= ACTIVE
        centers, spreads = np.zeros(n_latents), np.ones(n_latents)
    else:
        active = activity > _ACTIVE_SHARE * activity.max()
        centers, spreads = encoded.codes.mean(axis=0), encoded.codes.std(axis=0)
        # Constant latents also have a slider.
        spreads = np.where(spreads > 0, spreads, 1.0)
    return [
        {
            "number": int(latent),
            "activity": float(activity[latent]),
            "is_active": bool(active[latent]),
            "center": float(centers[latent]),
            "spread": float(spreads[latent]),
        }
        for latent in np.argsort(-activity, kind="stable")
    ]


def _match(
    encoded: Sequence[_Encoded], models: Sequence[dict[str, Any]]
) -> list[dict[str, Any] | None]:
    """Return the counterpart of each latent of the first model, in order."""
    pairs = match_latents(encoded[0].codes, encoded[1].codes)
    others = {latent["number"]: latent for latent in models[1]["latents"]}
    matches = {
        pair.latent: {
            **others[pair.other],
            "correlation": pair.correlation,
            "sign": pair.sign,
        }
        for pair in pairs
    }
    return [matches.get(latent["number"]) for latent in models[0]["latents"]]


def _encode_examples(
    dataset: AbstractDataset, rows: NDArray[np.int64]
) -> list[dict[str, Any]]:
    images = dataset.images(rows)
    if images.dtype != np.uint8:
        images = np.clip(np.round(images * 255), 0, 255).astype(np.uint8)
    pixels = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
    return [
        {"label": label, "pixels": base64.b64encode(picture.tobytes()).decode()}
        for label, picture in zip(_make_labels(dataset, rows), pixels, strict=True)
    ]


def _make_labels(dataset: AbstractDataset, rows: NDArray[np.int64]) -> list[str]:
    """Return file or row of each image, and the values of its factors if known."""
    if isinstance(dataset, ImageFolder):
        labels = [dataset.paths[row] for row in rows]
    else:
        labels = [f"image {row}" for row in rows]
    factors = dataset.factors(rows) if dataset.factor_names else None
    if factors is None:
        return labels
    for index, values in enumerate(factors):
        for name, value in zip(dataset.factor_names, values, strict=True):
            labels[index] += f", {name} {value:g}"
    return labels
