"""Published claims as something to ask: a file per claim, measured at three sizes."""

from ._catalogue import REPRODUCTIONS
from ._evidence import Evidence
from ._finding import Check, Measured
from ._findings_page import findings_page, write_findings
from ._intervals import gain_of, mean_of, resampled, spread_ratio
from ._reproduction import PRESETS, Reproduction
from ._run import Finding, find_reproduction, reproduce
from ._studies import STUDIES, study_of

__all__ = [
    "find_reproduction",
    "PRESETS",
    "REPRODUCTIONS",
    "STUDIES",
    "Check",
    "Evidence",
    "Finding",
    "Measured",
    "Reproduction",
    "findings_page",
    "gain_of",
    "mean_of",
    "reproduce",
    "resampled",
    "spread_ratio",
    "study_of",
    "write_findings",
]
