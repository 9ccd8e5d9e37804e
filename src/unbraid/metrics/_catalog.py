"""Catalog of metrics by short name."""

import inspect
import math
from dataclasses import replace
from typing import Any

from unbraid.foundation import Catalog, find_own_name

from ._inputs import BINS
from ._metric import Metric
from ._own_functions import FUNCTION_SECONDS, OwnFunction, takes_factors
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
from .supervised._latent_data_correlation import latent_data_correlation
from .supervised._linearity import linearity_ratio
from .supervised._mig import mutual_information_gap
from .supervised._mig_sup import mutual_information_gap_by_latent
from .supervised._modularity import modularity_score
from .supervised._sap import separated_attribute_predictability
from .unsupervised._active_units import active_units
from .unsupervised._pairwise_information import pairwise_mutual_information
from .unsupervised._total_correlation import gaussian_total_correlation
from .unsupervised._wasserstein import gaussian_wasserstein_correlation

_SHARE = (0.0, 1.0)
_UP = (0.0, math.inf)
_OF_POSTERIORS = {
    "posterior=exact": {"inputs": ("log_variances",)},
    "posterior=sampled": {"inputs": ("log_variances",)},
}

_BUILT_IN: dict[str, Metric] = {
    "beta_vae_score": Metric(
        beta_vae_score, 0.3, "some", is_standard=True, bounds=_SHARE
    ),
    "factor_vae_score": Metric(
        factor_vae_score, 0.15, "some", is_standard=True, bounds=_SHARE
    ),
    "mig": Metric(
        mutual_information_gap,
        0.02,
        is_standard=True,
        bounds=_SHARE,
        changes={
            "estimator=posterior": {
                "seconds": 5.0,
                "rows": "some",
                "inputs": ("log_variances",),
            }
        },
    ),
    "dci": Metric(
        dci,
        14.0,
        "some",
        is_standard=True,
        per_class=True,
        bounds=_SHARE,
        changes={
            "variant=dlib": {"seconds": 500.0},
            "variant=logistic": {"seconds": 3.0},
        },
    ),
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
        ground_truth_distance_correlation,
        0.3,
        "traversals",
        bounds=_SHARE,
        changes={"along=random": {"rows": "some", "bounds": (-1.0, 1.0)}},
    ),
    "latent_data_correlation": Metric(
        latent_data_correlation,
        5.0,
        "traversals",
        bounds=_SHARE,
        inputs=("distance",),
        changes={"along=random": {"rows": "some", "bounds": (-1.0, 1.0)}},
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
        downstream_accuracy,
        15.0,
        "some",
        per_class=True,
        bounds=_SHARE,
        changes={"predictor=logistic": {"seconds": 6.0}},
    ),
    "efficiency": Metric(
        statistical_efficiency,
        15.0,
        "some",
        per_class=True,
        bounds=_UP,
        changes={"predictor=logistic": {"seconds": 6.0}},
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
        changes=_OF_POSTERIORS,
    ),
    "gaussian_wasserstein": Metric(
        gaussian_wasserstein_correlation,
        0.01,
        higher_is_better=False,
        uses_factors=False,
        bounds=_UP,
        changes=_OF_POSTERIORS,
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
    if inspect.isfunction(offered):
        offered = Metric(
            OwnFunction(offered), FUNCTION_SECONDS, uses_factors=takes_factors(offered)
        )
    if not isinstance(offered, Metric):
        raise ValueError(f"{offered!r} is not a function or a Metric")
    if find_own_name(offered.function):
        offered = replace(offered, function=OwnFunction(offered.function))
    if offered.name in _BUILT_IN:
        raise ValueError(f"{offered.name!r} is the name of a known metric")
    if offered.is_standard:
        raise ValueError(
            "is_standard must be False, because the standard suite is fixed"
        )
    return offered


METRICS: Catalog[Metric] = Catalog(
    _BUILT_IN, group="unbraid.metrics", read=_read_metric, taken=("standard", "all")
)
"""Metrics of codes and factors by name, in the order of a scorecard."""
