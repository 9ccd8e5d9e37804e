"""rPU-VAE: learn a few factors, keep images alike in them, and learn the next few."""

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
# Rows of each stage on which members of the last population are scored: three digits.
_ROWS_PER_STAGE = 2_000


@dataclass(frozen=True)
class Stage:
    """What one population of a recursion learned.

    Attributes:
        name: ``root``, ``leaf 1 stage 1`` and so on, or ``final``.
        population: Folder of the population, beside the others.
        images: That it learned from.
        score: Of its best member.
        generations: That it took.
        latents: Active ones of its best model.
        kl: Of all of its latents.
        left: Images that are alike in what it learned, and are learned from next.
        reason: Why the path ends here; empty if it goes on.
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
    """What a recursion does.

    Attributes:
        run: Data, objective, network, likelihood, training and seed.
        unsupervised: Population of every stage, scored by agreement.
        final: Population that learns everything at once, scored by the labels found.
        settings: When paths end.
        compared: Rows on which the models of a member are compared.
        metric: By which the last population is scored.
    """

    run: EvolvingSettings
    unsupervised: PopulationSettings
    final: PopulationSettings
    settings: RecursionSettings
    compared: int = 1_000
    metric: str = "mig"


class Recursion:
    """A recursion on disk: populations, labels, intervals, and the stages as a list.

    Args:
        plan: What it does.
        folder: For what is its own.
        populations: Folder for populations, each under its id, so that recursions that
            differ in their last stages share the first ones.
        device: Where each model computes.
    """

    def __init__(
        self, plan: RecursionPlan, folder: Path, populations: Path, *, device: str
    ) -> None:
        self._plan, self._populations, self._device = plan, populations, device
        self._file = folder / "recursion.json"
        self.stages: list[Stage] = []

    def run(self, run: RunPopulation) -> Population:
        """Everything that is not done yet.

        Args:
            run: Trains a population to its end.

        Returns:
            The final population, complete.

        Raises:
            ValueError: If the first population learns nothing.
        """
        self.stages.clear()
        n_images = len(open_cached(self._plan.run.data).dataset)
        labels, reduction = self._stage("root", None, n_images, run)
        if not len(labels.latents):
            raise ValueError(
                f"recursion: expected a population that learns something, got: "
                f"{self.stages[-1].reason}."
            )
        tables = self._leaf_runs(labels, reduction, run) or [[("root", labels)]]
        return self._final(tables, run)

    def _leaf_runs(
        self, labels: SurrogateLabels, reduction: Reduction, run: RunPopulation
    ) -> list[list[tuple[str, SurrogateLabels]]]:
        """Labels along every path, each beginning with those of the root."""
        settings = self._plan.settings
        tables = []
        for number, choice in enumerate(reduction.choices[: settings.leaf_runs], 1):
            path, rows = [("root", labels)], choice.rows
            for depth in range(1, settings.most_stages + 1):
                if len(rows) < settings.least_images:
                    break
                name = f"leaf {number} stage {depth}"
                found, smaller = self._stage(name, rows, len(rows), run)
                if len(found.latents):
                    path.append((name, found))
                if self.stages[-1].reason:
                    break
                rows = smaller.choices[0].rows
            tables.append(path)
        return tables

    def _stage(
        self,
        name: str,
        rows: NDArray[np.int64] | None,
        n_images: int,
        run: RunPopulation,
    ) -> tuple[SurrogateLabels, Reduction]:
        """Breed a population on some images, and see what it has learned."""
        plan, settings = self._plan, self._plan.settings
        generator = numpy_generator(plan.run.seed, "recursion", name)
        known = np.arange(n_images) if rows is None else rows
        scored = known
        if n_images > plan.compared:
            scored = np.sort(generator.choice(known, plan.compared, replace=False))
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
        labels = self._labels(population, known)
        reduction = reduce_images(labels, settings.reduction)
        self._keep(population, reduction)
        lineage = population.lineage
        generation, place = lineage.winner
        score = lineage.generations[generation][place].score or 0.0
        reason = reduction.reason
        if score < settings.least_agreement:
            reason = f"agreement {score:.3f} is below {settings.least_agreement:g}"
            labels = dataclasses.replace(
                labels, latents=labels.latents[:0], values=labels.values[:, :0]
            )
        left = 0 if reason else len(reduction.choices[0].rows)
        if not reason and left < settings.least_images:
            reason = f"too little data: {left} images are left"
        self._note(
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

    def _final(
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
        words = hash_plain(str(parts))[:16]
        population = self._run(
            PopulationPlan(
                run=plan.run,
                settings=plan.final,
                score=SurrogateScore(tables, plan.metric),
                score_name=f"{plan.metric} of labels {words}",
                scored=np.unique(np.concatenate([table.rows for table in tables])),
            ),
            run,
        )
        lineage = population.lineage
        self._note(
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

    def _labels(
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
            labels = SurrogateLabels.read_off(codes, threshold=threshold)
            labels.save(path)
        return labels

    def _keep(self, population: Population, reduction: Reduction) -> None:
        path = population.folder / "reduction.json"
        write_json(path, reduction.to_plain(), kind="reduction")

    def _note(self, stage: Stage) -> None:
        self.stages.append(stage)
        words: dict[str, Any] = {
            "populations": str(self._populations.resolve()),
            "stages": [dataclasses.asdict(stage) for stage in self.stages],
        }
        write_json(self._file, words, kind=_KIND)


def read_stages(folder: Path) -> list[Stage]:
    """Stages of the recursion that a folder keeps, as far as it is."""
    path = folder / "recursion.json"
    words = read_json(path, kind=_KIND)
    try:
        return _STAGES.validate_python(words["stages"])
    except (LookupError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: the stages of a recursion cannot be read: the file is damaged."
        ) from error


_STAGES = pydantic.TypeAdapter(list[Stage])


def _read_labels(path: Path) -> SurrogateLabels | None:
    """Labels of a stage; ``None`` if there are none, or only a damaged file."""
    if not path.is_file():
        return None
    try:
        return SurrogateLabels.load(path)
    except CheckpointFormatError:
        set_aside(path)
        return None
