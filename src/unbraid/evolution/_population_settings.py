"""Settings of a population: sizes, hyperparameter ranges, and how they change."""

from typing import Annotated

import numpy as np
import pydantic

from unbraid.foundation import Section, Whole

BATCH_SIZE, LEARNING_RATE = "training.batch_size", "training.learning_rate"
"""Hyperparameters of every objective, as paths in the settings of a run."""


class Range(Section):
    """Initial values and bounds of a hyperparameter.

    Attributes:
        values: Values from which one is drawn for every member of the first
            generation. All must be positive.
        least: Lower bound. Default: the smallest of the values.
        most: Upper bound. Default: the largest of the values.
        whole: Whether to round up to an integer after every change.
    """

    values: Annotated[list[float], pydantic.Field(min_length=1)]
    least: float | None = None
    most: float | None = None
    whole: bool = False

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Range":
        if not np.isfinite(self.values).all() or min(self.values) <= 0:
            raise ValueError(f"values must be positive, got {self.values}.")
        low, high = self.bounds
        if not low <= min(self.values) <= max(self.values) <= high:
            raise ValueError(
                f"values must be between {low:g} and {high:g}, got {self.values}."
            )
        if self.whole and any(value != int(value) for value in self.values):
            raise ValueError(f"values must be integers, got {self.values}.")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound."""
        low = min(self.values) if self.least is None else self.least
        return low, max(self.values) if self.most is None else self.most


def published_ranges() -> dict[str, Range]:
    """Return the ranges of the rPU-VAE paper for batch size, learning rate and beta."""
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
        size: Number of members.
        founders: Number of members of the first generation, of which the best ``size``
            continue. Default: ``size``.
        models: Number of models per member, which share its hyperparameters. Use five
            for a score that compares them and one for a score on labels.
        images: Number of images that each model sees per generation. Default: the
            number of images in the dataset, but at least 10,000.
        generations: Maximum number of generations.
        patience: Number of generations in a row without a change of the best score
            after which training ends early. Default: never end early.
        change: Smallest difference of the best score that counts as a change.
        share: Fraction of members that are replaced, and of members that are copied.
        factors: Factors from which one is drawn to multiply each hyperparameter of a
            copy.
        ranges: Range of each hyperparameter, by its path in the settings of a run.

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
    def _check_paths(cls, ranges: dict[str, Range]) -> dict[str, Range]:
        for path in ranges:
            if path not in (BATCH_SIZE, LEARNING_RATE) and not (
                path.startswith("objective.") and path.count(".") == 1
            ):
                raise ValueError(
                    f"keys must be {BATCH_SIZE}, {LEARNING_RATE} or objective.NAME, "
                    f"got {path!r}."
                )
        return ranges

    @pydantic.model_validator(mode="after")
    def _check_founders(self) -> "PopulationSettings":
        if self.founders is not None and self.founders < self.size:
            raise ValueError(
                f"founders must be at least the size ({self.size}), got "
                f"{self.founders}."
            )
        return self

    @property
    def n_trainings(self) -> int:
        """Number of times that a model is trained for a generation, at most."""
        n_members = (self.founders or self.size) + (self.generations - 1) * self.size
        return n_members * self.models

    def images_per_generation(self, n_images: int) -> int:
        """Return how many images a model sees per generation.

        Args:
            n_images: Number of images in the dataset.
        """
        return self.images or max(n_images, 10_000)
