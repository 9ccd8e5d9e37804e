"""Names of configurations, for people."""

from pathlib import Path
from typing import Any

from unbraid.foundation import from_plain
from unbraid.models import SCHEDULES, schedule_ends
from unbraid.studies import RunSpec

_STRENGTHS = {
    "beta_vae": "beta",
    "beta_tc_vae": "beta",
    "factor_vae": "gamma",
    "dip_vae": "lambda_off_diagonal",
}
"""Hyperparameter that sets the strength of each objective."""


def name_configuration(spec: RunSpec) -> str:
    """Name the configuration of a run: its objective and how strong it is.

    A strength that changes during the run is named by its first and last value.

    Example:
        >>> spec = RunSpec.read({"data": "xy_squares", "objective": "beta_vae"}, "")
        >>> name_configuration(spec)
        'beta_vae beta=4'
        >>> fall = {"name": "decay", "value": 14.0, "end": 3.5}
        >>> plain = {"name": "beta_tc_vae", "beta": fall}
        >>> spec = RunSpec.read({"data": "xy_squares", "objective": plain}, "")
        >>> name_configuration(spec)
        'beta_tc_vae beta=14 to 3.5'
    """
    plain = spec.to_plain()["objective"]
    if spec.evolution is not None:
        how = "recursively" if spec.evolution.method == "recursive" else "by agreement"
        return f"{plain['name']} bred {how}"
    name = Path(plain["name"]).name  # of an objective in a file of the user
    strength = _STRENGTHS.get(name, "beta")
    if strength not in plain:
        return name
    return f"{name} {strength}={_format_strength(plain[strength])}"


def _format_strength(plain: Any) -> str:
    """Format a number, or the first and last value of a schedule."""
    ends = schedule_ends(from_plain(plain, SCHEDULES))
    return " to ".join(f"{end:g}" for end in ends)
