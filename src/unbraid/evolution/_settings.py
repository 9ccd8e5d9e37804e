"""Settings of runs that are populations, as written in study files."""

from collections.abc import Mapping
from typing import Any, Literal

import pydantic

from unbraid.foundation import Section, Whole
from unbraid.metrics import choose_metrics
from unbraid.training import RunSettings

from ._image_reduction import RecursionSettings
from ._population_settings import PopulationSettings

Method = Literal["supervised", "unsupervised", "recursive"]

# Defaults that depend on how a population is scored.
_AGREEING = {"models": 5, "patience": 6}
_LABELED = {"size": 28, "founders": 56}
_FINAL = {"size": 28, "founders": 56, "generations": 15}


STAGES_OF_A_LEAF = 2
"""Assumed number of stages per leaf run, for time estimates."""

_ROWS_COMPARED, _ROWS_LABELED = 1_000, 10_000


class Evolution(Section):
    """Settings of a population that is trained instead of a single model.

    Attributes:
        method: Method that scores members: ``supervised`` uses a metric on labels
            (PBT-S-VAE in the paper), ``unsupervised`` the agreement between the models
            of a member (PBT-U-VAE), and ``recursive`` is rPU-VAE.
        metric: Metric that scores members if the method is ``supervised``, or the
            members of the last population if it is ``recursive``.
        labels: Number of images with known labels, for ``supervised`` only. Default:
            all images.
        rows: Maximum number of images on which members are scored.
        population: Sizes and rules of the population. Default: those of the paper.
        final: Sizes and rules of the last population of ``recursive``. Default: those
            of the paper.
        recursion: Stopping rules of ``recursive``.

    Example:
        >>> from unbraid.foundation import Section
        >>> settings = {"method": "unsupervised", "population": {"size": 8}}
        >>> population = Evolution.read(settings, "example").population
        >>> population.size, population.models, population.patience
        (8, 5, 6)
    """

    method: Method
    metric: str = "mig"
    labels: Whole | None = None
    rows: Whole = _ROWS_LABELED
    population: PopulationSettings
    final: PopulationSettings
    recursion: RecursionSettings = RecursionSettings()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _fill_defaults(cls, data: Any) -> Any:
        """Add the defaults of the method."""
        if not isinstance(data, Mapping):
            return data
        is_labeled = data.get("method") == "supervised"
        filled = {"rows": _ROWS_LABELED if is_labeled else _ROWS_COMPARED, **data}
        population = data.get("population", {})
        defaults = _LABELED if is_labeled else _AGREEING
        filled["population"] = _merge(defaults, population)
        # By default, all populations have the same hyperparameters.
        if isinstance(population, Mapping) and "ranges" in population:
            defaults = {**_FINAL, "ranges": population["ranges"]}
        else:
            defaults = _FINAL
        filled["final"] = _merge(defaults, data.get("final", {}))
        return filled

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Evolution":
        choose_metrics([self.metric], have_factors=True)
        if self.method != "supervised" and self.population.models < 2:
            raise ValueError(
                f"the method {self.method!r} compares the models of a member, so it "
                f"needs at least two models, got {self.population.models}."
            )
        if self.labels is not None and self.method != "supervised":
            raise ValueError(
                "labels can be set for the method 'supervised' only, not for "
                f"{self.method!r}."
            )
        return self

    def expected_images(self, n_rows: int) -> int:
        """Return how many images all models together will see, for time estimates.

        Args:
            n_rows: Number of images in the dataset.
        """
        one = _n_images(self.population, n_rows)
        if self.method != "recursive":
            return one
        n_stages = 1 + STAGES_OF_A_LEAF * self.recursion.leaf_runs
        return n_stages * one + _n_images(self.final, n_rows)


class EvolvingSettings(RunSettings):
    """Settings of a run that trains a model or a population.

    Attributes:
        evolution: Population to train instead of a single model; None for a model.
    """

    evolution: Evolution | None = None


def _n_images(settings: PopulationSettings, n_rows: int) -> int:
    return settings.n_trainings * settings.images_per_generation(n_rows)


def _merge(defaults: Mapping[str, Any], given: Any) -> Any:
    """Add defaults to settings; other types are returned for pydantic to refuse."""
    if not isinstance(given, Mapping):
        return given
    # The default number of founders goes with the default size only.
    skipped = {"founders"} if "size" in given else set()
    return {**{k: v for k, v in defaults.items() if k not in skipped}, **given}
