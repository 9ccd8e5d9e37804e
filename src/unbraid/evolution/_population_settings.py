"""How a population is bred: sizes, where hyperparameters begin, and how they change."""

from typing import Annotated

import numpy as np
import pydantic

from unbraid.foundation import Section, Whole

BATCH_SIZE, LEARNING_RATE = "training.batch_size", "training.learning_rate"
"""Hyperparameters of every objective, by their path in a run's settings."""


class Range(Section):
    """Where a hyperparameter begins, and what it may become.

    Attributes:
        values: One of these is drawn for every first member.
        least: Never below; the least of the values when not given.
        most: Never above; the largest of the values when not given.
        whole: Rounded up to a whole number whenever it changes.
    """

    values: Annotated[list[float], pydantic.Field(min_length=1)]
    least: float | None = None
    most: float | None = None
    whole: bool = False

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Range":
        if not np.isfinite(self.values).all() or min(self.values) <= 0:
            raise ValueError(f"expected values above 0, got {self.values}.")
        low, high = self.bounds
        if not low <= min(self.values) <= max(self.values) <= high:
            raise ValueError(
                f"expected values from {low:g} to {high:g}, got {self.values}."
            )
        if self.whole and any(value != int(value) for value in self.values):
            raise ValueError(f"expected whole numbers, got {self.values}.")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value."""
        low = min(self.values) if self.least is None else self.least
        return low, max(self.values) if self.most is None else self.most


def published_ranges() -> dict[str, Range]:
    """Batch size, learning rate and beta as in the rPU-VAE paper's experiments."""
    strengths = sorted({int(value) for value in 1.5 ** np.linspace(1, 15, 24)[1:]})
    return {
        BATCH_SIZE: Range(values=[2.0**power for power in range(3, 11)], whole=True),
        LEARNING_RATE: Range(values=np.logspace(-5, 0, 30).tolist()),
        "objective.beta": Range(values=list(map(float, strengths)), whole=True),
    }


class PopulationSettings(Section):
    """Sizes and rules of population-based training.

    The defaults are those of the rPU-VAE paper's experiments.

    Attributes:
        size: Members.
        founders: Members of the first generation, of which the best ``size`` go on; as
            many as there are places when not given.
        models: Models of a member, which share its hyperparameters; five for a score
            that compares them, one for a score by labels.
        images: That each model sees per generation; the number of images there are, and
            at least 10,000, when not given.
        generations: After which it ends in any case.
        patience: It also ends when the best score has changed by less than ``change``
            so many generations in a row; never when not given.
        change: Of the best score, below which it is taken for none.
        share: Of members that are replaced, and of those that replace them.
        factors: One of these multiplies each hyperparameter of a copy.
        ranges: Of each hyperparameter, by its path in the settings of a run.

    References:
        Estermann, Marks and Yanik (2020), Robust Disentanglement of a Few Factors at a
        Time using rPU-VAE, sections 2.2 to 4 and supplement E.
    """

    size: Whole = 56
    founders: Whole | None = None
    models: Whole = 1
    images: Whole | None = None
    generations: Whole = 26
    patience: Whole | None = None
    change: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] = 0.005
    share: Annotated[float, pydantic.Field(gt=0, le=0.5)] = 0.2
    factors: Annotated[
        list[Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]],
        pydantic.Field(min_length=1),
    ] = [2.0, 1.2, 0.8, 0.5]
    ranges: dict[str, Range] = pydantic.Field(default_factory=published_ranges)

    @pydantic.field_validator("ranges")
    @classmethod
    def _known(cls, ranges: dict[str, Range]) -> dict[str, Range]:
        for path in ranges:
            if path not in (BATCH_SIZE, LEARNING_RATE) and not (
                path.startswith("objective.") and path.count(".") == 1
            ):
                raise ValueError(
                    f"expected {BATCH_SIZE}, {LEARNING_RATE} or objective.NAME, got "
                    f"{path!r}."
                )
        return ranges

    @pydantic.model_validator(mode="after")
    def _check_founders(self) -> "PopulationSettings":
        if self.founders is not None and self.founders < self.size:
            raise ValueError(
                f"expected as many founders as members ({self.size}) or more, got "
                f"{self.founders}."
            )
        return self

    @property
    def n_trainings(self) -> int:
        """Models times generations, if it takes all generations."""
        n_members = (self.founders or self.size) + (self.generations - 1) * self.size
        return n_members * self.models

    def images_of(self, n_images: int) -> int:
        """Images that a model sees per generation, of so many that there are."""
        return self.images or max(n_images, 10_000)
