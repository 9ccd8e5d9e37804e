"""The part of a page that shows how a model was bred."""

from pathlib import Path

import pandas as pd

from unbraid.data import AbstractDataset, Subset
from unbraid.evolution import (
    Lineage,
    Stage,
    SurrogateLabels,
    read_lineage,
    read_stages,
    reduce_images,
)
from unbraid.foundation import CheckpointFormatError
from unbraid.models import Autoencoder
from unbraid.reports.figures._population import (
    draw_hyperparameters,
    draw_latent_steps,
    draw_lineage,
    lineage_table,
)
from unbraid.reports.figures._summaries import latent_traversals
from unbraid.reports.figures._traversals import draw_latent_traversals
from unbraid.studies import RunRecord, RunSpec
from unbraid.training import load

from ._embed import Gallery, picture
from ._page import Picture, Section, Table
from ._scores_table import number

_MOST_STAGES = 6


def evolution_section(
    run: RunRecord, dataset: AbstractDataset | None
) -> Section | None:
    """How the population of a run came to its winner; ``None`` if it is a plain run.

    Args:
        run: Finished run of a study.
        dataset: What it learned from, or ``None`` if that cannot be read.
    """
    cell = run.cell
    if cell.spec.evolution is None:
        return None
    about = run.scores.get("evolution", {})
    populations = cell.files.path.parent.parent / "populations"
    gallery = Gallery()
    blocks: list[Picture | Table] = []
    words = [_words(about)]
    if cell.spec.evolution.method == "recursive":
        stages = _stages(cell.files.path)
        blocks.append(_stage_table(stages))
        for stage in stages[:_MOST_STAGES]:
            _add_stage(gallery, stage, populations, cell.spec, dataset)
        if len(stages) > _MOST_STAGES:
            words.append(f"Only the first {_MOST_STAGES} stages are drawn.")
    folder = populations / str(about.get("population", ""))
    gallery.add("Lineage", lambda: _lineage(read_lineage(folder)))
    gallery.add("Hyperparameters", lambda: _hyperparameters(read_lineage(folder)))
    words += [f"{title}: not drawn. {why}" for title, why in gallery.missing]
    return Section(
        title="How it was bred",
        words=tuple(words),
        blocks=(*blocks, *gallery.pictures),
    )


def _words(about: dict[str, object]) -> str:
    score, generations = about.get("score"), about.get("generations")
    if not isinstance(score, float):
        return "What became of the population was not kept."
    return (
        f"{generations} generations; the best score by which members were chosen is "
        f"{number(score)}. It ended because {about.get('reason')}."
    )


def _stages(folder: Path) -> list[Stage]:
    try:
        return read_stages(folder)
    except (FileNotFoundError, CheckpointFormatError):
        return []


def _stage_table(stages: list[Stage]) -> Table:
    rows = tuple(
        (
            stage.name,
            number(stage.images),
            number(stage.score),
            ", ".join(f"z{latent}" for latent in stage.latents) or "none",
            number(stage.left) if stage.left else "",
            stage.reason,
        )
        for stage in stages
    )
    return Table(
        title="Stages",
        columns=("stage", "images", "score", "active latents", "left", "ended because"),
        rows=rows,
        words="Each stage learns from images that are alike in what the stages before "
        "it have learned. The last one learns from all images, scored by the labels "
        "that the others found.",
    )


def _add_stage(
    gallery: Gallery,
    stage: Stage,
    populations: Path,
    spec: RunSpec,
    dataset: AbstractDataset | None,
) -> None:
    folder = populations / stage.population
    if dataset is not None and len(dataset.image_shape) == 3:
        gallery.add(
            f"What {stage.name} learned", lambda: _traversals(stage, folder, dataset)
        )
    if not (folder / "labels.npz").is_file() or not stage.latents:
        return
    labels = SurrogateLabels.load(folder / "labels.npz")
    assert spec.evolution is not None
    found = reduce_images(labels, spec.evolution.recursion.reduction)
    chosen = found.choices[0] if found.choices else None
    for steps in found.steps[:2]:
        gallery.add(
            f"Steps of latent {steps.latent} in {stage.name}",
            lambda steps=steps: picture(
                f"Steps of latent {steps.latent}, {stage.name}",
                draw_latent_steps(steps, chosen),
                words="Sorted labels above, their differences below; crosses are "
                "peaks, and the next stage learns from the images in red.",
                data=pd.DataFrame({"label": steps.values}),
                file=f"steps-{stage.name.replace(' ', '-')}-{steps.latent}",
            ),
        )


def _traversals(stage: Stage, folder: Path, dataset: AbstractDataset) -> Picture:
    model = load(folder / "winner")
    assert isinstance(model, Autoencoder)  # populations breed nothing else
    if (folder / "labels.npz").is_file():
        rows = SurrogateLabels.load(folder / "labels.npz").rows
        dataset = Subset(dataset, rows)
    n_latents = max(len(stage.latents), 3)
    found = latent_traversals(model, dataset, n_bases=1, n_latents=n_latents)
    return picture(
        f"What {stage.name} learned",
        draw_latent_traversals(found),
        words=f"Latents of the best model of {stage.name}, the most active first; "
        f"{len(stage.latents)} are active.",
        data=pd.DataFrame({"latent": found.latents, found.unit: found.kl}),
        file=f"latents-{stage.name.replace(' ', '-')}",
    )


def _lineage(lineage: Lineage) -> Picture:
    return picture(
        "Who descends from whom",
        draw_lineage(lineage),
        words="A column is a generation, a row a place; lines lead from parents to "
        "heirs, colours are scores, crosses failed. Red: the way to the winner.",
        data=lineage_table(lineage),
        file="lineage",
    )


def _hyperparameters(lineage: Lineage) -> Picture:
    return picture(
        "Hyperparameters over the generations",
        draw_hyperparameters(lineage),
        words="Lines follow parents. Red: the way to the winner.",
        data=lineage_table(lineage),
        file="hyperparameters",
    )
