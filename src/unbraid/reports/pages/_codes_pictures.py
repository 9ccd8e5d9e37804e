"""Figures of the codes of a model: factors and latents, and pairs of latents."""

import pandas as pd

from unbraid.metrics import kl_per_latent
from unbraid.reports.figures._factors import (
    draw_factor_latent_matrices,
    factor_latent_matrices,
)
from unbraid.reports.figures._scatter import draw_latent_scatter, latent_scatter
from unbraid.representation import Representation
from unbraid.training import ACTIVE

from ._embed import picture
from ._page import Picture


def matrices_picture(codes: Representation) -> Picture | None:
    """Return the matrices of active latents and factors; ``None`` without factors."""
    if codes.factors is None or codes.codes.shape[1] < 2:
        return None
    found = factor_latent_matrices(codes).only(_find_active(codes))
    tables = {"mutual_information": found.information, "importance": found.importance}
    return picture(
        "Which latent encodes which factor",
        draw_factor_latent_matrices(found),
        caption="A disentangled model has one dark cell in every column, and at most "
        "one in every row.",
        data=pd.concat(
            pd.DataFrame(values, columns=list(found.factors)).assign(
                latent=found.latents, table=name
            )
            for name, values in tables.items()
        ),
        file="factors-and-latents",
    )


def scatter_picture(codes: Representation) -> Picture:
    """Return scatter plots of pairs of latents."""
    found = latent_scatter(codes)
    color = ""
    if found.values is not None:
        color = f" The color is the factor {found.factor}."
    data = pd.DataFrame(found.codes, columns=[f"z{k}" for k in found.latents])
    return picture(
        "Pairs of latents",
        draw_latent_scatter(found),
        caption="Codes of the latents with the largest variance. Shapes other than "
        f"clouds or grids mean that two latents depend on each other.{color}",
        data=data.round(4),
        file="codes",
    )


def _find_active(codes: Representation) -> list[int]:
    """Return the latents that are shown as rows: the active ones, or all if none is."""
    n_latents = codes.codes.shape[1]
    if codes.log_variances is None:
        return list(range(n_latents))
    nats = kl_per_latent(codes.codes, codes.log_variances).details
    active = [k for k in range(n_latents) if nats[f"latent_{k}"] > ACTIVE]
    return active or list(range(n_latents))
