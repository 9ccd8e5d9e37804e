"""How good a representation is: arrays in, scores out."""

from ._inputs import Factors
from ._score import Score
from ._splits import Split
from .supervised._dcimig import dcimig_score
from .supervised._explicitness import explicitness_score
from .supervised._infoe import infoexplicitness
from .supervised._infomec import infocompactness, infomodularity
from .supervised._irs import interventional_robustness_score
from .supervised._jemmig import joint_entropy_minus_mutual_information_gap
from .supervised._mig import mutual_information_gap
from .supervised._mig_sup import mutual_information_gap_by_latent
from .supervised._modularity import modularity_score
from .supervised._sap import separated_attribute_predictability

__all__ = [
    "Factors",
    "Score",
    "Split",
    "dcimig_score",
    "explicitness_score",
    "infocompactness",
    "infoexplicitness",
    "infomodularity",
    "interventional_robustness_score",
    "joint_entropy_minus_mutual_information_gap",
    "modularity_score",
    "mutual_information_gap",
    "mutual_information_gap_by_latent",
    "separated_attribute_predictability",
]
