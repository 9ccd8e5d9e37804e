"""Catalog of metrics by short name."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import Catalog, suggest

from ._inputs import BINS, Factors
from ._score import Score
from .downstream._accuracy import downstream_accuracy, statistical_efficiency
from .downstream._clustering import (
    FEWEST_STEPS,
    MAX_STEPS,
    clustering_sample_efficiency,
)
from .downstream._fairness import unfairness
from .downstream._reduced import reduced_downstream_accuracy
from .downstream._strong import strong_generalization_accuracy
from .supervised._analogies import analogy_accuracy
from .supervised._axis_alignment import axis_alignment_ratio
from .supervised._axis_orientation import axis_orientation_ratio
from .supervised._beta_vae import beta_vae_score
from .supervised._block_diagonality import block_diagonality_score
from .supervised._dci import dci
from .supervised._dci_es import dci_es
from .supervised._dcimig import dcimig_score
from .supervised._distance_correlation import ground_truth_distance_correlation
from .supervised._equivariance import equivariance_score
from .supervised._explicitness import explicitness_score
from .supervised._factor_vae import factor_vae_score
from .supervised._infoe import infoexplicitness
from .supervised._infomec import infocompactness, infomodularity
from .supervised._irs import interventional_robustness_score
from .supervised._jemmig import joint_entropy_minus_mutual_information_gap
from .supervised._linearity import linearity_ratio
from .supervised._mig import mutual_information_gap
from .supervised._mig_sup import mutual_information_gap_by_latent
from .supervised._modularity import modularity_score
from .supervised._sap import separated_attribute_predictability
from .unsupervised._active_units import active_units
from .unsupervised._pairwise_information import pairwise_mutual_information
from .unsupervised._total_correlation import gaussian_total_correlation
from .unsupervised._wasserstein import gaussian_wasserstein_correlation

Rows = Literal["all", "some", "traversals"]


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Attributes:
        function: Function of codes (and :class:`Factors`, if ``uses_factors``), with an
            argument ``seed`` if it is random. Returns a :class:`Score`, or a record of
            several.
        higher_is_better: Direction of the score.
        seconds: Approximate processor time on 15,000 rows, 10 latents and the 5 factors
            of dSprites, from which the time of an evaluation is estimated.
        rows: Rows that it uses: ``"all"``, ``"some"`` that it draws at random, or
            ``"traversals"``, rows that differ in one factor only.
        is_standard: Whether it belongs to the standard suite.
        uses_factors: Whether it needs ground truth.
        per_class: Whether its time grows with the number of classes of the factors.
        bounds: Smallest and largest value that its scores can have. ``"latents"`` is
            the number of latents. Intervals stay within the bounds.
    """

    function: Callable[..., Any]
    seconds: float
    rows: Rows = "all"
    higher_is_better: bool = True
    is_standard: bool = False
    uses_factors: bool = True
    per_class: bool = False
    bounds: tuple[float, float | Literal["latents"]] = (-math.inf, math.inf)

    def range(self, n_latents: int) -> tuple[float, float]:
        """Return the bounds for codes with this number of latents."""
        low, high = self.bounds
        return low, n_latents if high == "latents" else high

    def scores(
        self, codes: NDArray[np.float64], factors: Factors | None, seed: int
    ) -> tuple[Score, ...]:
        """Call the metric, which returns one score or a record of several."""
        given: list[Any] = [codes, factors] if self.uses_factors else [codes]
        options = {"seed": seed} if self.is_random else {}
        result = self.function(*given, **options)
        parts = getattr(result, "__dict__", {}).values()
        if isinstance(result, Score):
            parts = [result]
        scores = tuple(part for part in parts if isinstance(part, Score))
        if not scores:
            raise ValueError(
                f"{self.name} must return a Score or a record of scores, got "
                f"{result!r}."
            )
        return scores

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def is_random(self) -> bool:
        """Whether the metric takes a seed."""
        return "seed" in inspect.signature(self.function).parameters


_SHARE = (0.0, 1.0)
_UP = (0.0, math.inf)

