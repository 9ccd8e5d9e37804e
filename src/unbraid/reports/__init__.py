"""What to show: numbers first, then figures made of them."""

from ._figures import draw_factor_traversals
from ._summaries import FactorTraversals, factor_traversals

__all__ = ["FactorTraversals", "draw_factor_traversals", "factor_traversals"]
