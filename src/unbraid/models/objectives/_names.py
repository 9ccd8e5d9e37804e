"""Objectives by name: for settings in files and the command line."""

from collections.abc import Mapping
from typing import Any

from unbraid.foundation import Catalog, class_reader, make_record
from unbraid.models._likelihood_names import LIKELIHOODS
from unbraid.models._schedules import SCHEDULES
from unbraid.models.networks import NETWORKS

from ._ada_ae import AdaAE
from ._ada_gvae import AdaGVAE, AdaMLVAE
from ._ada_tvae import AdaTAE, AdaTVAE
from ._ae import AE
from ._annealed_vae import AnnealedVAE
from ._base import AbstractObjective
from ._beta_tc_vae import BetaTCVAE
from ._beta_vae import BetaVAE
from ._dfc_vae import DFCVAE
from ._dip_vae import DIPVAE
from ._factor_vae import FactorVAE
from ._group_vae import MLVAE, GroupVAE
from ._info_vae import InfoVAE
from ._semi_supervised import SemiSupervised, SemiSupervisedAdversarial
from ._tvae import TAE, TVAE
from ._vae import VAE

_BUILT_IN: dict[str, type[AbstractObjective]] = {
    "ae": AE,
    "vae": VAE,
    "beta_vae": BetaVAE,
    "annealed_vae": AnnealedVAE,
    "factor_vae": FactorVAE,
    "beta_tc_vae": BetaTCVAE,
    "dip_vae": DIPVAE,
    "info_vae": InfoVAE,
    "dfc_vae": DFCVAE,
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

_WORDS = ("auto", "change", "own", "run")
"""Names that stand for something else where settings are written."""

OBJECTIVES: Catalog[type[AbstractObjective]] = Catalog(
    _BUILT_IN,
    group="unbraid.objectives",
    read=class_reader(AbstractObjective),
    taken={*NETWORKS, *LIKELIHOODS, *SCHEDULES, *_WORDS},
)
"""Every objective by name, with those of other packages."""


def choose_objective(
    wanted: AbstractObjective | str, options: Mapping[str, Any] | None = None
) -> AbstractObjective:
    """An objective from a name and its options.

    Example:
        >>> choose_objective("beta_vae", {"beta": 6.0})
        BetaVAE(scale='sum', beta=6.0)
    """
    if isinstance(wanted, AbstractObjective):
        return wanted
    return make_record(wanted, options or {}, OBJECTIVES)