_BUILT_IN: dict[str, Metric] = {
    "beta_vae_score": Metric(
        beta_vae_score, 0.3, "some", is_standard=True, bounds=_SHARE
    ),
    "factor_vae_score": Metric(
        factor_vae_score, 0.15, "some", is_standard=True, bounds=_SHARE
    ),
    "mig": Metric(mutual_information_gap, 0.02, is_standard=True, bounds=_SHARE),
    "dci": Metric(dci, 14.0, "some", is_standard=True, per_class=True, bounds=_SHARE),
    "sap": Metric(
        separated_attribute_predictability,
        0.2,
        "some",
        is_standard=True,
        bounds=_SHARE,
    ),
    "modularity": Metric(modularity_score, 0.02, is_standard=True, bounds=_SHARE),
    "explicitness": Metric(
        explicitness_score,
        0.9,
        "some",
        is_standard=True,
        per_class=True,
        bounds=_SHARE,
    ),
    "irs": Metric(
        interventional_robustness_score, 0.05, is_standard=True, bounds=(-1.0, 1.0)
    ),
    "mig_sup": Metric(mutual_information_gap_by_latent, 0.02, bounds=_SHARE),
    "jemmig": Metric(joint_entropy_minus_mutual_information_gap, 0.02, bounds=_SHARE),
    "dcimig": Metric(dcimig_score, 0.02, bounds=_SHARE),
    "infom": Metric(infomodularity, 0.5, "some", bounds=_SHARE),
    "infoc": Metric(infocompactness, 0.5, "some", bounds=_SHARE),
    "infoe": Metric(infoexplicitness, 2.0, "some", bounds=_SHARE),
    "dci_es": Metric(dci_es, 3.0, "some", bounds=(-1.0, 1.0)),
    "distance_correlation": Metric(
        ground_truth_distance_correlation, 0.3, "traversals", bounds=_SHARE
    ),
    "linearity": Metric(linearity_ratio, 0.1, "traversals", bounds=_SHARE),
    "axis_orientation": Metric(
        axis_orientation_ratio, 0.1, "traversals", bounds=_SHARE
    ),
    "axis_alignment": Metric(axis_alignment_ratio, 0.1, "traversals", bounds=_SHARE),
    "equivariance": Metric(equivariance_score, 0.5, "traversals", bounds=_SHARE),
    "block_diagonality": Metric(
        block_diagonality_score, 0.5, "traversals", bounds=_SHARE
    ),
    "analogies": Metric(analogy_accuracy, 2.0, "some", bounds=_SHARE),
    "downstream": Metric(
        downstream_accuracy, 15.0, "some", per_class=True, bounds=_SHARE
    ),
    "efficiency": Metric(
        statistical_efficiency, 15.0, "some", per_class=True, bounds=_UP
    ),
    "reduced_downstream": Metric(
        reduced_downstream_accuracy,
        30.0,
        "some",
        higher_is_better=False,
        per_class=True,
        bounds=_SHARE,
    ),
    "strong_downstream": Metric(
        strong_generalization_accuracy,
        60.0,
        "some",
        per_class=True,
        bounds=_SHARE,
    ),
    "unfairness": Metric(
        unfairness,
        15.0,
        "some",
        higher_is_better=False,
        per_class=True,
        bounds=_SHARE,
    ),
    "clustering": Metric(
        clustering_sample_efficiency,
        10.0,
        "some",
        higher_is_better=False,
        bounds=(FEWEST_STEPS, MAX_STEPS),
    ),
    "gaussian_total_correlation": Metric(
        gaussian_total_correlation,
        0.01,
        higher_is_better=False,
        uses_factors=False,
        bounds=_UP,
    ),
    "gaussian_wasserstein": Metric(
        gaussian_wasserstein_correlation,
        0.01,
        higher_is_better=False,
        uses_factors=False,
        bounds=_UP,
    ),
    "pairwise_information": Metric(
        pairwise_mutual_information,
        0.05,
        higher_is_better=False,
        uses_factors=False,
        bounds=(0.0, math.log(BINS)),
    ),
    "active_units": Metric(
        active_units, 0.01, uses_factors=False, bounds=(0.0, "latents")
    ),
}


def _read_metric(offered: Any) -> Metric:
    if not isinstance(offered, Metric):
        raise ValueError(f"{offered!r} is not a Metric")
    if offered.is_standard:
        raise ValueError(
            "is_standard must be False, because the standard suite is fixed"
        )
    return offered


METRICS: Catalog[Metric] = Catalog(
    _BUILT_IN, group="unbraid.metrics", read=_read_metric, taken=("standard", "all")
)
"""Metrics of codes and factors by name, in the order of a scorecard."""


def choose_metrics(wanted: str | Sequence[str], *, have_factors: bool) -> list[str]:
    """Return the names of metrics from ``"standard"``, ``"all"``, or names.

    Args:
        wanted: ``"standard"``, ``"all"``, a name, names separated by commas, or a list
            of names.
        have_factors: Whether there are factors. Without them, ``"standard"`` and
            ``"all"`` are the metrics that need none.
    """
    if wanted in ("standard", "all"):
        return [
            name
            for name, metric in METRICS.items()
            if (metric.uses_factors and have_factors and metric.is_standard)
            or (wanted == "all" and (have_factors or not metric.uses_factors))
            or (not have_factors and not metric.uses_factors)
        ]
    names = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    # Each once, in the requested order.
    names = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    for name in names:
        if name not in METRICS:
            raise ValueError(
                f"evaluate: there is no metric {name!r}.{suggest(name, METRICS)} "
                f"Metrics are 'standard', 'all', {', '.join(METRICS)}."
            )
        if METRICS[name].uses_factors and not have_factors:
            raise ValueError(
                f"evaluate: the metric {name!r} needs factors, but there are none."
            )
    if not names:
        raise ValueError("evaluate: metrics must name at least one metric.")
    return names
