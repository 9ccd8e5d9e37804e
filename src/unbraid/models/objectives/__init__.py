"""What a model is taught: one file for every published objective."""

from ._ada_gvae import AdaGVAE
from ._ada_tvae import AdaTVAE
from ._ae import AE
from ._base import AbstractAdversarialObjective, AbstractObjective
from ._beta_vae import BetaVAE
from ._names import OBJECTIVES, choose_objective
from ._vae import VAE

__all__ = [
    "AE",
    "OBJECTIVES",
    "VAE",
    "AbstractAdversarialObjective",
    "AbstractObjective",
    "AdaGVAE",
    "AdaTVAE",
    "BetaVAE",
    "choose_objective",
]
