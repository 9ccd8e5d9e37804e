"""rPU-VAE: learn a few factors, keep images with equal ones, and repeat."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
from numpy.typing import NDArray

from unbraid.data import open_cached
from unbraid.foundation import (
    CheckpointFormatError,
    numpy_generator,
    read_json,
    set_aside,
    write_json,
)
from unbraid.representation import encode
from unbraid.training import hash_plain

from ._image_reduction import RecursionSettings, Reduction, reduce_images
from ._member_scores import AgreementScore, SurrogateScore
from ._population import Population
from ._population_plan import PopulationPlan
from ._population_settings import PopulationSettings
from ._run_population import RunPopulation
from ._settings import EvolvingSettings
from ._surrogate_labels import LabelTable, SurrogateLabels

_KIND = "recursion"
# Rows per stage on which members of the last population are scored.
_ROWS_PER_STAGE = 2_000


@dataclass(frozen=True)
class Stage:
    """Result of one population of a recursion.

    Attributes:
        name: ``root``, ``leaf 1 stage 1`` and so on, or ``final``.
        population: Name of the folder of the population.
        images: Number of images that it learned from.
        score: Score of its best member.
        generations: Number of generations.
        latents: Active latents of its best model.
        kl: KL divergence of each latent of its best model.
        left: Number of images for the next stage, which are alike in the factors
            learned so far.
        reason: Reason why the path ends here; empty if it continues.
    """

    name: str
    population: str
    images: int
    score: float
    generations: int
    latents: tuple[int, ...] = ()
    kl: tuple[float, ...] = ()
    left: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class RecursionPlan:
    """Everything that decides a recursion.

    Attributes:
        run: Settings of each model: data, objective, network, likelihood, training and
            seed.
        unsupervised: Population of every stage, scored by agreement.
        final: Last population, trained on all images and scored on surrogate labels.
        settings: Stopping rules.
        compared: Number of rows on which the models of a member are compared.
        metric: Metric that scores the last population.
    """

    run: EvolvingSettings
    unsupervised: PopulationSettings
    final: PopulationSettings
    settings: RecursionSettings
    compared: int = 1_000
    metric: str = "mig"


class Recursion:
    """A recursion on disk: populations, labels, intervals, and the list of stages.

    Args:
        plan: Plan of the recursion.
        folder: Folder for the list of stages.
        populations: Folder for the populations, each under its id, so that recursions
            that differ only in their last stages share the first ones.
        device: Device on which each model is trained.
    """

    def __init__(
        self, plan: RecursionPlan, folder: Path, populations: Path, *, device: str
    ) -> None:
        self._plan, self._populations, self._device = plan, populations, device
        self._file = folder / "recursion.json"
        self.stages: list[Stage] = []

    def run(self, run: RunPopulation) -> Population:
        """Train all populations that are not finished.

        Args:
            run: Function that trains a population to the end.

        Returns:
            Last population, finished.

        Raises:
            ValueError: If the first population learns nothing.
        """
        self.stages.clear()
        n_images = len(open_cached(self._plan.run.data).dataset)
        labels, reduction = self._run_stage("root", None, n_images, run)
        if not len(labels.latents):
            raise ValueError(
                "The first population of the recursion learned nothing: "
                f"{self.stages[-1].reason}."
            )
        tables = self._run_leaves(labels, reduction, run) or [[("root", labels)]]
        return self._run_final(tables, run)

    def _run_leaves(
        self, labels: SurrogateLabels, reduction: Reduction, run: RunPopulation
    ) -> list[list[tuple[str, SurrogateLabels]]]:
        """Return the labels along every path, each starting with those of the root."""
        settings = self._plan.settings
        tables = []
        for number, choice in enumerate(reduction.choices[: settings.leaf_runs], 1):
            path, rows = [("root", labels)], choice.rows
            for depth in range(1, settings.most_stages + 1):
                if len(rows) < settings.least_images:
                    break
                name = f"leaf {number} stage {depth}"
                leaf_labels, smaller = self._run_stage(name, rows, len(rows), run)
                if len(leaf_labels.latents):
                    path.append((name, leaf_labels))
                if self.stages[-1].reason:
                    break
                rows = smaller.choices[0].rows
            tables.append(path)
        return tables

    def _run_stage(
        self,
        name: str,
        rows: NDArray[np.int64] | None,
        n_images: int,
        run: RunPopulation,
    ) -> tuple[SurrogateLabels, Reduction]:
        """Train a population on some images, and return what it learned."""
        plan, settings = self._plan, self._plan.settings
        generator = numpy_generator(plan.run.seed, "recursion", name)
        images = np.arange(n_images) if rows is None else rows
        scored = images
        if n_images > plan.compared:
            scored = np.sort(generator.choice(images, plan.compared, replace=False))
        population = self._run(
            PopulationPlan(
                run=plan.run,
                settings=plan.unsupervised,
                score=AgreementScore(),
                score_name="agreement",
                scored=scored,
                rows=rows,
            ),
            run,
        )
        labels = self._label(population, images)
        reduction = reduce_images(labels, settings.reduction)
        self._write_reduction(population, reduction)
        lineage = population.lineage
        generation, index = lineage.winner
        score = lineage.generations[generation][index].score or 0.0
        reason = reduction.reason
        if score < settings.least_agreement:
            reason = f"agreement {score:.3f} is below {settings.least_agreement:g}"
            labels = dataclasses.replace(
                labels, latents=labels.latents[:0], values=labels.values[:, :0]
            )
        left = 0 if reason else len(reduction.choices[0].rows)
        if not reason and left < settings.least_images:
            reason = f"too little data: {left} images are left"
        self._record(
            Stage(
                name=name,
                population=population.folder.name,
                images=n_images,
                score=score,
                generations=len(lineage.generations),
                latents=tuple(map(int, labels.latents)),
                kl=tuple(round(float(value), 4) for value in labels.kl),
                left=left,
                reason=reason,
            )
        )
        return labels, reduction

    def _run_final(
        self, paths: Sequence[Sequence[tuple[str, SurrogateLabels]]], run: RunPopulation
    ) -> Population:
        plan = self._plan
        tables = tuple(
            LabelTable.join(
                path,
                bins=plan.settings.label_bins,
                most=_ROWS_PER_STAGE,
                # The same rows for every path, so that each row is encoded once.
                generator=numpy_generator(plan.run.seed, "labelled rows"),
            )
            for path in paths
        )
        parts = [[table.rows.tolist(), table.values.tolist()] for table in tables]
        digest = hash_plain(str(parts))[:16]
        population = self._run(
            PopulationPlan(
                run=plan.run,
                settings=plan.final,
                score=SurrogateScore(tables, plan.metric),
                score_name=f"{plan.metric} of labels {digest}",
                scored=np.unique(np.concatenate([table.rows for table in tables])),
            ),
            run,
        )
        lineage = population.lineage
        self._record(
            Stage(
                name="final",
                population=population.folder.name,
                images=len(open_cached(plan.run.data).dataset),
                score=max(lineage.best_scores),
                generations=len(lineage.generations),
                reason="all labels are used",
            )
        )
        return population

    def _run(self, plan: PopulationPlan, run: RunPopulation) -> Population:
        population = Population(plan, self._populations / plan.id, device=self._device)
        return run(population)

    def _label(
        self, population: Population, rows: NDArray[np.int64]
    ) -> SurrogateLabels:
        """Encode all images of a stage with the best model of its population."""
        path, threshold = population.folder / "labels.npz", self._plan.settings.active
        labels = _read_labels(path)
        # Recursions with other thresholds share the population and this file.
        if (
            labels is None
            or not np.array_equal(labels.rows, rows)
            or not np.array_equal(labels.latents, np.flatnonzero(labels.kl > threshold))
        ):
            dataset = open_cached(self._plan.run.data).dataset
            codes = encode(population.winner(), dataset, rows=rows, progress=False)
            labels = SurrogateLabels.from_codes(codes, threshold=threshold)
            labels.save(path)
        return labels

    def _write_reduction(self, population: Population, reduction: Reduction) -> None:
        path = population.folder / "reduction.json"
        write_json(path, reduction.to_plain(), kind="reduction")

    def _record(self, stage: Stage) -> None:
        self.stages.append(stage)
        record: dict[str, Any] = {
            "populations": str(self._populations.resolve()),
            "stages": [dataclasses.asdict(stage) for stage in self.stages],
        }
        write_json(self._file, record, kind=_KIND)


def read_stages(folder: Path) -> list[Stage]:
    """Return the stages of the recursion in a folder, finished or not."""
    path = folder / "recursion.json"
    record = read_json(path, kind=_KIND)
    try:
        return _STAGES.validate_python(record["stages"])
    except (LookupError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: the file is damaged: the stages of the recursion cannot be read. "
            "Restore it from a copy."
        ) from error


_STAGES = pydantic.TypeAdapter(list[Stage])


def _read_labels(path: Path) -> SurrogateLabels | None:
    """Return the labels of a stage; ``None`` if the file is missing or damaged."""
    if not path.is_file():
        return None
    try:
        return SurrogateLabels.load(path)
    except CheckpointFormatError:
        set_aside(path)
        return None
