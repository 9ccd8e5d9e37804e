"""The section of a page about one model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unbraid.data import AbstractDataset, ImageFolder
from unbraid.foundation import numpy_generator, printable_name
from unbraid.models import NO_DECODER, Autoencoder, LinearModel
from unbraid.models.objectives import AbstractObjective
from unbraid.perception import distance_matrices
from unbraid.reports.explorer._explorer import explorer_text
from unbraid.reports.figures._cumulative_distances import (
    cumulative_distances,
    draw_cumulative_distances,
)
from unbraid.reports.figures._distances import draw_distance_matrices
from unbraid.reports.figures._model import (
    draw_prior_samples,
    draw_reconstructions,
    prior_codes,
    prior_samples,
    reconstructions,
    worst_reconstructions,
)
from unbraid.reports.figures._summaries import LatentTraversals, latent_traversals
from unbraid.reports.figures._training import draw_training_curves, training_curves
from unbraid.reports.figures._traversals import draw_latent_traversals
from unbraid.representation import encode
from unbraid.training import ACTIVE, load, read_history

from ._codes_pictures import matrices_picture, scatter_picture
from ._embed import CANNOT_DRAW, Gallery, picture
from ._loss_names import describe_loss
from ._page import Frame, Picture, Section
from ._verdict_table import verdict_table

_ENCODED = 2_000
_MOST_LATENTS = 10
_LARGEST_EXPLORER = 8_000_000
"""Maximum number of characters of an embedded explorer."""


def model_section(
    title: str,
    folder: Path,
    dataset: AbstractDataset | None,
    *,
    name: str = "",
    history: Path | None = None,
    paragraphs: tuple[str, ...] = (),
    model: Autoencoder | LinearModel | None = None,
    traversals: LatentTraversals | None = None,
    objective: AbstractObjective | None = None,
) -> Section:
    """Return the section about a model, with its explorer and figures.

    Args:
        title: Heading of the section.
        folder: Folder of the model.
        dataset: Training data, or ``None`` if they cannot be read.
        name: Name of the model. Default: the name of its folder.
        history: Folder with the training history. Default: ``folder``.
        paragraphs: Text at the start of the section.
        model: The model. Default: loaded from the folder.
        traversals: Traversals of its active latents. Default: computed.
        objective: Training objective. Default: read from the folder of the run.
    """
    gallery = Gallery()
    try:
        model = load(folder) if model is None else model
    except CANNOT_DRAW as error:
        missing = f"The model cannot be shown: {error}"
        return Section(title=title, paragraphs=(*paragraphs, missing))
    if not model.has_decoder:
        left_out = "Explorer, traversals and reconstructions are left out."
        paragraphs = (*paragraphs, f"{NO_DECODER} {left_out}")
    elif dataset is not None and len(model.image_shape) == 3:
        model_name = name or folder.resolve().name
        gallery.add("The explorer", lambda: _explorer(model, dataset, model_name))
    if isinstance(model, Autoencoder):
        _add_figures(gallery, model, dataset, traversals)
    _add_history(gallery, history or folder, objective)
    return Section(
        title=title,
        paragraphs=(*paragraphs, *gallery.explanations),
        blocks=tuple(gallery.pictures),
    )


def _add_figures(
    gallery: Gallery,
    model: Autoencoder,
    dataset: AbstractDataset | None,
    traversals: LatentTraversals | None,
) -> None:
    is_images = len(model.image_shape) == 3
    if dataset is not None and is_images and model.has_decoder:
        gallery.add(
            "Latent traversals",
            lambda: _traversals(model, traversals or _traverse(model, dataset)),
        )
        gallery.add("Reconstructions", lambda: _reconstructions(model, dataset))
        gallery.add("Worst reconstructions", lambda: _worst(model, dataset))
    if is_images and model.is_variational and model.has_decoder:
        gallery.add("Samples", lambda: _samples(model))
    if dataset is not None:
        codes = encode(model, dataset, rows=_draw_rows(dataset), progress=False)
        gallery.add("Factors and latents", lambda: matrices_picture(codes))
        gallery.add("Pairs of latents", lambda: scatter_picture(codes))
        if dataset.is_grid and is_images:
            gallery.add("Distances", lambda: _distances(model, dataset))
            gallery.add("Perceived distances", lambda: _cumulative(model, dataset))
        gallery.add("Disentanglement to expect", lambda: verdict_table(dataset, model))


def _add_history(
    gallery: Gallery, folder: Path, objective: AbstractObjective | None
) -> None:
    history = read_history(folder / "history.jsonl")
    if history:
        gallery.add(
            "Training", lambda: _curves(history, objective or _read_objective(folder))
        )


def _explorer(
    model: Autoencoder | LinearModel, dataset: AbstractDataset, name: str
) -> Frame:
    text = explorer_text([model], dataset, names={}, model_names=[name], is_part=True)
    if len(text) > _LARGEST_EXPLORER:
        raise ValueError(
            f"The explorer of this model takes {len(text) / 1e6:.0f} MB, too much for "
            "this page. `unbraid explore` writes it to a file of its own."
        )
    return Frame(
        title="Explorer",
        caption="Start from an image, move a slider, and see what the model decodes.",
        document=text,
    )


def _traverse(model: Autoencoder, dataset: AbstractDataset) -> LatentTraversals:
    found = latent_traversals(model, dataset, n_bases=2, n_latents=_MOST_LATENTS)
    return found.first(n_latents=max(sum(kl > ACTIVE for kl in found.kl), 1))


def _traversals(model: Autoencoder, found: LatentTraversals) -> Picture:
    found = found.first(n_latents=len(found.latents), n_bases=2)
    n_inactive = model.n_latents - len(found.latents)
    of_all = f"{n_inactive} of {model.n_latents}"
    note = f" Inactive latents are not shown ({of_all})." if n_inactive else ""
    return picture(
        "What each latent does",
        draw_latent_traversals(found),
        caption="Each row varies one latent from -2 to 2 and keeps the others fixed. A "
        "disentangled latent changes one property, the same one in both images." + note,
        data=pd.DataFrame({"latent": found.latents, found.unit: found.kl}),
        file="latents",
    )


def _reconstructions(model: Autoencoder, dataset: AbstractDataset) -> Picture:
    found = reconstructions(model, dataset)
    return picture(
        "Reconstructions",
        draw_reconstructions(found),
        caption="Images of the data, and below them their reconstructions by the "
        f"model. Mean squared error per pixel: {found.errors.mean():.4f}.",
        data=pd.DataFrame({"row": found.rows, "squared_error": found.errors}),
        file="reconstructions",
    )


def _worst(model: Autoencoder, dataset: AbstractDataset) -> Picture:
    found = worst_reconstructions(model, dataset)
    data = pd.DataFrame({"row": found.rows, "squared_error": found.errors})
    if isinstance(dataset, ImageFolder):
        data.insert(0, "file", [printable_name(dataset.paths[k]) for k in found.rows])
    return picture(
        "Worst reconstructions",
        draw_reconstructions(found),
        caption="Images that the model reconstructs worst, and below them its "
        "reconstructions. What all of them lack is not in the codes either. Mean "
        f"squared error per pixel: {found.errors.mean():.4f}.",
        data=data,
        file="worst-reconstructions",
    )


def _samples(model: Autoencoder) -> Picture:
    pictures = prior_samples(model)
    codes = prior_codes(len(pictures), model.n_latents).numpy()
    names = [f"z{latent}" for latent in range(model.n_latents)]
    return picture(
        "Samples from the prior",
        draw_prior_samples(pictures),
        caption="Images decoded from random codes.",
        data=pd.DataFrame(codes, columns=names).round(4),
        file="samples",
    )


def _distances(model: Autoencoder, dataset: AbstractDataset) -> Picture:
    found = distance_matrices(dataset, model)
    cells = [
        {
            "level": level,
            "factor": factor,
            "from": first,
            "to": second,
            "distance": float(f"{table[first, second]:.5g}"),
        }
        for level in found.levels
        for factor, table in zip(found.factors, found.matrices[level], strict=True)
        for first, second in np.ndindex(table.shape)
    ]
    return picture(
        "Distances along factors",
        draw_distance_matrices(found),
        caption="Each row is a factor, and the axes of each matrix are its values. "
        "Light means far apart. Images are compared by the loss of this model "
        f"({describe_loss(model.likelihood)}). Latents tend to copy the distances of "
        "the data.",
        data=pd.DataFrame(cells),
        file="distances",
    )


def _cumulative(model: Autoencoder, dataset: AbstractDataset) -> Picture:
    found = cumulative_distances(dataset, loss=model)
    data = pd.DataFrame(found.distances.T, columns=list(found.names))
    return picture(
        "Perceived distances of images that differ in one factor",
        draw_cumulative_distances(found),
        caption="Factors further to the right change the loss of this model "
        f"({describe_loss(model.likelihood)}) more. They are learned first.",
        data=data.round(6),
        file="perceived-distances",
    )


def _curves(history: Sequence[Mapping[str, Any]], objective: Any) -> Picture:
    curves = training_curves(history, objective=objective)
    data = pd.DataFrame({"step": curves.steps, **curves.terms})
    if curves.kl is not None:
        names = [f"kl_z{latent}" for latent in range(curves.kl.shape[1])]
        data = pd.concat([data, pd.DataFrame(curves.kl, columns=names)], axis=1)
    return picture(
        "Training",
        draw_training_curves(curves),
        caption="A latent is active if its mean KL divergence is above 0.01 nats.",
        data=data,
        file="training",
    )


def _read_objective(folder: Path) -> Any:
    from unbraid.foundation import read_json
    from unbraid.training import TrainingSpec

    try:
        record = read_json(folder / "spec.json", kind="run")
        spec = TrainingSpec.from_plain(record["spec"])
    except (*CANNOT_DRAW, AttributeError, TypeError):
        return None  # the curves can be drawn without it
    return spec.objective.over(spec.steps)


def _draw_rows(dataset: AbstractDataset) -> np.ndarray:
    if len(dataset) <= _ENCODED:
        return np.arange(len(dataset))
    generator = numpy_generator(0, "report")
    return np.sort(generator.choice(len(dataset), _ENCODED, replace=False))
