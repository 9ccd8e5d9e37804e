"""Every metric by its short name: what ``evaluate`` and the command line know."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .downstream._accuracy import downstream_accuracy, statistical_efficiency
from .downstream._clustering import clustering_sample_efficiency
from .downstream._fairness import unfairness
from .downstream._reduced import reduced_downstream_accuracy
from .downstream._strong import strong_generalisation_accuracy
from .supervised._axis_alignment import axis_alignment_ratio
from .supervised._axis_orientation import axis_orientation_ratio
from .supervised._beta_vae import beta_vae_score
from .supervised._dci import dci
from .supervised._dci_es import dci_es
from .supervised._dcimig import dcimig_score
from .supervised._distance_correlation import ground_truth_distance_correlation
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

Direction = Literal["up", "down"]


@dataclass(frozen=True)
class Metric:
    """A metric, and what must be known to call it.

    Attributes:
        function: Takes codes (and factors, if ``uses_factors``).
        direction: Whether higher (``"up"``) or lower is better.
        seconds: About how long it takes on 15,000 rows, 10 latents and 5 factors.
        is_standard: Whether it belongs to the standard suite.
        uses_factors: Whether it needs ground truth.
    """

    function: Callable[..., Any]
    direction: Direction
    seconds: float
    is_standard: bool = False
    uses_factors: bool = True


METRICS: dict[str, Metric] = {}
