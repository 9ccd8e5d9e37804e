"""The section of a page about the population that a model comes from."""

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
    """Return the section about the population of a run; ``None`` for a single model.

    Args:
        run: Finished run of a study.
        dataset: Training data, or ``None`` if they cannot be read.
    """
    cell = run.cell
    if cell.spec.evolution is None:
        return None
    record = run.scores.get("evolution", {})
    populations = cell.files.path.parent.parent / "populations"
    gallery = Gallery()
    blocks: list[Picture | Table] = []
    paragraphs = [_summarize(record)]
    if cell.spec.evolution.method == "recursive":
        stages = _read_stages(cell.files.path)
        blocks.append(_stage_table(stages))
        for stage in stages[:_MOST_STAGES]:
            _add_stage(gallery, stage, populations, cell.spec, dataset)
        if len(stages) > _MOST_STAGES:
            paragraphs.append(f"Only the first {_MOST_STAGES} stages are drawn.")
    folder = populations / str(record.get("population", ""))
    gallery.add("Lineage", lambda: _lineage(read_lineage(folder)))
    gallery.add("Hyperparameters", lambda: _hyperparameters(read_lineage(folder)))
    paragraphs += gallery.explanations
    return Section(
        title="Population",
        paragraphs=tuple(paragraphs),
        blocks=(*blocks, *gallery.pictures),
    )


def _summarize(record: dict[str, object]) -> str:
    score, generations = record.get("score"), record.get("generations")
    if not isinstance(score, float):
        return "The result of the population was not recorded."
    return (
        f"After {generations} generations, the best member has a score of "
        f"{number(score)}. Training ended because {record.get('reason')}."
    )


def _read_stages(folder: Path) -> list[Stage]:
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
        columns=(
            *("stage", "images", "score", "active latents"),
            *("images left", "ended because"),
        ),
        rows=rows,
        caption="Each stage learns from images that are alike in the factors learned "
        "by earlier stages. The last stage learns from all images, and is scored on "
        "the labels that the other stages found.",
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
    reduction = reduce_images(labels, spec.evolution.recursion.reduction)
    chosen = reduction.choices[0] if reduction.choices else None
    for steps in reduction.steps[:2]:
        gallery.add(
            f"Steps of latent {steps.latent} in {stage.name}",
            lambda steps=steps: picture(
                f"Steps of latent {steps.latent}, {stage.name}",
                draw_latent_steps(steps, chosen),
                caption="Top: sorted labels. Bottom: their differences, with peaks as "
                "crosses. The next stage learns from the images marked in red.",
                data=pd.DataFrame({"label": steps.values}),
                file=f"steps-{stage.name.replace(' ', '-')}-{steps.latent}",
            ),
        )


def _traversals(stage: Stage, folder: Path, dataset: AbstractDataset) -> Picture:
    model = load(folder / "winner")
    assert isinstance(model, Autoencoder)  # populations train nothing else
    if (folder / "labels.npz").is_file():
        rows = SurrogateLabels.load(folder / "labels.npz").rows
        dataset = Subset(dataset, rows)
    n_latents = max(len(stage.latents), 3)
    traversals = latent_traversals(model, dataset, n_bases=1, n_latents=n_latents)
    return picture(
        f"What {stage.name} learned",
        draw_latent_traversals(traversals),
        caption=f"Latents of the best model of {stage.name}, the most active first. "
        f"Active latents: {len(stage.latents)}.",
        data=pd.DataFrame(
            {"latent": traversals.latents, traversals.unit: traversals.kl}
        ),
        file=f"latents-{stage.name.replace(' ', '-')}",
    )


def _lineage(lineage: Lineage) -> Picture:
    return picture(
        "Lineage",
        draw_lineage(lineage),
        caption="One column per generation. Lines lead from parents to children, "
        "colors are scores, and crosses are members that failed. Red lines lead to the "
        "winner.",
        data=lineage_table(lineage),
        file="lineage",
    )


def _hyperparameters(lineage: Lineage) -> Picture:
    return picture(
        "Hyperparameters over the generations",
        draw_hyperparameters(lineage),
        caption="Lines lead from parents to children. Red lines lead to the winner.",
        data=lineage_table(lineage),
        file="hyperparameters",
    )
