"""Published claims, one file each, which can be measured at three sizes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._catalogue import CLAIMS, find_claim
    from ._claim import PRESETS, Claim
    from ._clip_encoders import list_clip_encoders
    from ._encoder_table import (
        EncoderScore,
        EncoderTable,
        FrozenEncoder,
        score_encoders,
    )
    from ._evidence import Evidence
    from ._finding import Check, Measured, above, below
    from ._findings_page import findings_page, write_findings
    from ._intervals import gain_of, mean_of, resampled, spread_ratio
    from ._joint_law import energy_test
    from ._run import Finding, reproduce
    from ._studies import STUDIES, study_of
    from ._tables import rank_correlation

__all__ = [
    "CLAIMS",
    "PRESETS",
    "STUDIES",
    "Check",
    "Claim",
    "EncoderScore",
    "EncoderTable",
    "Evidence",
    "Finding",
    "FrozenEncoder",
    "Measured",
    "above",
    "below",
    "energy_test",
    "find_claim",
    "findings_page",
    "gain_of",
    "list_clip_encoders",
    "mean_of",
    "rank_correlation",
    "reproduce",
    "resampled",
    "score_encoders",
    "spread_ratio",
    "study_of",
    "write_findings",
]

# Names are imported on first use, so that the command line can list its commands
# without importing torch.
_MODULES = {
    "_catalogue": ("CLAIMS", "find_claim"),
    "_claim": ("PRESETS", "Claim"),
    "_clip_encoders": ("list_clip_encoders",),
    "_encoder_table": (
        "EncoderScore",
        "EncoderTable",
        "FrozenEncoder",
        "score_encoders",
    ),
    "_evidence": ("Evidence",),
    "_finding": ("Check", "Measured", "above", "below"),
    "_findings_page": ("findings_page", "write_findings"),
    "_intervals": ("gain_of", "mean_of", "resampled", "spread_ratio"),
    "_joint_law": ("energy_test",),
    "_run": ("Finding", "reproduce"),
    "_studies": ("STUDIES", "study_of"),
    "_tables": ("rank_correlation",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
