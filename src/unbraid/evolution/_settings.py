"""Runs that are populations: what a study file says of them."""

from collections.abc import Mapping
from typing import Any, Literal

import pydantic

from unbraid.foundation import Section, Whole
from unbraid.metrics import choose_metrics
from unbraid.training import RunSettings

from ._image_reduction import RecursionSettings
from ._population_settings import PopulationSettings

Method = Literal["supervised", "unsupervised", "recursive"]

# What differs from the defaults of a population, by how it is scored.
_AGREEING = {"models": 5, "patience": 6}
_LABELLED = {"size": 28, "founders": 56}
_FINAL = {"size": 28, "founders": 56, "generations": 15}


STAGES_OF_A_LEAF = 2
"""Of a leaf run, for estimates: it is known only afterwards."""

_ROWS_COMPARED, _ROWS_LABELLED = 1_000, 10_000


class Evolution(Section):
    """A population in place of a single run.

    Attributes:
        method: How members are scored: ``supervised`` by a metric on labels (PBT-S-VAE
            of the paper), ``unsupervised`` by the agreement of a member's models
            (PBT-U-VAE), or ``recursive`` (rPU-VAE).
        metric: Of ``supervised``, and of the last population of ``recursive``.
        labels: Images of which the labels are known; all when not given.
        rows: Images on which members are scored, at the most.
        population: Sizes and rules; what is left out is as in the paper.
        final: Of the last population of ``recursive``, likewise.
        recursion: Of ``recursive``: when paths end.

    Example:
        >>> from unbraid.foundation import Section
        >>> wanted = {"method": "unsupervised", "population": {"size": 8}}
        >>> population = Evolution.read(wanted, "example").population
        >>> population.size, population.models, population.patience
        (8, 5, 6)
    """

    method: Method
    metric: str = "mig"
    labels: Whole | None = None
    rows: Whole = _ROWS_LABELLED
    population: PopulationSettings
    final: PopulationSettings
    recursion: RecursionSettings = RecursionSettings()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _filled(cls, data: Any) -> Any:
        """With what the method takes for granted."""
        if not isinstance(data, Mapping):
            return data
        is_labelled = data.get("method") == "supervised"
        filled = {"rows": _ROWS_LABELLED if is_labelled else _ROWS_COMPARED, **data}
        population = data.get("population", {})
        usual = _LABELLED if is_labelled else _AGREEING
        filled["population"] = _over(usual, population)
        # Hyperparameters are the same in all populations, unless it is said otherwise.
        if isinstance(population, Mapping) and "ranges" in population:
            usual = {**_FINAL, "ranges": population["ranges"]}
        else:
            usual = _FINAL
        filled["final"] = _over(usual, data.get("final", {}))
        return filled

    @pydantic.model_validator(mode="after")
    def _check(self) -> "Evolution":
        choose_metrics([self.metric], have_factors=True)
        if self.method != "supervised" and self.population.models < 2:
            raise ValueError(
                f"expected two models of a member or more to compare, got "
                f"{self.population.models}."
            )
        if self.labels is not None and self.method != "supervised":
            raise ValueError(
                f"expected labels for the method 'supervised' only, got them for "
                f"{self.method!r}."
            )
        return self

    def expected_images(self, n_rows: int) -> int:
        """Images that all models see together, for an estimate of the time.

        Args:
            n_rows: Images that there are.
        """
        one = _n_images(self.population, n_rows)
        if self.method != "recursive":
            return one
        n_stages = 1 + STAGES_OF_A_LEAF * self.recursion.leaf_runs
        return n_stages * one + _n_images(self.final, n_rows)


class EvolvingSettings(RunSettings):
    """Settings of a run that may be a population.

    Attributes:
        evolution: Population to train instead of a single model, if any.
    """

    evolution: Evolution | None = None


def _n_images(settings: PopulationSettings, n_rows: int) -> int:
    return settings.n_trainings * settings.images_of(n_rows)


def _over(usual: Mapping[str, Any], given: Any) -> Any:
    """Settings over the usual ones; anything else is left for the check to refuse."""
    if not isinstance(given, Mapping):
        return given
    # The usual founders belong to the usual size.
    parts = {k: v for k, v in usual.items() if k != "founders" or "size" not in given}
    return {**parts, **given}
