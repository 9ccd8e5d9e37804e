"""unbraid learns, measures and chooses disentangled representations."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str

    from unbraid.discovery import Discovery, discover
    from unbraid.estimators import Disentangler
    from unbraid.metrics import Comparison, Factors, Score, Scorecard, compare, evaluate
    from unbraid.representation import Representation, encode
    from unbraid.training import Run, fit, load

__all__ = [
    "Comparison",
    "Discovery",
    "Disentangler",
    "Factors",
    "Representation",
    "Run",
    "Score",
    "Scorecard",
    "__version__",
    "compare",
    "discover",
    "encode",
    "evaluate",
    "fit",
    "load",
]

# Names are fetched when they are first used: torch and scikit-learn take seconds to
# import, which `unbraid --help` and `import unbraid.data` need not wait for.
_HOMES = {
    "Comparison": "unbraid.metrics",
    "Discovery": "unbraid.discovery",
    "Disentangler": "unbraid.estimators",
    "Factors": "unbraid.metrics",
    "Representation": "unbraid.representation",
    "Run": "unbraid.training",
    "Score": "unbraid.metrics",
    "Scorecard": "unbraid.metrics",
    "compare": "unbraid.metrics",
    "discover": "unbraid.discovery",
    "encode": "unbraid.representation",
    "evaluate": "unbraid.metrics",
    "fit": "unbraid.training",
    "load": "unbraid.training",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Also fetched when it is used: the command line starts in half the time.
        from importlib.metadata import version

        return version("unbraid")
    if name not in _HOMES:
        raise AttributeError(f"module 'unbraid' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
