"""The plan of a population: data, settings and score."""

import dataclasses
import functools
import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, Subset, open_cached
from unbraid.training import TrainingSpec, hash_plain

from ._lineage import Member
from ._member_scores import MemberScore
from ._population_settings import BATCH_SIZE, LEARNING_RATE, PopulationSettings
from ._settings import EvolvingSettings


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PopulationPlan:
    """Everything that decides how a population evolves.

    Attributes:
        run: Data, objective, network, likelihood, training and seed. The
            hyperparameters of each member override those given here.
        settings: Sizes and rules.
        score: Function that scores a member.
        score_name: Description of the score, with everything that decides its value.
        scored: Rows of the dataset on which members are scored.
        rows: Rows of the dataset to train on; all if ``None``.
    """

    run: EvolvingSettings
    settings: PopulationSettings
    score: MemberScore
    score_name: str
    scored: NDArray[np.int64]
    rows: NDArray[np.int64] | None = None

    @functools.cached_property
    def id(self) -> str:
        """Hash of everything that decides the lineage."""
        return hash_plain(
            {**self.run.to_plain(), "evolution": None, "evaluation": None},
            open_cached(self.run.data).fingerprint,
            self.settings.model_dump(mode="json"),
            self.score_name,
            _digest(self.scored),
            None if self.rows is None else _digest(self.rows),
        )[:16]

    @property
    def dataset(self) -> AbstractDataset:
        """Data to train on."""
        whole = open_cached(self.run.data).dataset
        return whole if self.rows is None else Subset(whole, self.rows)

    @functools.cached_property
    def n_images(self) -> int:
        """Number of images that each model sees per generation."""
        n_rows = len(open_cached(self.run.data).dataset)
        return self.settings.images_per_generation(
            n_rows if self.rows is None else len(self.rows)
        )

    @functools.cached_property
    def _base(self) -> TrainingSpec:
        training = self.run.training
        # Schedules span all generations, at the batch size of the settings.
        n_images = self.settings.generations * self.n_images
        steps = math.ceil(n_images / training.batch_size)
        run = self.run.model_copy(
            update={"training": training.model_copy(update={"steps": steps})}
        )
        data = open_cached(self.run.data)
        return run.training_spec(
            data.dataset, data.statistics if training.standardize else None
        )

    def training_spec(self, member: Member, model: int) -> TrainingSpec:
        """Return the training settings of a model of a member."""
        hyperparameters = dict(member.hyperparameters)
        batch_size = hyperparameters.pop(BATCH_SIZE, self._base.batch_size)
        rate = hyperparameters.pop(LEARNING_RATE, self._base.learning_rate)
        strengths = {
            path.partition(".")[2]: value for path, value in hyperparameters.items()
        }
        return dataclasses.replace(
            self._base,
            objective=self._make_objective(strengths),
            batch_size=int(batch_size),
            learning_rate=rate,
            seed=member.seeds[model],
            steps=member.steps,
        )

    def _make_objective(self, strengths: dict[str, Any]) -> Any:
        objective = self._base.objective
        known = {part.name for part in dataclasses.fields(objective)}
        for name in strengths:
            if name not in known:
                raise ValueError(
                    f"{type(objective).__name__} has no hyperparameter {name!r}. Use "
                    f"one of {', '.join(sorted(known))}."
                )
        return dataclasses.replace(objective, **strengths)


def _digest(rows: NDArray[np.int64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
