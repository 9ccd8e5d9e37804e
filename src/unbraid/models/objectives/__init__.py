"""What a model is taught: one file for every published objective."""

from ._ada_ae import AdaAE
from ._ada_gvae import AdaGVAE
from ._ada_ml_vae import AdaMLVAE
from ._ada_tae import AdaTAE
from ._ada_tvae import AdaTVAE
from ._ae import AE
from ._base import AbstractAdversarialObjective, AbstractObjective
from ._beta_vae import BetaVAE
from ._group_vae import GroupVAE
from ._ml_vae import MLVAE
from ._names import OBJECTIVES, choose_objective
from ._semi_supervised import SemiSupervised
from ._semi_supervised_adversarial import SemiSupervisedAdversarial
from ._tae import TAE
from ._tvae import TVAE
from ._vae import VAE

__all__ = [
    "AE",
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
    "BetaVAE",
    "GroupVAE",
    "SemiSupervised",
    "SemiSupervisedAdversarial",
    "choose_objective",
]
