"""How good a representation is: arrays in, scores out."""

from ._inputs import Factors
from ._score import Score
from ._splits import Split
from .supervised._beta_vae import beta_vae_score
from .supervised._dci import (
    DCI,
    completeness_score,
    dci,
    disentanglement_score,
    informativeness_score,
)
from .supervised._dci_es import DCIES, dci_es
from .supervised._factor_vae import factor_vae_score
from .supervised._mig import mutual_information_gap

__all__ = [
    "DCI",
    "DCIES",
    "Factors",
    "Score",
    "Split",
    "beta_vae_score",
    "completeness_score",
    "dci",
    "dci_es",
    "disentanglement_score",
    "factor_vae_score",
    "informativeness_score",
    "mutual_information_gap",
]
