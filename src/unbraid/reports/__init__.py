"""What to show: numbers first, then figures made of them."""

from ._dynamics import draw_joint_embedding
from ._figures import draw_factor_traversals, draw_latent_traversals
from ._summaries import (
    FactorTraversals,
    LatentTraversals,
    factor_traversals,
    latent_traversals,
)

__all__ = [
    "FactorTraversals",
    "LatentTraversals",
    "draw_factor_traversals",
    "draw_joint_embedding",
    "draw_latent_traversals",
    "factor_traversals",
    "latent_traversals",
]
