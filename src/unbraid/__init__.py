"""unbraid learns, measures and chooses disentangled representations."""

from importlib.metadata import version

__version__ = version("unbraid")

__all__ = ["__version__"]
