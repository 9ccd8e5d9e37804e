"""What a model is taught: one file for every published objective."""

from ._ae import AE
from ._annealed_vae import AnnealedVAE
from ._base import AbstractAdversarialObjective, AbstractObjective
from ._beta_tc_vae import BetaTCVAE
from ._beta_vae import BetaVAE
from ._dfc_vae import DFCVAE
from ._dip_vae import DIPVAE
from ._factor_vae import FactorVAE
from ._info_vae import InfoVAE
from ._names import OBJECTIVES, choose_objective
from ._vae import VAE

__all__ = [
    "AE",
    "DFCVAE",
    "DIPVAE",
    "OBJECTIVES",
    "VAE",
    "AbstractAdversarialObjective",
    "AbstractObjective",
    "AnnealedVAE",
    "BetaTCVAE",
    "BetaVAE",
    "FactorVAE",
    "InfoVAE",
    "choose_objective",
]
