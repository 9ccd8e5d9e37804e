"""What to show: numbers first, then figures made of them."""

from ._dynamics import draw_joint_embedding
from ._explorer import write_explorer
from ._figures import draw_factor_traversals, draw_latent_traversals
from ._latent_matching import Match, match_latents
from ._latent_names import read_latent_names
from ._summaries import (
    FactorTraversals,
    LatentTraversals,
    factor_traversals,
    latent_traversals,
)

__all__ = [
    "FactorTraversals",
    "LatentTraversals",
    "Match",
    "draw_factor_traversals",
    "draw_joint_embedding",
    "draw_latent_traversals",
    "factor_traversals",
    "latent_traversals",
    "match_latents",
    "read_latent_names",
    "write_explorer",
]
