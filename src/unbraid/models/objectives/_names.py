"""Objectives by name: for settings in files and the command line."""

from collections.abc import Mapping
from typing import Any

from unbraid.models._settings import make_record

from ._ae import AE
from ._annealed_vae import AnnealedVAE
from ._base import AbstractObjective
from ._beta_tc_vae import BetaTCVAE
from ._beta_vae import BetaVAE
from ._dfc_vae import DFCVAE
from ._dip_vae import DIPVAE
from ._factor_vae import FactorVAE
from ._info_vae import InfoVAE
from ._vae import VAE

OBJECTIVES: dict[str, type[AbstractObjective]] = {
    "ae": AE,
    "vae": VAE,
    "beta_vae": BetaVAE,
    "annealed_vae": AnnealedVAE,
    "factor_vae": FactorVAE,
    "beta_tc_vae": BetaTCVAE,
    "dip_vae": DIPVAE,
    "info_vae": InfoVAE,
    "dfc_vae": DFCVAE,
}


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
