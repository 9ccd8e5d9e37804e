"""What a model is taught: one file for every published objective."""

from ._ada_ae import AdaAE
from ._ada_gvae import AdaGVAE, AdaMLVAE
from ._ada_tvae import AdaTAE, AdaTVAE
from ._ae import AE
from ._annealed_vae import AnnealedVAE
from ._base import AbstractAdversarialObjective, AbstractObjective, LossContext
from ._beta_tc_vae import BetaTCVAE
from ._beta_vae import BetaVAE
from ._dfc_vae import DFCVAE
from ._dip_vae import DIPVAE
from ._elbo import Evidence, measure_evidence
from ._factor_vae import FactorVAE
from ._group_vae import MLVAE, GroupVAE
from ._info_vae import InfoVAE
from ._names import OBJECTIVES, choose_objective
from ._semi_supervised import SemiSupervised, SemiSupervisedAdversarial
from ._tvae import TAE, TVAE
from ._vae import VAE

__all__ = [
    "AE",
    "DFCVAE",
    "DIPVAE",
    "MLVAE",
    "OBJECTIVES",
    "TAE",
    "TVAE",
    "VAE",
    "AbstractAdversarialObjective",
    "AbstractObjective",
    "AdaAE",
    "AdaGVAE",
    "AdaMLVAE",
    "AdaTAE",
    "AdaTVAE",
    "AnnealedVAE",
    "BetaTCVAE",
    "BetaVAE",
    "Evidence",
    "FactorVAE",
    "GroupVAE",
    "InfoVAE",
    "LossContext",
    "SemiSupervised",
    "SemiSupervisedAdversarial",
    "choose_objective",
    "measure_evidence",
]
