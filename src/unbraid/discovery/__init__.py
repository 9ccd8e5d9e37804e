"""Images in, a chosen model and its report out."""

from ._discover import discover
from ._found import Discovery, Latent, Quality

__all__ = ["Discovery", "Latent", "Quality", "discover"]
