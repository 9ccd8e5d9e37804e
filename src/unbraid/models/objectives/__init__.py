"""Training objectives. A new one needs a file, and three lines here."""

from ._ada_ae import AdaAE
from ._ada_gvae import AdaGVAE, AdaMLVAE
from ._ada_tvae import AdaTAE, AdaTVAE
from ._ae import AE
from ._annealed_vae import AnnealedVAE
from ._base import AbstractAdversarialObjective, AbstractObjective, LossContext
from ._beta_tc_vae import BetaTCVAE
from ._beta_vae import BetaVAE
from ._catalog import build_catalog
from ._dfc_vae import DFCVAE
from ._dip_vae import DIPVAE
from ._elbo import Evidence, measure_evidence
from ._factor_vae import FactorVAE
from ._group_vae import MLVAE, GroupVAE
from ._info_vae import InfoVAE
from ._monet import MONet
from ._semi_supervised import SemiSupervised, SemiSupervisedAdversarial
from ._tvae import TAE, TVAE
from ._vae import VAE

OBJECTIVES = build_catalog(
    {
        "ae": AE,
        "vae": VAE,
        "beta_vae": BetaVAE,
        "annealed_vae": AnnealedVAE,
        "factor_vae": FactorVAE,
        "beta_tc_vae": BetaTCVAE,
        "dip_vae": DIPVAE,
        "info_vae": InfoVAE,
        "dfc_vae": DFCVAE,
        "monet": MONet,
        "ada_gvae": AdaGVAE,
        "ada_tvae": AdaTVAE,
        "ada_ae": AdaAE,
        "ada_ml_vae": AdaMLVAE,
        "ada_tae": AdaTAE,
        "group_vae": GroupVAE,
        "ml_vae": MLVAE,
        "tae": TAE,
        "tvae": TVAE,
        "semi_supervised": SemiSupervised,
        "semi_supervised_adversarial": SemiSupervisedAdversarial,
    }
)
"""All objectives by name, including those of other packages."""

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
    "MONet",
    "SemiSupervised",
    "SemiSupervisedAdversarial",
    "measure_evidence",
]
